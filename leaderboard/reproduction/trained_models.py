"""What a trained model was, for tables of the metrics that it makes: its settings, data and
validation.

Read from the model's own ``config.json``; where the model is not here any more, from the training's
row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workers.training import queries
from workers.training.core import trained_models
from workers.training.core.checkpoint import TrainedModel
from workers.training.models import Training

HERE, GONE, ANOTHER = "here", "gone", "another"
_SHOWN = {"density": ("contrastive",)}
"""By recipe: what a family is called by, whether or not the families differ in it."""
_DEFAULTS = {"density": {"contrastive": "paper"}}
"""Of what is shown, for models of which only the row's chosen settings are known."""
MACHINE_SETTINGS = ("device", "save_every", "keep", "curve_every", "precision")
"""Where it ran, what was written down: no part of what a family is."""


@dataclass(frozen=True)
class ModelInfo:
    name: str
    recipe: str
    state: str
    """``here``; ``gone``: deleted, and only what its training's row says is known; ``another``: a
    model of this name is here, but the scores are of one with another revision."""
    revision: str = ""
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe and of the training, without seeds; of a model that is gone, those that were
    chosen."""
    data: str = ""
    dialogues: int | None = None
    pairs: int | None = None
    steps: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    """Of the validation that chose the weights."""
    fit: Mapping[str, int] = field(default_factory=dict)
    """Of DEnsity's Gaussian: points, dimensions, rank."""
    learnt: Mapping[str, int] = field(default_factory=dict)
    """By corpus how many of its contexts were trained on, where that was allowed."""

    @cached_property
    def family(self) -> str:
        """The same for models that differ by nothing but their seeds."""
        if not self.settings:
            return self.name
        retained = {
            name: value for name, value in self.settings.items() if name not in MACHINE_SETTINGS
        }
        return json.dumps([self.recipe, self.state == HERE, retained, self.data], sort_keys=True)

    @property
    def reason(self) -> str:
        """Why less is known of it; "" where all is."""
        if self.state == GONE:
            known = (
                "what is told of it is its training's row"
                if self.settings
                else "nothing else is known of it"
            )
            return f"the model {self.name} is not here any more; {known}"
        return (
            f"a model {self.name} is here that did not make these scores"
            if self.state == ANOTHER
            else ""
        )

    def as_json(self) -> dict[str, Any]:
        document = {
            "name": self.name, "recipe": self.recipe, "state": self.state,
            "revision": self.revision, "seed": self.seed, "settings": dict(self.settings),
            "data": self.data, "dialogues": self.dialogues, "pairs": self.pairs,
            "steps": self.steps, "figures": dict(self.figures), "fit": dict(self.fit),
            "learnt": dict(self.learnt),
        }  # fmt: skip
        return {**document, "reason": self.reason} if self.reason else document


def model_facts(recipe: str, scored: Iterable[tuple[str, str]]) -> dict[tuple[str, str], ModelInfo]:
    """By name and revision: the models of this recipe that are here, and those that ``scored``
    names (a name and the revision that its scores were made with, "" where that is unknown)."""
    here = {model.name: model for model in trained_models.models_here(recipe)}
    found = {(name, model.revision): _of_model(model) for name, model in here.items()}
    for name, revision in scored:
        model = here.get(name)
        if model is not None and revision in ("", model.revision):
            found[name, revision] = found[name, model.revision]
        else:
            found[name, revision] = _of_row(
                recipe, name, revision, ANOTHER if model is not None else GONE
            )
    return found


def _of_model(model: TrainedModel) -> ModelInfo:
    config = model.config
    settings: Mapping[str, Any] = config.get("model", {})
    own: Mapping[str, Any] = config.get("settings", {})
    chosen = {**_readable(own), **config.get("training", {})}
    return ModelInfo(
        model.name,
        model.recipe,
        HERE,
        model.revision,
        chosen.pop("seed", None),
        chosen,
        _data_text(settings.get("about", {}).get("data", {})) or str(config.get("data", ""))[:12],
        settings.get("dialogues"),
        settings.get("pairs"),
        config.get("best", {}).get("step"),
        config.get("best", {}).get("figures", {}),
        settings.get("fit", {}),
        _learnt(
            settings.get("about", {}).get("overlap rule", ""),
            settings.get("about", {}).get("overlap", []),
        ),
    )


