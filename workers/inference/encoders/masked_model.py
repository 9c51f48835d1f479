"""How well a masked language model foresees a text's tokens: each is masked in turn, the others
stand.

The sum of log p(token | all others) is called the pseudo-log-likelihood (Salazar et al. 2020,
Masked Language Model Scoring). A text of n tokens is n inputs; those of all texts go through the
model together, in full batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.headed_model import TOKENS_ON_CPU, Head, HeadedModel
from workers.inference.encoders.tokens import Input
from workers.inference.model_files import ModelError, ModelFiles, model_files

if TYPE_CHECKING:
    import torch

HEAD = Head("AutoModelForMaskedLM", "a masked language model")
LONGEST = 512
_HEAD_OF_KIND = {
    "bert": "cls",
    "roberta": "lm_head",
    "xlm-roberta": "lm_head",
    "camembert": "lm_head",
    "mpnet": "lm_head",
    "albert": "predictions",
}
"""Where a kind of model keeps what turns states into words: then only the masked places' states go
through it, and not all, with tens of thousands of words each."""


@dataclass(frozen=True, slots=True)
class Continued:
    """A text and what stands before it."""

    before: str
    text: str


@dataclass(frozen=True, slots=True)
class PseudoLikelihood:
    log_probability: float
    """Natural logarithm, summed over the text's tokens."""
    tokens: int
    """How many were masked; 0 where the text has none that the model knows."""
    cut: str
    """What did not fit: "", "the beginning of the context" or "the end of the response"."""


@dataclass(frozen=True, slots=True)
class _Masks:
    """An input, and the places in it that are masked in turn."""

    input: Input
    places: tuple[int, ...]
    cut: str


class MaskedModel:
    """Raises ``ModelError``, see ``HeadedModel``; and for a tokenizer without a mask token."""

    def __init__(self, files: ModelFiles, device: str = resources.AUTO) -> None:
        self._headed = HeadedModel(files, HEAD, device)
        self.files = files
        self.device_label = self._headed.device_label
        self.dtype_name = self._headed.dtype_name
        self.unknown_id = self._headed.tokens.unknown_id
        self.max_tokens = self._headed.positions(LONGEST)
        mask_id = self._headed.tokens.mask_id
        if mask_id is None:
            raise ModelError(
                f"the model {files.name} has no mask token: it is not a masked language model"
            )
        self._mask_id = mask_id
        model = self._headed.model
        self._words_of_states = getattr(model, _HEAD_OF_KIND.get(model.config.model_type, ""), None)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self._headed.tokens.read_ids(texts)

    def pseudo_likelihoods(
        self, continued: Sequence[Continued], progress: Callable[[int], None] | None = None
    ) -> list[PseudoLikelihood]:
        """One each, in order. ``progress`` counts texts. Special tokens are not masked.

        What is before is cut at its beginning where both are too long, and the text at its end
        where it is so alone.
        """
        tokens = self._headed.tokens
        strings = list(
            dict.fromkeys(string for one in continued for string in (one.before, one.text))
        )
        ids = dict(zip(strings, tokens.ids(strings), strict=True))
        capacity = self.max_tokens - tokens.special_tokens(texts=1)
        masks = [self._masks_of(ids[one.before], ids[one.text], capacity) for one in continued]
        text_of_row = np.repeat(np.arange(len(masks)), [len(one.places) for one in masks])
        index_of_row = np.array([index for one in masks for index in one.places], dtype=np.int64)
        sums = np.zeros(len(masks), dtype=np.float64)
        left = np.array([len(one.places) for one in masks], dtype=np.int64)

        def compute(rows: list[int]) -> NDArray[np.float64]:
            return self._log_probabilities(
                [masks[text].input for text in text_of_row[rows]], index_of_row[rows]
            )

        def keep(rows: list[int], found: NDArray[np.float64]) -> None:
            texts = text_of_row[rows]
            np.add.at(sums, texts, found)
            np.subtract.at(left, texts, 1)
            if progress is not None:
                progress(int((left == 0).sum()))

        lengths = (
            np.array([len(one.input) for one in masks], dtype=np.int64)[text_of_row].tolist()
            if masks
            else []
        )
        # A model whose head is not known gives every token's words, not only the masked one's:
        # smaller batches.
        self._headed.run(
            lengths,
            compute,
            keep,
            None if self._words_of_states is not None else TOKENS_ON_CPU // 8,
        )
        return [
            PseudoLikelihood(float(total), len(one.places), one.cut)
            for total, one in zip(sums, masks, strict=True)
        ]

    def _log_probabilities(
        self, inputs: Sequence[Input], indices: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """log p of the token at one place in each input, that place masked."""
        import torch

        tensors = self._headed.tensors(inputs)
        rows = torch.arange(len(inputs), device=self._headed.device)
        at = torch.from_numpy(indices).to(self._headed.device)
        true_ids = tensors["input_ids"][rows, at]
        tensors["input_ids"][rows, at] = self._mask_id
        # inputs × words of the vocabulary.
        model = self._headed.model
        words: torch.Tensor
        if self._words_of_states is None:
            words = model(**tensors).logits[rows, at]
        else:
            words = self._words_of_states(model.base_model(**tensors)[0][rows, at])
        chosen = torch.log_softmax(words.float(), dim=-1)[rows, true_ids]
        found: NDArray[np.float64] = chosen.cpu().double().numpy()
        return found

    def _masks_of(self, before: list[int], text: list[int], capacity: int) -> _Masks:
        tokens = self._headed.tokens
        cut = ""
        if len(text) > capacity:
            cut = "the end of the response"
        elif len(before) + len(text) > capacity:
            cut = "the beginning of the context"
        text = text[:capacity]
        before = before[max(0, len(before) + len(text) - capacity) :]
        framed = tokens.framed([before + text], bool(cut))
        first = tokens.first_index + len(before)
        never_masked = tokens.special_ids - {tokens.unknown_id}
        indices = tuple(
            first + index for index, token in enumerate(text) if token not in never_masked
        )
        return _Masks(framed, indices, cut)


def masked_model_for(name: str) -> MaskedModel:
    """This process's model; loaded at the first call, kept for the next. Raises ``ModelError``."""
    return _model(model_files(name), resources.at_hand().device)


@lru_cache(maxsize=2)
def _model(files: ModelFiles, device: str) -> MaskedModel:
    return MaskedModel(files, device)
