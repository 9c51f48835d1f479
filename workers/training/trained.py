"""Trained models by name: a folder ``DIALEVAL_HOME/trained/<name>/`` each, written by ``checkpoint``.

A folder is whole and knows nothing of the site that made it: copied to another one, it is a model there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.training import checkpoint as checkpoints
from workers.training.checkpoint import CONFIG, STATE, WEIGHTS, Checkpoint, CheckpointError

FOLDER = "trained"
"""In DIALEVAL_HOME."""
GAUSSIAN = "gaussian.safetensors"
"""Of the recipe ``density``: the fit (``gaussian.GaussianFit``) over the features of the training pairs' answers."""
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")
_NOT_OF_MODELS = ("files", "sha256", "under way")


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """One as its ``config.json`` describes it; the files were not checked (``checkpoint.read`` does)."""

    name: str
    folder: Path
    config: Mapping[str, Any]

    @property
    def recipe(self) -> str:
        return str(self.config["recipe"])

    @property
    def revision(self) -> str:
        return str(self.config["sha256"])[:12]


def models_in(parent: Path, recipe: str = "") -> list[TrainedModel]:
    """The models in this folder, of this recipe or of all, by name. What is no model is passed over."""
    if not parent.is_dir():
        return []
    found = (model_in(parent, folder.name) for folder in sorted(parent.iterdir()) if NAME.fullmatch(folder.name))
    return [model for model in found if model is not None and recipe in ("", model.recipe)]


def model_in(parent: Path, name: str) -> TrainedModel | None:
    """None where there is no model of this name."""
    if not NAME.fullmatch(name):
        return None
    try:
        config = json.loads((parent / name / CONFIG).read_text(encoding="utf-8"))
        model = TrainedModel(name, parent / name, config)
        return model if model.recipe and model.revision else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def publish(work: Path, target: Path, said: Mapping[str, Any], files: Mapping[str, bytes]) -> Checkpoint:
    """Makes a trained model of an ended training in the folder ``work``: the best checkpoint's weights, the newest
    one's curves, and what the recipe adds afterwards (``files``). ``said`` goes into the config. The same training
    makes the same model. Raises ``CheckpointError``."""
    best, newest = checkpoints.best(work), checkpoints.newest(work)
    if best is None or newest is None:
        raise CheckpointError(f"the training in {work.name} has no checkpoint to make a model of")
    config = {name: value for name, value in newest.config.items() if name not in _NOT_OF_MODELS}
    kept = [name for name in best.config["files"] if name not in (WEIGHTS, STATE)]
    own = {name: (best.folder / name).read_bytes() for name in kept}
    return checkpoints.write(target, best.weights(), {**config, **said}, {**own, **files})
