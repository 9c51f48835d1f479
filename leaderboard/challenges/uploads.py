"""Files that people send: where they lie, what is refused at a glance, and that none is left behind.

A file is written to ``incoming`` while it comes (``upload_handler``), and moved to ``uploads`` in the transaction that
stores its submission. What lies in either folder without a row is removed by the sweep after an hour: the client
vanished, or the process died between the two.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from leaderboard.challenges.files.formats import not_text
from leaderboard.challenges.models import Submission

LONGEST_FILE_NAME = 200
FORGOTTEN_AFTER_SECONDS = 3600
_HEAD_BYTES = 512
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has arrived and is nobody's yet: hand it to ``receive`` or ``discard`` it."""

    path: Path
    file_name: str
    size: int
    sha256: str


def incoming_folder() -> Path:
    return _folder("incoming")


def uploads_folder() -> Path:
    return _folder("uploads")


def _folder(name: str) -> Path:
    folder = settings.UPLOAD_FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def incoming_path() -> Path:
    """A new name below the folder of incoming files; it says nothing of the sender."""
    return incoming_folder() / token_hex(16)


def uploaded(file: UploadedFile) -> Upload:
    """The file of a form as an upload. One that ``upload_handler`` wrote stays where it lies, hashed by now."""
    keep = getattr(file, "keep", None)
    if keep is not None:
        path, sha256 = keep()
        return Upload(path, readable_name(file.name), file.size or 0, sha256)
    return _written(file.chunks(), file.name)


def upload_from_bytes(data: bytes, file_name: str) -> Upload:
    return _written([data], file_name)


def _written(chunks: Iterable[bytes], file_name: str | None) -> Upload:
    path, digest, size = incoming_path(), hashlib.sha256(), 0
    try:
        with path.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Upload(path, readable_name(file_name), size, digest.hexdigest())


def stored_path(submission: Submission) -> Path:
    return uploads_folder() / submission.stored_as


def move_in(upload: Upload) -> str:
    """Give the upload its lasting place; the name that its row keeps. Call it last in the row's transaction."""
    os.replace(upload.path, uploads_folder() / upload.path.name)
    return upload.path.name


def discard(upload: Upload) -> None:
    """Remove a file that nobody took in. One that was moved in stays: its row may be committed, and if not, the sweep
    finds it."""
    upload.path.unlink(missing_ok=True)


def readable_name(given: Any) -> str:
    """What the sender called the file, for reading only: no folders, no control or direction characters, cut."""
    last_part = re.split(r"[\\/]", str(given or ""))[-1]
    clean = without_control_signs(last_part).strip()
    stem, dot, ending = clean.rpartition(".")
    if dot and len(clean) > LONGEST_FILE_NAME and len(ending) < 20:
        clean = f"{stem[: LONGEST_FILE_NAME - 1 - len(ending)]}.{ending}"
    return clean[:LONGEST_FILE_NAME] or "unnamed"


def without_control_signs(text: str) -> str:
    """Without what nobody sees: control and direction characters, halves of surrogate pairs, private ones. The two
    joiners stay, which some scripts are not written without."""
    return "".join(sign for sign in text if sign in _JOINERS or not unicodedata.category(sign).startswith("C"))


def why_not_text(path: Path) -> str:
    """What the first bytes say the file is, where that is no text; "" where it may be one."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if what := not_text(head):
        return what
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is in UTF-16; save it as UTF-8"
    return "is a binary file; give a text file" if b"\0" in head else ""


def remove_forgotten(now: float | None = None) -> int:
    """Remove files that are older than an hour and belong to no submission. Returns how many."""
    before = (time.time() if now is None else now) - FORGOTTEN_AFTER_SECONDS
    old = [path for path in incoming_folder().iterdir() if _changed_before(path, before)]
    old_uploads = [path for path in uploads_folder().iterdir() if _changed_before(path, before)]
    names = [path.name for path in old_uploads]
    known: set[str] = set()
    for start in range(0, len(names), 500):
        some = Submission.objects.filter(stored_as__in=names[start : start + 500])
        known.update(some.values_list("stored_as", flat=True))
    forgotten = old + [path for path in old_uploads if path.name not in known]
    for path in forgotten:
        path.unlink(missing_ok=True)
    return len(forgotten)


def _changed_before(path: Path, moment: float) -> bool:
    with suppress(OSError):
        return path.is_file() and path.stat().st_mtime < moment
    return False
