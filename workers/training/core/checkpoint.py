"""A training's checkpoints, and trained models by name: folders that are written whole or not at
all, checked by hash and read without unpickling.

    weights.safetensors   the model's parameters and buffers, by their names in its ``state_dict``
    state.safetensors     what resuming needs beside them: the optimiser's averages, the generators'
                          states
    config.json           the recipe, its settings, the data's signature, curves, the SHA-256 of
                          every other file
    …                     what the recipe adds: the encoder's configuration, its tokenizer

``config.json`` ends with "sha256", over the rest of itself as canonical JSON. As that holds the
other files' digests, it tells this checkpoint from any other.

A trained model is a folder ``DIALEVAL_HOME/trained/<name>/``, written by ``making.make``. It knows
nothing of the site that made it: copied to another one, it is a model there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.temporary import put_in_place, temporary_folder

if TYPE_CHECKING:
    import torch

WEIGHTS = "weights.safetensors"
STATE = "state.safetensors"
CONFIG = "config.json"
STEP, BEST = "step-", "best-"
_SHORT_DIGITS = 12


class CheckpointError(RuntimeError):
    """A checkpoint is not there, not whole or not what it says; the message is for people."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One that was checked: every file is what ``config.json`` says."""

    folder: Path
    config: Mapping[str, Any]
    sha256: str

    @property
    def revision(self) -> str:
        """The first digits of its hash, as they stand in signatures."""
        return self.sha256[:_SHORT_DIGITS]

    @property
    def is_resumable(self) -> bool:
        return STATE in self.config["files"]

    def weights(self) -> dict[str, torch.Tensor]:
        """On the CPU."""
        return _tensors(self.folder / WEIGHTS)

    def state(self) -> dict[str, torch.Tensor]:
        """On the CPU. Raises ``CheckpointError`` where the checkpoint holds weights only."""
        if not self.is_resumable:
            raise CheckpointError(f"the checkpoint {self.folder.name} has no state to resume from")
        return _tensors(self.folder / STATE)


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a training goes on with; on the CPU."""

    checkpoint: Checkpoint
    weights: Mapping[str, torch.Tensor]
    state: Mapping[str, torch.Tensor]


def write(
    folder: Path,
    weights: Mapping[str, torch.Tensor],
    config: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
    state: Mapping[str, torch.Tensor] | None = None,
) -> Checkpoint:
    """Writes beside ``folder`` and gives it its name at the end; a checkpoint of that name gives
    way.

    ``config``: JSON values; "files" and "sha256" are added. ``files``: what the recipe adds, by
    name.
    """
    from safetensors.torch import save_file

    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(beside=folder) as temporary:
        unfinished = temporary / folder.name
        unfinished.mkdir()
        save_file(_own_memory(weights), unfinished / WEIGHTS)
        if state is not None:
            save_file(_own_memory(state), unfinished / STATE)
        for name, content in (files or {}).items():
            if name in (WEIGHTS, STATE, CONFIG) or Path(name).name != name:
                raise ValueError(f"a recipe's file cannot be called {name!r}")
            (unfinished / name).write_bytes(content)
        digests = {file.name: _digest(file) for file in sorted(unfinished.iterdir())}
        whole = {**config, "files": digests}
        digest = hashlib.sha256(_canonical(whole)).hexdigest()
        text = json.dumps(
            {**whole, "sha256": digest}, indent=1, ensure_ascii=False, allow_nan=False
        )
        (unfinished / CONFIG).write_text(text + "\n", encoding="utf-8")
        for file in unfinished.iterdir():
            _to_disk(file)
        put_in_place(unfinished, folder)
        _to_disk(folder.parent)
    return Checkpoint(folder, json.loads(text), digest)


def read(folder: Path) -> Checkpoint:
    """Raises ``CheckpointError`` where a file is missing or differs from what ``config.json`` says
    of it."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        stored_digest = config.pop("sha256")
        digests = dict(config["files"])
    except OSError as error:
        raise CheckpointError(
            f"{folder.name} is no checkpoint: {CONFIG} cannot be read ({error.strerror})"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(
            f"the checkpoint {folder.name} is damaged: {CONFIG} is not whole"
        ) from error
    if hashlib.sha256(_canonical(config)).hexdigest() != stored_digest:
        raise CheckpointError(
            f"the checkpoint {folder.name} is damaged: {CONFIG} is not what was written"
        )
    if WEIGHTS not in digests:
        raise CheckpointError(f"the checkpoint {folder.name} has no weights")
    for name, digest in digests.items():
        file = folder / name
        try:
            found = _digest(file)
        except OSError as error:
            raise CheckpointError(
                f"the checkpoint {folder.name} is not whole: {name} cannot be read"
            ) from error
        if found != digest:
            raise CheckpointError(
                f"the checkpoint {folder.name} is damaged: {name} is not what was written"
            )
    return Checkpoint(folder, {**config, "sha256": stored_digest}, str(stored_digest))


def newest(parent: Path) -> Checkpoint | None:
    """The whole checkpoint of the highest step, to resume from; those that are not whole are passed
    over. Where others came or went meanwhile, as when the worker before this one still writes its
    last, it is looked for again."""
    seen: list[Path] = []
    while (there := _newest_first(parent, STEP)) != seen:
        for folder in there:
            try:
                return read(folder)
            except CheckpointError:
                continue
        seen = there
    return None


def to_go_on_from(parent: Path) -> Resumed | None:
    """The newest one with all that it holds, read at once: ``tidy`` of another process may take it
    away at any time. Raises ``CheckpointError`` where it is there and cannot be read."""
    while (found := newest(parent)) is not None:
        try:
            return Resumed(found, found.weights(), found.state())
        except CheckpointError:
            if found.folder.exists():
                raise
    return None


def best(parent: Path) -> Checkpoint | None:
    """The one with the best validation so far, as the newest checkpoint names it; None before the
    first validation. Raises ``CheckpointError`` where it is not whole."""
    last = newest(parent)
    return (
        read(parent / name_of(last.config["best"]["step"], BEST))
        if last and last.config["best"]
        else None
    )


def name_of(step: int, prefix: str = STEP) -> str:
    return f"{prefix}{step:08d}"


def tidy(parent: Path, keep: int, best_step: int | None) -> None:
    """Removes all but the ``keep`` newest to resume from and the best one of ``best_step``. For
    when a checkpoint that names this best one is written: until then the one before may be
    needed."""
    best_checkpoint = None if best_step is None else name_of(best_step, BEST)
    others = [folder for folder in _newest_first(parent, BEST) if folder.name != best_checkpoint]
    for folder in [*_newest_first(parent, STEP)[keep:], *others]:
        shutil.rmtree(folder, ignore_errors=True)


def _newest_first(parent: Path, prefix: str) -> list[Path]:
    return sorted(
        (folder for folder in _folders(parent) if folder.name.startswith(prefix)), reverse=True
    )


def _folders(parent: Path) -> Iterator[Path]:
    return (
        (folder for folder in parent.iterdir() if folder.is_dir()) if parent.is_dir() else iter(())
    )


def _own_memory(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """safetensors refuses tensors that share memory, as tied weights do: each gets its own."""
    import torch

    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }


def _tensors(file: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    try:
        tensors: dict[str, torch.Tensor] = load_file(file)
    except Exception as error:  # its own kind, which is no OSError
        raise CheckpointError(f"the checkpoint's {file.name} cannot be read") from error
    return tensors


def _canonical(config: Mapping[str, Any]) -> bytes:
    return json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
