"""Which trained model a name means in this process, or why none. Loads nothing.

The folder is the one of ``resources``; of a model that is there only ``config.json`` is read:
whether the files are whole is seen when it is loaded. What other machines made is known by its
``config.json``, too, and fetched by ``files_of``.
"""

from __future__ import annotations

from workers.inference import resources
from workers.inference.model_files import ModelError, ModelFiles
from workers.training.core.checkpoint import TrainedModel, model_in, models_in


def models_here(recipe: str = "") -> list[TrainedModel]:
    """By name: those on this machine, and those that it can fetch."""
    parent, remote = resources.at_hand().trained_folder, resources.at_hand().remote_models
    own = [] if parent is None else models_in(parent, recipe)
    others = (
        []
        if remote is None
        else [model for model in remote.models() if recipe in ("", model.recipe)]
    )
    found = {model.name: model for model in own}
    found |= {model.name: model for model in others if _is_another(model, found.get(model.name))}
    return [found[name] for name in sorted(found)]


def model_named(name: str, recipe: str) -> TrainedModel:
    """Raises ``ModelError`` where there is none of this name, or it was trained by another
    recipe."""
    parent, remote = resources.at_hand().trained_folder, resources.at_hand().remote_models
    found = None if parent is None else model_in(parent, name)
    if remote is not None and _is_another(other := remote.model(name), found):
        found = other
    if found is None:
        raise ModelError(f"there is no trained model {name[:80]!r}")
    if found.recipe != recipe:
        raise ModelError(f"the trained model {name} is of the recipe {found.recipe}, not {recipe}")
    return found


def _is_another(remote: TrainedModel | None, own: TrainedModel | None) -> bool:
    """Whether what all machines agree on under a name is not what this one has: it was trained anew
    on another one."""
    return remote is not None and (own is None or own.revision != remote.revision)


def why_no_model(metric: str, name: str, recipe: str) -> str:
    """Why ``metric`` cannot use the trained model of this name, and what to do; "" where it can.
    Cheap."""
    try:
        if name:
            model_named(name, recipe)
            return ""
        reason = ""
    except ModelError as error:
        reason = str(error)
    there = [model.name for model in models_here(recipe)]
    if there:
        return (
            f"{reason or 'name a trained model'}: {metric}[trained=NAME]; there are "
            f"{', '.join(there)}"
        )
    train = f"manage.py train {recipe} --corpus … --name NAME, then {metric}[trained=NAME]"
    return f"{reason}; {train}" if reason else f"train a model first: {train}"


def files_of(model: TrainedModel) -> ModelFiles:
    """As accounts name it: ``daily@1a2b3c4d5e6f``; fetched where it is not on this machine. Raises
    ``ModelError``, and ``OSError`` where it cannot be fetched now."""
    if (remote := resources.at_hand().remote_models) is not None:
        remote.fetch(model)
    return ModelFiles(model.name, model.folder, "", model.revision)


def turns_of(model: TrainedModel) -> int:
    """The most utterances of a context that it was trained to look at, the last ones; 0: all."""
    return int(model.config["settings"].get("turns", 0))
