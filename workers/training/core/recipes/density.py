"""DEnsity's recipe: a response-selection cross-encoder, trained by L_RS + λ L_CL (Park et al.,
2023).

With ``objective="binary"`` and ``perturbed`` answers among the negatives it is MAUDE's (Sinha et
al., 2020): each candidate is told from noise by itself, and some of the noise is the answer made
ungrammatical.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from workers.inference.model_files import PACKAGED_ENCODER
from workers.training.core.conversations import Pair, indices_in_epoch
from workers.training.core.losses import (
    noise_contrastive,
    response_selection,
    supervised_contrastive,
)
from workers.training.core.negatives import NegativeSampler, perturbed
from workers.training.core.selection import (
    Selection,
    SelectionShape,
    new_selection,
    passes,
    ranking_figures,
    tokens_together,
)
from workers.training.core.settings import Batch, Loss, TrainingError

RECIPE = "density"
BEST_BY = "R@1"

Contrastive = Literal["none", "paper", "released"]
Objective = Literal["selection", "binary"]
MOST_PERTURBED = 100
_ADDED: dict[str, Any] = {"objective": "selection", "perturbed": 0}
"""Settings that came later. Where they are as before they are not told, so that earlier trainings
can go on."""


@dataclass(frozen=True, slots=True)
class DensitySettings:
    """The defaults are the paper's for DailyDialog, but for the encoder, which is bert-base-uncased
    there.

    Those from ``freeze`` on make a training cheaper. In a cross-encoder negatives that contexts
    share cost as much as others do, so fewer trained layers, tokens, negatives or pairs are what
    there is to save on.
    """

    encoder: str = PACKAGED_ENCODER
    contexts: int = 16
    """In a batch; each with one answer and ``negatives`` other responses."""
    negatives: int = 15
    """19 for ConvAI2."""
    contrastive: Contrastive = "paper"
    """L_CL's form, see ``losses.supervised_contrastive``. The paper's equation 4 is a sum over the
    batch and equation 1 one context's term: here both are means over the batch's contexts, which
    equals both sums to AdamW."""
    contrastive_weight: float = 1.0
    """λ."""
    temperature: float = 0.1
    """τ."""
    max_tokens: int = 256
    seed: int = 0
    """Of the head's first weights, the pairs' order, the negatives and the validation's pairs."""
    freeze: int = 0
    """The embeddings and so many of the lowest layers are not trained."""
    pairs_an_epoch: int = 0
    """An epoch goes over so many pairs, the next one over the next ones; 0: all."""
    turns: int = 0
    """The most utterances of a context that are looked at, the last ones; 0: all."""
    validation_pairs: int = 0
    """Drawn once; 0: all."""
    objective: Objective = "selection"
    """``selection``: L_RS, a softmax over the candidates; ``binary``: MAUDE's loss, each candidate
    by itself."""
    perturbed: int = 0
    """Negatives that are the answer with its words in another order, left out or repeated, beside
    ``negatives``."""
    recompute: bool = False
    """Trades a third more time for the memory of one pass through the encoder."""

    def __post_init__(self) -> None:
        for name in ("contexts", "negatives", "max_tokens"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in (
            "freeze",
            "pairs_an_epoch",
            "turns",
            "validation_pairs",
            "contrastive_weight",
            "perturbed",
        ):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TrainingError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 < self.temperature < float("inf"):
            raise TrainingError(f"temperature must be more than 0, not {self.temperature}")
        if self.contrastive not in ("none", "paper", "released"):
            raise TrainingError(
                f"contrastive must be none, paper or released, not {self.contrastive}"
            )
        if self.perturbed > MOST_PERTURBED:
            raise TrainingError(f"perturbed must be at most {MOST_PERTURBED}, not {self.perturbed}")
        if self.objective not in ("selection", "binary"):
            raise TrainingError(f"objective must be selection or binary, not {self.objective}")

    @property
    def candidates(self) -> int:
        """Of a context in training: the answer, other responses, and the answer perturbed."""
        return 1 + self.negatives + self.perturbed


_OBJECTIVES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "selection": (response_selection, "response selection"),
    "binary": (noise_contrastive, "noise contrastive"),
}
"""By the setting, the loss and what the curves call it."""


