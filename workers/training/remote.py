"""Trained models of other machines, where files lie on a storage that all of them share
(DIALEVAL_STORAGE_URL).

A training sends its model to ``trained/<name>-<revision>/`` before its row is done, ``config.json``
last. Whoever needs it reads that first, and fetches the rest where the model is used: whole,
checked by its digests, and under its name only then, in ``DIALEVAL_HOME/fetched``, which may be
deleted at any time.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from django.conf import settings

from annotations import site_identity
from annotations.site_identity import FileKind
from common import storage
from common.storage import StorageAway
from common.temporary import temporary_folder
from workers.inference.model_files import ModelError
from workers.training import queries
from workers.training.core import checkpoint
from workers.training.core.checkpoint import TrainedModel
from workers.training.models import Training

log = logging.getLogger(__name__)

FETCHED = "fetched"
"""In DIALEVAL_HOME."""


class OnStorage:
    """``workers.inference.resources.RemoteModels``: which models there are, the rows say; what they
    are, the storage."""

    def models(self) -> list[TrainedModel]:
        """Those that can be told of now."""
        rows = (
            Training.objects.filter(state=Training.State.DONE)
            .order_by("name")
            .values_list("name", "revision")
        )
        found = []
        for name, revision in rows:
            try:
                found.append(_described(name, revision))
            except ModelError as fault:
                log.warning("%s", fault)
        return [model for model in found if model is not None]

    def model(self, name: str) -> TrainedModel | None:
        """Only ``config.json`` is read, once. Raises ``ModelError`` where the storage is away."""
        row = (
            Training.objects.filter(state=Training.State.DONE, name=name)
            .values_list("name", "revision")
            .first()
        )
        return None if row is None else _described(*row)

    def fetch(self, model: TrainedModel) -> None:
        """Makes its folder whole; nothing is to be done where it is, or lies on this machine
        anyway. Raises ``StorageAway``, and ``ModelError`` where what came is not what was sent."""
        if model.folder.exists():
            return
        model.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary_folder(beside=model.folder) as folder:
                unfinished = folder / model.name
                unfinished.mkdir()
                for name in (*model.config["files"], checkpoint.CONFIG):
                    with (unfinished / Path(name).name).open("xb") as target:
                        storage.copied(f"{_place(model.name, model.revision)}/{name}", target)
                if checkpoint.read(unfinished).revision != model.revision:
                    raise ModelError(
                        f"what the storage has of the trained model {model.name} is another one"
                    )
                try:
                    unfinished.rename(model.folder)
                except OSError:
                    if not model.folder.exists():  # another process of this machine was quicker
                        raise
        except FileNotFoundError as fault:
            raise ModelError(
                f"the storage does not have all of the trained model {model.name}"
            ) from fault
        except checkpoint.CheckpointError as fault:
            raise ModelError(
                f"what the storage has of the trained model {model.name} is damaged: {fault}"
            ) from fault


def are_shared() -> bool:
    return not storage.lies_on_disk()


def send(name: str, folder: Path, revision: str) -> None:
    """What lies in ``folder`` is there for all machines. May be done again. Raises
    ``StorageAway``."""
    if not are_shared():
        return
    site_identity.check()
    files = [path for path in folder.iterdir() if path.is_file()]
    for path in sorted(files, key=lambda path: path.name == checkpoint.CONFIG):
        storage.put(path, f"{_place(name, revision)}/{path.name}")


def send_all() -> None:
    """Those of this machine that rows name, as after a restore. Raises ``StorageAway``."""
    for name, revision in Training.objects.filter(state=Training.State.DONE).values_list(
        "name", "revision"
    ):
        own = checkpoint.model_in(Path(settings.HOME) / checkpoint.FOLDER, name)
        if own is not None and own.revision == revision:
            send(name, own.folder, revision)


def forget(name: str, revision: str) -> None:
    """Takes a deleted model from the storage. Where that is away, it stays there, and no row leads
    to it."""
    if not are_shared() or not revision:
        return
    path = _place(name, revision)
    try:
        site_identity.check()
        storage.remove(f"{path}/{checkpoint.CONFIG}")
        for file in storage.names_in(path):
            storage.remove(f"{path}/{file}")
    except StorageAway as fault:
        log.warning("the deleted model %s stays on the storage: %s", name, fault)


def known_on_storage(files: Collection[str]) -> set[str]:
    """Those of the files (``NAME-REVISION/FILE``) that a row leads to, or soon may. Others are of a
    training that was taken over after it had sent its model, or of one deleted while the storage
    was away."""
    # Those under way may be sending again. They are read first: one that is done meanwhile is among
    # the next.
    under_way = set(
        Training.objects.filter(state__in=queries.UNDER_WAY).values_list("name", flat=True)
    )
    done = Training.objects.filter(state=Training.State.DONE).values_list("name", "revision")
    known = {_folder(name, revision) for name, revision in done}

    def is_wanted(file: str) -> bool:
        folder = file.partition("/")[0]
        return folder in known or folder.rpartition("-")[0] in under_way

    return set(filter(is_wanted, files))


def _of_rows(column: str) -> Callable[[Collection[str]], set[str]]:
    return lambda names: set(names).intersection(Training.objects.values_list(column, flat=True))


KINDS = (
    FileKind(checkpoint.FOLDER, known_on_storage, grace_seconds=24 * 3600),
    FileKind(checkpoint.FOLDER, _of_rows("name"), in_home=True),
    FileKind(queries.WORK_FOLDER, _of_rows("work"), in_home=True),
)


def _place(name: str, revision: str) -> str:
    return f"{checkpoint.FOLDER}/{_folder(name, revision)}"


def _folder(name: str, revision: str) -> str:
    return f"{name}-{revision}"


def _described(name: str, revision: str) -> TrainedModel | None:
    cached = Path(settings.HOME) / FETCHED / f"{name}-{revision}.json"
    try:
        if not cached.exists():
            cached.parent.mkdir(parents=True, exist_ok=True)
            with temporary_folder(beside=cached) as folder:
                unfinished = folder / cached.name
                with unfinished.open("xb") as target:
                    storage.copied(f"{_place(name, revision)}/{checkpoint.CONFIG}", target)
                unfinished.replace(cached)
        model = TrainedModel(
            name, cached.with_suffix("") / name, json.loads(cached.read_text(encoding="utf-8"))
        )
        return model if model.recipe and model.revision == revision else None
    except FileNotFoundError:
        return None  # it was made before files were shared, or copied to one machine by hand
    except StorageAway as fault:
        why = (
            f"the storage of files does not answer: what the trained model {name} is cannot be told"
        )
        raise ModelError(why) from fault
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
