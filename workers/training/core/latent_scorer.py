"""A trained model of the recipe ``cmn`` as metrics use it: loaded once, whatever variant of the
score is asked for; its scores are ``mutual_information`` on what its encoders say.

A turn's negatives are drawn from training pairs that the checkpoint holds, by the seed, the context
and the reference: all responses of a turn meet the same ones, and a score depends on nothing else
that is scored. In the released code they come from the references that are evaluated, drawn anew
without a seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from workers.inference import resources
from workers.inference.encoders.devices import device_name
from workers.inference.model_files import ModelError, ModelFiles
from workers.training.core.latent import (
    NEGATIVES,
    CmnScore,
    Estimation,
    Latents,
    Variant,
    cmn_score,
    negative_indices,
)
from workers.training.core.latent_space import OTHERS, Context, LatentSpace, load_latent_space
from workers.training.core.negatives import stream
from workers.training.core.recipes.cmn import RECIPE
from workers.training.core.trained_models import files_of, model_named, turns_of


@dataclass(frozen=True, slots=True, eq=False)
class LoadedLatentModel:
    files: ModelFiles
    space: LatentSpace
    others: Sequence[tuple[Context, str]]
    """Contexts with their responses, of training: what negatives are drawn from."""
    turns: int

    @property
    def device_label(self) -> str:
        device = next(self.space.model.parameters()).device
        return f"{device_name(device)}, {self.dtype_name}"

    @property
    def dtype_name(self) -> str:
        return str(next(self.space.model.parameters()).dtype).removeprefix("torch.")

    @property
    def unknown_id(self) -> int | None:
        """The token that stands for whatever the vocabulary does not hold."""
        return self.space.inputs.tokens.unknown_id

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self.space.inputs.tokens.read_ids(texts)

    def scores(
        self,
        judged: Sequence[Judged],
        settings: LatentScoring,
        progress: Callable[[int], None] | None = None,
    ) -> list[CmnScore]:
        """One each, in order. ``progress`` counts responses. Raises ``ModelError`` for too few
        negatives."""
        shown = [Judged(one.context[-self.turns :], one.reference, one.response) for one in judged]
        return LatentScorer(self.space, self.others, settings).scores(shown, progress)

    def follows(self, pairs: Sequence[tuple[Context, str]]) -> list[float]:
        """g of contexts with a response."""
        _, follows = self.space.posteriors(
            [(context[-self.turns :], response) for context, response in pairs]
        )
        found: list[float] = follows.tolist()
        return found

    def is_cut(self, context: Context, response: str) -> bool:
        return self.space.inputs.pair(context[-self.turns :], response).cut


def latent_model(name: str) -> LoadedLatentModel:
    """The trained model of this name on the device of ``resources``. Loaded at the first call, and
    anew where its files have changed. Raises ``ModelError``."""
    model = model_named(name, RECIPE)
    return _loaded(files_of(model), turns_of(model), resources.at_hand().device)


@lru_cache(maxsize=2)
def _loaded(files: ModelFiles, turns: int, device: str) -> LoadedLatentModel:
    space = load_latent_space(files.folder, device)
    others = [(tuple(context), response) for context, response in json.loads(space.files[OTHERS])]
    return LoadedLatentModel(files, space, others, turns)


_RESPONSES_TOGETHER = 64
"""So many, or more of one turn, have their latents computed at once; ``progress`` is told after
each such part."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A response to score, in its turn."""

    context: tuple[str, ...]
    reference: str
    response: str


@dataclass(frozen=True, slots=True)
class LatentScoring:
    variant: Variant = "full"
    estimation: Estimation = field(default_factory=Estimation)
    """Its seed draws the negatives too."""
    negatives: int = NEGATIVES
    released_prior: bool = False
    """p(z|c) through the posterior's encoder, as the released evaluation has it."""

    @classmethod
    def released(cls, seed: int = 0) -> LatentScoring:
        """The released evaluation in all its departures from the paper, but seeded."""
        return cls("full", Estimation(form="released", seed=seed), NEGATIVES, released_prior=True)


class LatentScorer:
    """``others``: contexts with their responses, of training."""

    def __init__(
        self, space: LatentSpace, others: Sequence[tuple[Context, str]], settings: LatentScoring
    ) -> None:
        self._space, self._others, self._settings = space, others, settings
        self._texts = [response for _, response in others]

    def scores(
        self, judged: Sequence[Judged], progress: Callable[[int], None] | None = None
    ) -> list[CmnScore]:
        """One each, in order. ``progress`` counts responses. Raises ``ModelError`` for too few
        negatives."""
        turns: dict[tuple[tuple[str, ...], str], list[int]] = {}
        for index, one in enumerate(judged):
            turns.setdefault((one.context, one.reference), []).append(index)
        found: dict[int, CmnScore] = {}
        waiting: list[tuple[tuple[tuple[str, ...], str], list[int]]] = []
        for turn in turns.items():
            waiting.append(turn)
            if sum(len(indices) for _, indices in waiting) >= _RESPONSES_TOGETHER:
                found.update(self._scored(judged, waiting))
                waiting = []
                if progress is not None:
                    progress(len(found))
        found.update(self._scored(judged, waiting))
        if progress is not None:
            progress(len(found))
        return [found[index] for index in range(len(judged))]

    def _scored(
        self,
        judged: Sequence[Judged],
        turns: Sequence[tuple[tuple[tuple[str, ...], str], list[int]]],
    ) -> dict[int, CmnScore]:
        drawn = [self._negatives(context, reference) for (context, reference), _ in turns]
        pairs: dict[tuple[Context, str], int] = {}
        contexts: dict[Context, int] = {}
        for ((context, reference), indices), others in zip(turns, drawn, strict=True):
            contexts.setdefault(context, len(contexts))
            texts = (
                reference,
                *(judged[index].response for index in indices),
                *(self._texts[one] for one in others),
            )
            for text in texts:
                pairs.setdefault((context, text), len(pairs))
            for one in others:
                contexts.setdefault(tuple(self._others[one][0]), len(contexts))
        posteriors, follows = self._space.posteriors(list(pairs))
        priors = self._space.priors(list(contexts), self._settings.released_prior)
        found = {}
        for ((context, reference), indices), others in zip(turns, drawn, strict=True):
            for index in indices:
                response = judged[index].response
                latents = Latents(
                    response=posteriors[pairs[context, response]],
                    reference=posteriors[pairs[context, reference]],
                    context=priors[contexts[context]],
                    other_references=[
                        posteriors[pairs[context, self._texts[one]]] for one in others
                    ],
                    other_contexts=[
                        priors[contexts[tuple(self._others[one][0])]] for one in others
                    ],
                    follows=float(follows[pairs[context, response]]),
                )
                key = json.dumps([context, reference, response])
                found[index] = cmn_score(
                    latents, key, self._settings.variant, self._settings.estimation
                )
        return found

    def _negatives(self, context: tuple[str, ...], reference: str) -> list[int]:
        """Places in ``others``. Those with this context are no negatives of it either."""
        estimation = self._settings.estimation
        random = stream(estimation.seed, "negatives", json.dumps([context, reference]))
        indices = negative_indices(
            self._texts, reference, random, self._settings.negatives, estimation.form
        )
        retained = [index for index in indices if tuple(self._others[index][0]) != context]
        if len(retained) < 2:
            raise ModelError(
                f"{len(self._others)} training pairs are too few to draw the negatives of CMN from"
            )
        return retained
