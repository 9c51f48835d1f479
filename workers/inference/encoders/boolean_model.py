"""Yes or no, from an encoder-decoder model that was trained to answer so: what UniEval's
checkpoints are.

The answer is read from the decoder's first step alone, so one pass through the model answers a
question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from workers.inference import resources
from workers.inference.encoders.headed_model import Head, HeadedModel
from workers.inference.model_files import ModelError, ModelFiles, model_files

if TYPE_CHECKING:
    import torch

HEAD = Head("AutoModelForSeq2SeqLM", "an encoder-decoder model such as T5")
LONGEST = 1024
"""As UniEval's released code sets it; T5 itself has no limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    yes: float
    """p(Yes) / (p(Yes) + p(No)), in [0, 1]."""
    cut: bool
    """Whether the question's end was cut because the model takes no more tokens."""


class BooleanModel:
    """Raises ``ModelError``, see ``HeadedModel``; and where Yes and No begin with the same
    token."""

    def __init__(self, files: ModelFiles, device: str = resources.AUTO) -> None:
        self._headed = HeadedModel(files, HEAD, device)
        self.files = files
        self.device_label = self._headed.device_label
        self.dtype_name = self._headed.dtype_name
        self.unknown_id = self._headed.tokens.unknown_id
        self.max_tokens = self._positions()
        self._yes, self._no = self._first_token("Yes"), self._first_token("No")
        if self._yes == self._no:
            raise ModelError(f"the model {files.name} writes Yes and No with the same first token")
        start = self._headed.model.config.decoder_start_token_id
        if start is None:
            raise ModelError(f"the model {files.name} does not say what its decoder starts with")
        self._start = int(start)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self._headed.tokens.read_ids(texts)

    def answers(
        self, questions: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> list[Answer]:
        """One each, in order; what is not a number stays so. ``progress`` counts questions."""
        inputs = self._headed.tokens.inputs(questions, self.max_tokens)

        def of_batch(batch: list[int]) -> torch.Tensor:
            import torch

            tensors = self._headed.tensors([inputs[index] for index in batch])
            start = torch.full(
                (len(batch), 1), self._start, dtype=torch.long, device=self._headed.device
            )
            words = self._headed.model(**tensors, decoder_input_ids=start).logits[:, 0]
            # A ratio of two probabilities is the logistic function of the difference of their
            # logits.
            return torch.sigmoid((words[:, self._yes] - words[:, self._no]).cpu().double())

        values = self._headed.values(inputs, of_batch, progress)
        return [Answer(float(value), one.cut) for value, one in zip(values, inputs, strict=True)]

    def _first_token(self, word: str) -> int:
        """A word of several tokens is told by its first, as in the released code."""
        (ids,) = self._headed.tokens.ids([word])
        if not ids or ids[0] == self._headed.tokens.unknown_id:
            raise ModelError(
                f'the tokenizer of the model {self.files.name} does not know the word "{word}"'
            )
        return ids[0]

    def _positions(self) -> int:
        own = getattr(self._headed.model.config, "max_position_embeddings", None)
        return min(LONGEST, int(own)) if own else LONGEST


def boolean_model_for(name: str) -> BooleanModel:
    """This process's model; loaded at the first call, kept for the next. Raises ``ModelError``."""
    return _model(model_files(name), resources.at_hand().device)


@lru_cache(maxsize=2)
def _model(files: ModelFiles, device: str) -> BooleanModel:
    return BooleanModel(files, device)