class DensityTask:
    """A ``workers.training.core.settings.Task``. Raises ``ModelError`` for an encoder that cannot
    be had, ``TrainingError`` for data that is too little."""

    recipe = RECIPE
    best_by = BEST_BY

    def __init__(
        self,
        settings: DensitySettings,
        training: Sequence[Pair],
        validation: Sequence[Pair],
        data_signature: str,
    ) -> None:
        if not training or not validation:
            raise TrainingError(
                "training needs pairs of a context and its answer, and others to validate on"
            )
        self._settings, self.data_signature = settings, data_signature
        shape = SelectionShape(max_tokens=settings.max_tokens)
        self.selection: Selection = new_selection(settings.encoder, shape, settings.seed)
        self.selection.model.recompute = settings.recompute
        self.selection.model.freeze(settings.freeze)
        self._contexts, self._responses = self._texts(training)
        try:
            self._sampler = NegativeSampler(training, settings.negatives, settings.seed)
            self._validation = self._candidates(validation)
        except ValueError as error:
            raise TrainingError(str(error)) from error

    @property
    def model(self) -> nn.Module:
        return self.selection.model

    def settings(self) -> Mapping[str, Any]:
        settings_found = {
            name: value
            for name, value in asdict(self._settings).items()
            if _ADDED.get(name, ...) != value
        }
        return {**settings_found, "encoder": self.selection.encoder}

    def files(self) -> Mapping[str, bytes]:
        return self.selection.files

    def batches(self, epoch: int) -> Sequence[Any]:
        """For each batch the places of its pairs, and of their negatives (pairs × negatives)."""
        pairs = indices_in_epoch(
            len(self._contexts), self._settings.pairs_an_epoch, epoch, self._settings.seed
        )
        negatives = self._sampler.for_epoch(epoch)
        starts = range(0, len(pairs), self._settings.contexts)
        chosen = (pairs[start : start + self._settings.contexts] for start in starts)
        return [(indices, negatives[indices]) for indices in chosen]

    def collate(self, item: Any) -> Batch:
        places, negatives = item
        made = [
            self.selection.inputs.input(self._contexts[index], response)
            for index, others in zip(places.tolist(), negatives.tolist(), strict=True)
            for response in (
                *(self._responses[one] for one in (index, *others)),
                *self._perturbed(index),
            )
        ]
        device = next(self.model.parameters()).device
        return passes(made, self.selection.padding_id, tokens_together(device))

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        settings, candidates = self._settings, self._settings.candidates
        scores, features = model(**batch)
        loss, name = _OBJECTIVES[settings.objective]
        selection = loss(scores.view(-1, candidates))
        if settings.contrastive == "none":
            return Loss(selection, {name: selection.detach()})
        of_batch = features.view(-1, candidates, features.shape[-1])
        contrastive = supervised_contrastive(of_batch, settings.temperature, settings.contrastive)
        if settings.contrastive == "paper":
            contrastive = contrastive / len(of_batch)
        parts = {name: selection.detach(), "contrastive": contrastive.detach()}
        return Loss(selection + settings.contrastive_weight * contrastive, parts)

    # It is the selection's.
    def validate(self, model: nn.Module) -> Mapping[str, float]:  # noqa: ARG002
        """R@1 and MRR of the answers among as many other responses as in training, the same ones
        every time."""
        scores = self.selection.scores(self._validation)
        return ranking_figures(scores.reshape(-1, 1 + self._settings.negatives))

    def _perturbed(self, index: int) -> list[str]:
        """The same ones in every epoch, as in MAUDE's released data. One without words stands
        against itself."""
        count = self._settings.perturbed
        if not count or not self._responses[index].split():
            return [self._responses[index]] * count
        return perturbed(
            self._responses[index], count, np.random.default_rng((self._settings.seed, index))
        )

    def _candidates(self, pairs: Sequence[Pair]) -> list[tuple[Sequence[str], str]]:
        """Of each validation pair the answer, then its negatives, from all validation pairs."""
        contexts, responses = self._texts(pairs)
        negatives = NegativeSampler(pairs, self._settings.negatives, self._settings.seed).for_epoch(
            0
        )
        places = np.arange(len(pairs))
        if 0 < self._settings.validation_pairs < len(pairs):
            drawn = np.random.default_rng(self._settings.seed).choice(
                len(pairs), self._settings.validation_pairs, replace=False
            )
            places = np.sort(drawn)
        return [
            (contexts[index], responses[response])
            for index in places.tolist()
            for response in (index, *negatives[index].tolist())
        ]

    def _texts(self, pairs: Sequence[Pair]) -> tuple[list[list[str]], list[str]]:
        contexts = [texts_of(pair, self._settings.turns) for pair in pairs]
        responses = [pair.response for pair in pairs]
        self.selection.inputs.learn([text for context in contexts for text in context] + responses)
        return contexts, responses


def texts_of(pair: Pair, turns: int = 0) -> list[str]:
    """What the model reads of a pair's context; the persona is none of it, as in the paper."""
    return [utterance.text for utterance in pair.context][-turns:]
