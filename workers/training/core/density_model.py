"""A trained model of the recipe ``density`` as metrics use it: f(c, r), how far h = g(c, r) lies
from people's, and DEnsity's scores from these distances (Park et al., 2023, section 3.3 and
equation 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.devices import device_name
from workers.inference.model_files import ModelError, ModelFiles
from workers.training.core.gaussian import GaussianFit, UnusableFit
from workers.training.core.making import GAUSSIAN
from workers.training.core.recipes.density import RECIPE
from workers.training.core.selection import Selection, load_selection
from workers.training.core.trained_models import files_of, model_named, turns_of

READINGS_CACHED = 20_000
"""Pairs whose reading is remembered: density, density_euclidean and density_classifier ask for the
same ones."""

ModelInput = tuple[tuple[str, ...], str]
"""The context's utterances, oldest first, and the response."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model says of one pair; all floats."""

    score: float
    """f(c, r), the classifier's number: any real one."""
    squared_mahalanobis: float
    squared_euclidean: float
    cut: bool
    """Whether the pair was too long for the model."""


@dataclass(slots=True)
class DensityModel:
    files: ModelFiles
    selection: Selection
    fit: GaussianFit
    turns: int
    _known: dict[ModelInput, Reading] = field(default_factory=dict)

    @property
    def device_label(self) -> str:
        device = next(self.selection.model.parameters()).device
        return f"{device_name(device)}, {self.dtype_name}"

    @property
    def dtype_name(self) -> str:
        return str(next(self.selection.model.parameters()).dtype).removeprefix("torch.")

    @property
    def max_tokens(self) -> int:
        return self.selection.model.shape.max_tokens

    @property
    def unknown_id(self) -> int | None:
        """The token that stands for whatever the vocabulary does not hold."""
        return self.selection.inputs.tokens.unknown_id

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its word pieces' ids, without special tokens and spaces."""
        return self.selection.inputs.tokens.read_ids(texts)

    def read(
        self, inputs: Sequence[ModelInput], progress: Callable[[int], None] | None = None
    ) -> list[Reading]:
        """One each, in order. ``progress`` counts those that are new to the model."""
        shown = [(context[-self.turns :], response) for context, response in inputs]
        new = [pair for pair in dict.fromkeys(shown) if pair not in self._known]
        found = {pair: self._known[pair] for pair in shown if pair in self._known}
        if new:
            scores, features = self.selection.readings(new, progress)
            squared = self.fit.squared_mahalanobis(features).tolist()
            straight = self.fit.squared_euclidean(features).tolist()
            cut = [self.selection.inputs.input(*pair).cut for pair in new]
            found.update(
                zip(
                    new,
                    [
                        Reading(*one)
                        for one in zip(scores.tolist(), squared, straight, cut, strict=True)
                    ],
                    strict=True,
                )
            )
        if len(self._known) + len(new) > READINGS_CACHED:
            self._known.clear()
        self._known.update((pair, found[pair]) for pair in new[:READINGS_CACHED])
        return [found[pair] for pair in shown]


def density_model(name: str) -> DensityModel:
    """The trained model of this name on the device of ``resources``. Loaded at the first call, and
    anew where its files have changed. Raises ``ModelError``."""
    model = model_named(name, RECIPE)
    return _loaded(files_of(model), turns_of(model), resources.at_hand().device)


@lru_cache(maxsize=2)
def _loaded(files: ModelFiles, turns: int, device: str) -> DensityModel:
    selection = load_selection(files.folder, device)
    try:
        fit = GaussianFit.load(files.folder / GAUSSIAN)
    except (UnusableFit, OSError) as error:
        raise ModelError(
            f"the trained model {files.name} has no Gaussian that can be read"
        ) from error
    if fit.dimensions != int(selection.model.head.in_features):
        raise ModelError(
            f"the trained model {files.name} has a Gaussian of other dimensions than its features"
        )
    return DensityModel(files, selection, fit, turns)


DialogueForm = Literal["mean", "root_mean_square"]


def turn_scores(squared_distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """−√d², one for each response, 0 or less; higher is better. Equation 3 prints −d²; the paper's
    experiments take the root (section 4.3), as the released code does, so ranks are the same and
    Pearson's r is not."""
    scores: NDArray[np.float64] = -np.sqrt(squared_distances)
    return scores


def dialogue_score(squared_distances: Sequence[float], form: DialogueForm = "mean") -> float:
    """Of a dialogue's turns, all that follow another utterance (the second to the last).

    ``mean``: the average of the turns' scores, −(1/T) Σ √d² (the paper, section 5.5).
    ``root_mean_square``: −√((1/T) Σ d²) (the released code), which one bad turn moves further;
    never above the first. Raises ``ValueError`` without turns.
    """
    if not squared_distances:
        raise ValueError("a dialogue without responses has no score")
    if form == "root_mean_square":
        return -math.sqrt(math.fsum(squared_distances) / len(squared_distances))
    return -math.fsum(math.sqrt(squared) for squared in squared_distances) / len(squared_distances)