def _of_row(recipe: str, name: str, revision: str, state: str) -> ModelInfo:
    row = Training.objects.filter(name=name, recipe=recipe).first()
    if row is None or (revision and row.revision != revision):
        return ModelInfo(name, recipe, state, revision)
    return ModelInfo(
        name,
        recipe,
        state,
        row.revision,
        row.seed,
        {**_DEFAULTS.get(recipe, {}), **_readable(row.chosen)},
        queries.data_text(row),
        steps=row.best.get("step"),
        figures=row.best.get("figures", {}),
        learnt=_learnt(row.overlap_rule, row.overlap.get("corpora", [])),
    )


def _learnt(rule: str, overlaps: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    if rule != str(Training.OverlapRule.ALLOW):
        return {}
    return {one["corpus"]: one["contexts"] for one in overlaps if one["contexts"]}


def _readable(own: Mapping[str, Any]) -> dict[str, Any]:
    """An encoder that is a folder is called by its last part."""
    return {name: Path(value).name if name == "encoder" else value for name, value in own.items()}


def _data_text(data: Mapping[str, Any]) -> str:
    if "corpus" in data:
        return f"{data['corpus']} {data['version']}"
    return f"{Path(data['file']).name} ({data['sha256'][:12]})" if "file" in data else ""


def family_label(models: Iterable[ModelInfo]) -> dict[str, str]:
    """By family, what tells it from the others: ``L_CL paper, epochs 2``."""
    by_family = {model.family: model for model in models}
    differing = {
        recipe: _differing(by_family.values(), recipe)
        for recipe in {one.recipe for one in by_family.values()}
    }
    return {family: _words(model, differing[model.recipe]) for family, model in by_family.items()}


def _differing(models: Iterable[ModelInfo], recipe: str) -> list[str]:
    known = [model for model in models if model.state == HERE and model.recipe == recipe]
    names = dict.fromkeys(
        name for model in known for name in model.settings if name not in MACHINE_SETTINGS
    )
    return [name for name in names if len({repr(model.settings.get(name)) for model in known}) > 1]


def _words(model: ModelInfo, differing: Iterable[str]) -> str:
    shown = [*_SHOWN.get(model.recipe, ())]
    names = [*shown, *(name for name in differing if name not in shown)]
    return ", ".join(
        _setting_text(name, model.settings[name]) for name in names if name in model.settings
    )


def _setting_text(name: str, value: Any) -> str:
    if name == "contrastive":
        return "no L_CL" if value == "none" else f"L_CL {value}"
    if isinstance(value, bool):
        return name.replace("_", " ") if value else f"no {name.replace('_', ' ')}"
    return f"{name.replace('_', ' ')} {value}"


def setup_text(paper: str, models: Iterable[ModelInfo]) -> str:
    """How the paper's models were made and how ours: why figures need not be alike."""
    known = list(models)
    ours = dict.fromkeys(_setup(model) for model in known if model.state == HERE)
    text = "; ".join(ours) if ours else "there is no trained model"
    learnt = [
        f" {model.name} was trained on {contexts:,} of the contexts that {corpus} evaluates."
        for model in known
        for corpus, contexts in model.learnt.items()
    ]
    return f"The paper's models: {paper}. Ours: {text}.{''.join(learnt)}"


def _setup(model: ModelInfo) -> str:
    dialogues = "" if model.dialogues is None else f", {model.dialogues:,} dialogues"
    names = (
        "negatives",
        "epochs",
        "pairs_an_epoch",
        "learning_rate",
        "max_tokens",
        "freeze",
        "turns",
    )
    shown = [
        _setting_text(name, model.settings[name]) for name in names if model.settings.get(name)
    ]
    return ", ".join(
        [
            str(model.settings.get("encoder", "")).partition("@")[0],
            f"trained on {model.data}{dialogues}",
            *shown,
        ]
    )
