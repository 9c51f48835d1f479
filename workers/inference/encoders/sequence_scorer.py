"""One number for two texts, by a regression head on a BERT-like encoder: what BLEURT's checkpoints
are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from workers.inference import resources
from workers.inference.encoders.headed_model import Head, HeadedModel
from workers.inference.encoders.tokens import Input, Tokens
from workers.inference.model_files import ModelFiles, model_files

if TYPE_CHECKING:
    import torch

HEAD = Head(
    "AutoModelForSequenceClassification", "a model with one number as its output", outputs=1
)
LONGEST = 512


@dataclass(frozen=True, slots=True)
class PairScore:
    value: float
    cut: bool
    """Whether the two texts were longer than the model takes."""


class SequenceScorer:
    """Raises ``ModelError``, see ``HeadedModel``."""

    def __init__(self, files: ModelFiles, device: str = resources.AUTO) -> None:
        self._headed = HeadedModel(files, HEAD, device)
        self.files = files
        self.device_label = self._headed.device_label
        self.dtype_name = self._headed.dtype_name
        self.max_tokens = self._headed.positions(LONGEST)
        self.unknown_id = self._headed.tokens.unknown_id

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self._headed.tokens.read_ids(texts)

    def scores(
        self, pairs: Sequence[tuple[str, str]], progress: Callable[[int], None] | None = None
    ) -> list[PairScore]:
        """One each, in order; what is not a number stays so. ``progress`` counts pairs.

        Where a pair is too long the end of the longer text is cut, token by token, as BLEURT does.
        """
        inputs = pair_inputs(self._headed.tokens, pairs, self.max_tokens)

        def of_batch(batch: list[int]) -> torch.Tensor:
            output = self._headed.model(**self._headed.tensors([inputs[index] for index in batch]))
            numbers: torch.Tensor = output.logits[:, 0]
            return numbers

        values = self._headed.values(inputs, of_batch, progress)
        return [PairScore(float(value), one.cut) for value, one in zip(values, inputs, strict=True)]


def pair_inputs(tokens: Tokens, pairs: Sequence[tuple[str, str]], longest: int) -> list[Input]:
    """One each, in order; a pair that is too long loses what ``cut_longer`` takes."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    ids = dict(zip(texts, tokens.ids(texts), strict=True))
    capacity = longest - tokens.special_tokens(texts=2)
    inputs = []
    for first, second in pairs:
        cut = len(ids[first]) + len(ids[second]) > capacity
        inputs.append(tokens.framed(cut_longer(ids[first], ids[second], capacity), cut))
    return inputs


def cut_longer(first: list[int], second: list[int], capacity: int) -> list[list[int]]:
    """The beginnings of both that ``capacity`` holds: the last token of the longer one goes, of two
    equally long ones that of the second, until they fit."""
    of_first, of_second = len(first), len(second)
    while of_first + of_second > max(0, capacity):
        if of_first > of_second:
            of_first -= 1
        else:
            of_second -= 1
    return [first[:of_first], second[:of_second]]


def sequence_scorer_for(name: str) -> SequenceScorer:
    """This process's model; loaded at the first call, kept for the next. Raises ``ModelError``."""
    return _scorer(model_files(name), resources.at_hand().device)


@lru_cache(maxsize=2)
def _scorer(files: ModelFiles, device: str) -> SequenceScorer:
    return SequenceScorer(files, device)
