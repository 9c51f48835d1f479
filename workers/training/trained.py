"""Trained models by name: a folder ``DIALEVAL_HOME/trained/<name>/`` each, written by
``making.make``.

A folder is whole and knows nothing of the site that made it: copied to another one, it is a model
there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.training.checkpoint import CONFIG

FOLDER = "trained"
"""In DIALEVAL_HOME."""
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """One as its ``config.json`` describes it; the files were not checked (``checkpoint.read``
    does)."""

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
    """The models in this folder, of this recipe or of all, by name. What is no model is passed
    over."""
    if not parent.is_dir():
        return []
    found = (
        model_in(parent, folder.name)
        for folder in sorted(parent.iterdir())
        if NAME.fullmatch(folder.name)
    )
    return [model for model in found if model is not None and recipe in ("", model.recipe)]


def model_in(parent: Path, name: str) -> TrainedModel | None:
    """None where there is no model of this name."""
    if not NAME.fullmatch(name):
        return None
    try:
        config = json.loads((parent / name / CONFIG).read_text(encoding="utf-8"))
        model = TrainedModel(name, parent / name, config)
        return model if model.recipe and model.revision else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
