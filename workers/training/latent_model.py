"""A trained model of the recipe ``cmn`` as metrics use it: loaded once, whatever variant of the
score is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workers import resources
from workers.encoders.devices import device_name
from workers.model_files import ModelFiles
from workers.training.by_name import files_of, model_named, turns_of
from workers.training.latent_scorer import Judged, LatentScorer, LatentScoring
from workers.training.latent_space import OTHERS, Context, LatentSpace, load_latent_space
from workers.training.mutual_information import CmnScore
from workers.training.recipes.cmn import RECIPE


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
