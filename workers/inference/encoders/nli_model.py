"""Natural language inference: whether one text entails or contradicts another, from a sequence
classifier that was trained on MNLI, DNLI or the like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.headed_model import Head, HeadedModel
from workers.inference.encoders.sequence_scorer import LONGEST, pair_inputs
from workers.inference.model_files import ModelError, ModelFiles, model_files

HEAD = Head("AutoModelForSequenceClassification", "a classifier of pairs of texts")
CONTRADICTION, ENTAILMENT, NEUTRAL = "contradiction", "entailment", "neutral"
_BEGINNINGS = {CONTRADICTION: "contradict", ENTAILMENT: "entail", NEUTRAL: "neutral"}
"""Of labels as checkpoints write them: CONTRADICTION, contradictory, entails."""


@dataclass(frozen=True, slots=True)
class Inference:
    """Probabilities of the three labels, which add up to 1."""

    entailment: float
    neutral: float
    contradiction: float
    cut: bool
    """Whether the two texts were longer than the model takes."""


class NliModel:
    """Raises ``ModelError``, see ``HeadedModel``; and where the labels of the checkpoint do not say
    which is which."""

    def __init__(self, files: ModelFiles, device: str = resources.AUTO) -> None:
        self._headed = HeadedModel(files, HEAD, device)
        self.files = files
        self.device_label = self._headed.device_label
        self.dtype_name = self._headed.dtype_name
        self.max_tokens = self._headed.positions(LONGEST)
        self.unknown_id = self._headed.tokens.unknown_id
        self._columns = label_columns(files.name, self._headed.model.config.id2label)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self._headed.tokens.read_ids(texts)

    def inferences(
        self, pairs: Sequence[tuple[str, str]], progress: Callable[[int], None] | None = None
    ) -> list[Inference]:
        """One each, in order, of (premise, hypothesis); what is not a number stays so. ``progress``
        counts pairs. A pair that is too long loses the end of its longer text."""
        import torch

        inputs = pair_inputs(self._headed.tokens, pairs, self.max_tokens)
        probabilities = np.zeros((len(inputs), len(self._columns)))
        done = 0

        def of_batch(batch: list[int]) -> NDArray[np.float64]:
            logits = self._headed.model(**self._headed.tensors([inputs[i] for i in batch])).logits
            found: NDArray[np.float64] = torch.softmax(logits.cpu().double(), dim=-1).numpy()
            return found

        def keep(batch: list[int], found: NDArray[np.float64]) -> None:
            nonlocal done
            probabilities[batch] = found
            done += len(batch)
            if progress is not None:
                progress(done)

        self._headed.run([len(one) for one in inputs], of_batch, keep)
        order = [self._columns[label] for label in (ENTAILMENT, NEUTRAL, CONTRADICTION)]
        return [
            Inference(entailment, neutral, contradiction, one.cut)
            for (entailment, neutral, contradiction), one in zip(
                probabilities[:, order].tolist(), inputs, strict=True
            )
        ]


def label_columns(name: str, labels: Mapping[int, str]) -> dict[str, int]:
    """Which output of a classifier is which label.

    Args:
        name: of the model, for the error.
        labels: ``id2label`` of its configuration: by output its label, in any case and order.

    Returns:
        The output of entailment, neutral and contradiction.

    Raises:
        ModelError: the labels are others, or one is there twice or not at all.
    """
    columns = {
        label: index
        for index, written in labels.items()
        for label, beginning in _BEGINNINGS.items()
        if str(written).strip().lower().startswith(beginning)
    }
    if len(columns) == len(labels) == len(_BEGINNINGS):
        return columns
    raise ModelError(
        f"the model {name} does not say which of its outputs is a contradiction: its labels are "
        f"{', '.join(str(labels[index]) for index in sorted(labels))}; id2label of its config.json "
        "must name entailment, neutral and contradiction"
    )


def nli_model_for(name: str) -> NliModel:
    """This process's model; loaded at the first call, kept for the next. Raises ``ModelError``."""
    return _model(model_files(name), resources.at_hand().device)


@lru_cache(maxsize=2)
def _model(files: ModelFiles, device: str) -> NliModel:
    return NliModel(files, device)
