"""Trained models of other machines, where files lie on a storage that all of them share (DIALEVAL_STORAGE_URL).

A training sends its model to ``trained/<name>-<revision>/`` before its row is done, ``config.json`` last. Whoever
needs it reads that first, and fetches the rest where the model is used: whole, checked by its digests, and under its
name only then, in ``DIALEVAL_HOME/fetched``, which may be deleted at any time.
"""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from django.conf import settings

from annotations import stored_files
from annotations.stored_files import StorageAway
from workers.model_files import ModelError
from workers.training import checkpoint, trained
from workers.training.trained import TrainedModel
from workers.trainings import queries
from workers.trainings.models import Training

log = logging.getLogger(__name__)

FETCHED = "fetched"
"""In DIALEVAL_HOME."""
UNFINISHED = ".fetching-"
FORGOTTEN_AFTER_SECONDS = 24 * 3600
LOOKED_FOR_EVERY_SECONDS = 3600
_looked_at = float("-inf")


class OnStorage:
    """``workers.resources.ModelsElsewhere``: which models there are, the rows say; what they are, the storage."""

    def models(self) -> list[TrainedModel]:
        """Those that can be told of now."""
        rows = Training.objects.filter(state=Training.State.DONE).order_by("name").values_list("name", "revision")
        found = []
        for name, revision in rows:
            try:
                found.append(_described(name, revision))
            except ModelError as fault:
                log.warning("%s", fault)
        return [model for model in found if model is not None]

    def model(self, name: str) -> TrainedModel | None:
        """Only ``config.json`` is read, once. Raises ``ModelError`` where the storage is away."""
        row = Training.objects.filter(state=Training.State.DONE, name=name).values_list("name", "revision").first()
        return None if row is None else _described(*row)

    def fetch(self, model: TrainedModel) -> None:
        """Makes its folder whole; nothing is to be done where it is, or lies on this machine anyway. Raises
        ``StorageAway``, and ``ModelError`` where what came is not what was sent."""
        if model.folder.exists():
            return
        model.folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=model.folder.parent))
        try:
            for name in (*model.config["files"], checkpoint.CONFIG):
                with (unfinished / Path(name).name).open("xb") as target:
                    stored_files.copied(f"{_place(model.name, model.revision)}/{name}", target)
            if checkpoint.read(unfinished).revision != model.revision:
                raise ModelError(f"what the storage has of the trained model {model.name} is another one")
            unfinished.chmod(0o755)
            _give_its_name(unfinished, model.folder)
        except FileNotFoundError as fault:
            raise ModelError(f"the storage does not have all of the trained model {model.name}") from fault
        except checkpoint.CheckpointError as fault:
            raise ModelError(f"what the storage has of the trained model {model.name} is damaged: {fault}") from fault
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def are_shared() -> bool:
    return not stored_files.lies_on_disk()


def send(name: str, folder: Path, revision: str) -> None:
    """What lies in ``folder`` is there for all machines. Raises ``StorageAway``; may be done again."""
    if not are_shared():
        return
    files = [path for path in folder.iterdir() if path.is_file()]
    for path in sorted(files, key=lambda path: path.name == checkpoint.CONFIG):
        stored_files.put(path, f"{_place(name, revision)}/{path.name}")


def send_all() -> None:
    """Those of this machine that rows name, as after a restore. Raises ``StorageAway``."""
    for name, revision in Training.objects.filter(state=Training.State.DONE).values_list("name", "revision"):
        own = trained.model_in(Path(settings.HOME) / trained.FOLDER, name)
        if own is not None and own.revision == revision:
            send(name, own.folder, revision)


def forget(name: str, revision: str) -> None:
    """Takes a deleted model from the storage. Where that is away, it stays there, and no row leads to it."""
    if not are_shared() or not revision:
        return
    place = _place(name, revision)
    try:
        stored_files.remove(f"{place}/{checkpoint.CONFIG}")
        for file in stored_files.names_in(place):
            stored_files.remove(f"{place}/{file}")
    except StorageAway as fault:
        log.warning("the deleted model %s stays on the storage: %s", name, fault)


def sweep() -> None:
    """Now and then in each process of a worker: a look at its own disk, and one question to the storage."""
    global _looked_at
    if time.monotonic() - _looked_at < LOOKED_FOR_EVERY_SECONDS:
        return
    _looked_at = time.monotonic()
    remove_unfinished()
    try:
        remove_forgotten()
    except StorageAway as fault:
        log.warning("forgotten models are looked for another time: %s", fault)


def remove_forgotten(now: float | None = None) -> int:
    """Takes away files of models that no row leads to and that are older than a day: of a training that was taken over
    after it had sent its model, and of one deleted while the storage was away. Returns how many. Raises
    ``StorageAway``."""
    if not are_shared():
        return 0
    before = (time.time() if now is None else now) - FORGOTTEN_AFTER_SECONDS
    files = stored_files.changed_before(trained.FOLDER, before)  # before the rows: what is sent from here on is newer
    # Those under way may be sending again. They are read first: one that is done meanwhile is among the next.
    under_way = set(Training.objects.filter(state__in=queries.UNDER_WAY).values_list("name", flat=True))
    done = Training.objects.filter(state=Training.State.DONE).values_list("name", "revision")
    known = {_folder(name, revision) for name, revision in done}

    def is_wanted(file: str) -> bool:
        folder = file.partition("/")[0]
        return folder in known or folder.rpartition("-")[0] in under_way

    forgotten = [file for file in files if not is_wanted(file)]
    for file in forgotten:
        stored_files.remove(f"{trained.FOLDER}/{file}")
    return len(forgotten)


def remove_unfinished(now: float | None = None) -> int:
    """Takes away what a process of this machine was fetching as it was killed: nothing came for a day. Returns how
    many."""
    before = (time.time() if now is None else now) - FORGOTTEN_AFTER_SECONDS
    removed = 0
    for left in list((Path(settings.HOME) / FETCHED).rglob(f"{UNFINISHED}*")):
        with suppress(FileNotFoundError):  # whoever fetched it has just ended
            if max(path.stat().st_mtime for path in (left, *left.rglob("*"))) >= before:
                continue
            shutil.rmtree(left) if left.is_dir() else left.unlink()
            removed += 1
    return removed


def _place(name: str, revision: str) -> str:
    return f"{trained.FOLDER}/{_folder(name, revision)}"


def _folder(name: str, revision: str) -> str:
    return f"{name}-{revision}"


def _described(name: str, revision: str) -> TrainedModel | None:
    kept = Path(settings.HOME) / FETCHED / f"{name}-{revision}.json"
    try:
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            unfinished = kept.with_name(f"{UNFINISHED}{token_hex(8)}")
            try:
                with unfinished.open("xb") as target:
                    stored_files.copied(f"{_place(name, revision)}/{checkpoint.CONFIG}", target)
                unfinished.replace(kept)
            finally:
                unfinished.unlink(missing_ok=True)
        model = TrainedModel(name, kept.with_suffix("") / name, json.loads(kept.read_text(encoding="utf-8")))
        return model if model.recipe and model.revision == revision else None
    except FileNotFoundError:
        return None  # it was made before files were shared, or copied to one machine by hand
    except StorageAway as fault:
        why = f"the storage of files does not answer: what the trained model {name} is cannot be told"
        raise ModelError(why) from fault
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _give_its_name(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.rename(folder)
    except OSError:
        if not folder.exists():  # another process of this machine was quicker
            raise
