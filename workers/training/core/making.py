"""From conversations to a trained model in a folder: split, train, and what a recipe adds at its
end.

What a row or a command says as JSON (``--epochs 3 --contrastive none``) becomes a ``Plan``;
``make`` does the rest. It may be ended at any time and called again: training goes on at its last
checkpoint, what comes after it is done anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from workers.inference.model_files import ModelError
from workers.training.core import checkpoint, processes
from workers.training.core.checkpoint import Checkpoint, CheckpointError
from workers.training.core.conversations import Pair, TrainingDialogue, pairs_of
from workers.training.core.gaussian import GaussianFit
from workers.training.core.loop import train
from workers.training.core.recipes import cmn, density
from workers.training.core.recipes.cmn import CmnSettings, CmnTask
from workers.training.core.recipes.density import DensitySettings, DensityTask, texts_of
from workers.training.core.selection import load_selection
from workers.training.core.settings import Abandoned, TrainingError, TrainingSettings, Watch
from workers.training.core.splits import signature_of, split_dialogues

RECIPES = (density.RECIPE, cmn.RECIPE)
GAUSSIAN = "gaussian.safetensors"
"""Of DEnsity: the fit (``gaussian.GaussianFit``) over the features of all positive training
pairs."""
VALIDATION_SHARE = 0.1
_NOT_OF_MODELS = ("files", "sha256", "under way")


@dataclass(frozen=True, slots=True)
class Plan:
    recipe: str
    settings: DensitySettings | CmnSettings
    training: TrainingSettings
    validation_share: float = VALIDATION_SHARE
    """Of the dialogues; drawn by the seed."""


def plan_of(recipe: str, chosen: Mapping[str, Any]) -> Plan:
    """``chosen``: by name what differs from the recipe's defaults, of its own settings and of the
    training's; ``seed`` is both's. Raises ``TrainingError`` for an unknown name or a value that
    cannot be."""
    if recipe not in RECIPES:
        raise TrainingError(f"there is no recipe {recipe!r}; there are {', '.join(RECIPES)}")
    own: DensitySettings | CmnSettings = (
        DensitySettings() if recipe == density.RECIPE else CmnSettings()
    )
    training = TrainingSettings() if recipe == density.RECIPE else cmn.TRAINING
    share = VALIDATION_SHARE
    rest = dict(chosen)
    if "validation_share" in rest:
        share = _of_type(share, "validation_share", rest.pop("validation_share"))
    own = replace(own, **_taken(own, rest))
    training = replace(training, **_taken(training, rest))
    unknown = sorted(name for name in rest if not _has(own, name) and not _has(training, name))
    if unknown:
        known = sorted(
            {one.name for of in (own, training) for one in fields(of)} | {"validation_share"}
        )
        raise TrainingError(f"{recipe} has no setting {unknown[0]!r}; there are {', '.join(known)}")
    return Plan(recipe, own, training, share)


def split_of(
    plan: Plan, dialogues: Sequence[TrainingDialogue]
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], str]:
    """Training and validation pairs, of dialogues that have nothing in common, and the signature of
    both."""
    try:
        training, validation = split_dialogues(dialogues, plan.validation_share, plan.settings.seed)
    except ValueError as error:
        raise TrainingError(str(error)) from error
    signed = f"{signature_of(training)} {signature_of(validation)}"
    return pairs_of(training), pairs_of(validation), hashlib.sha256(signed.encode()).hexdigest()


def make(
    plan: Plan,
    dialogues: Sequence[TrainingDialogue],
    work: Path,
    place: Path,
    about: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    fitting: Callable[[int, int], None] | None = None,
) -> Checkpoint:
    """Trains in ``work`` and writes the finished model to ``place``, whole or not at all.

    ``about``: JSON that the model keeps of its data: the corpus and its version, what overlapped.
    ``watch``: see ``loop.train``. ``fitting(done, of)``: DEnsity's pairs whose features the
    Gaussian is laid over, after training. Raises ``TrainingError`` and ``ModelError``.
    """
    training, validation, signature = split_of(plan, dialogues)
    task = _task_of(plan, training, validation, signature)
    processes.tell((plan, list(dialogues), work), plan.training.device)
    outcome = train(task, plan.training, work, watch)
    del task
    files: dict[str, bytes] = {}
    document = {
        "about": dict(about or {}),
        "dialogues": len(dialogues),
        "pairs": len(training),
        "validated": len(validation),
    }
    if isinstance(plan.settings, DensitySettings):
        fit = fit_of(outcome.best, training, plan.settings.turns, plan.training.device, fitting)
        files[GAUSSIAN] = fit.to_bytes()
        document["fit"] = {"points": fit.points, "dimensions": fit.dimensions, "rank": fit.rank}
    return _published(work, place, {"name": place.name, "model": document}, files)


def help_others(device: str) -> None:
    """What a helper does (``processes``): trains along with the first process until that lets it
    go. All processes see the same folders. Raises as ``make``."""
    while (inputs := processes.heard(device)) is not None:
        plan, dialogues, work = inputs
        with suppress(Abandoned):
            train(_task_of(plan, *split_of(plan, dialogues)), plan.training, work)


def _task_of(
    plan: Plan, training: Sequence[Pair], validation: Sequence[Pair], signature: str
) -> DensityTask | CmnTask:
    if isinstance(plan.settings, DensitySettings):
        return DensityTask(plan.settings, training, validation, signature)
    return CmnTask(plan.settings, training, validation, signature)


def _published(
    work: Path, place: Path, document: Mapping[str, Any], files: Mapping[str, bytes]
) -> Checkpoint:
    """The best checkpoint's weights, the newest one's curves, and what the recipe adds afterwards
    (``files``)."""
    try:
        best, newest = checkpoint.best(work), checkpoint.newest(work)
    except CheckpointError as error:
        raise TrainingError(str(error)) from error
    if best is None or newest is None:
        raise TrainingError(f"the training in {work.name} has no checkpoint to make a model of")
    config = {name: value for name, value in newest.config.items() if name not in _NOT_OF_MODELS}
    retained = [
        name for name in best.config["files"] if name not in (checkpoint.WEIGHTS, checkpoint.STATE)
    ]
    own = {name: (best.folder / name).read_bytes() for name in retained}
    return checkpoint.write(place, best.weights(), {**config, **document}, {**own, **files})


def fit_of(
    folder: Path,
    pairs: Sequence[Pair],
    turns: int,
    device: str,
    fitting: Callable[[int, int], None] | None = None,
) -> GaussianFit:
    """Over the features of all positive training pairs (DEnsity's equation 2), by the weights in
    ``folder``."""
    selection = load_selection(folder, device)
    inputs = [(texts_of(pair, turns), pair.response) for pair in pairs]
    progress = None if fitting is None else lambda done: fitting(done, len(inputs))
    try:
        return GaussianFit.of(selection.features(inputs, progress))
    except ValueError as error:
        raise ModelError(f"no Gaussian can be laid over the features: {error}") from error


def _has(settings: Any, name: str) -> bool:
    return any(one.name == name for one in fields(settings))


def _taken(settings: Any, chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {
        one.name: _of_type(getattr(settings, one.name), one.name, chosen[one.name])
        for one in fields(settings)
        if one.name in chosen
    }


def _of_type(default: Any, name: str, value: Any) -> Any:
    """JSON knows no difference between 600 and 600.0, a command line none between words and
    numbers."""
    kind = type(default)
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    if isinstance(value, bool) or isinstance(default, bool):
        raise TrainingError(
            f"{name} must be {'true or false' if isinstance(default, bool) else 'no truth value'}"
        )
    try:
        made = kind(value)
    except (TypeError, ValueError) as error:
        raise TrainingError(f"{name} must be of the kind of {default!r}, not {value!r}") from error
    if isinstance(value, float) and made != value:
        raise TrainingError(f"{name} must be a whole number, not {value!r}")
    return made
