"""Files that people send: where they lie, what is refused at a glance, and that none is left
behind.

A file is written to ``incoming`` on this machine while it comes (``upload_handler``), and moved to
``uploads`` in the storage that all machines share, in the transaction that stores its submission.
What lies in either without a row after an hour is an orphan (``annotations.orphans``): the client
vanished, or the process died between the two.
"""

from __future__ import annotations

import hashlib
import logging
import re
import unicodedata
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotations import site_identity
from annotations.formats.importers.problems import not_text
from annotations.site_identity import FileKind, ForeignFiles
from common import storage
from leaderboard.challenges.models import Submission

log = logging.getLogger(__name__)

LONGEST_FILE_NAME = 200
UPLOADS = "uploads"
"""The folder of the storage."""
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
    """On this machine: what comes."""
    folder = Path(settings.UPLOAD_FOLDER) / "incoming"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def incoming_path() -> Path:
    """A new name below the folder of incoming files; it says nothing of the sender."""
    return incoming_folder() / token_hex(16)


def uploaded(file: UploadedFile) -> Upload:
    """The file of a form as an upload. One that ``upload_handler`` wrote stays where it lies,
    hashed by now."""
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


def stored_name(stored_as: str) -> str:
    return f"{UPLOADS}/{stored_as}"


def opened(submission: Submission) -> IO[bytes]:
    """The bytes that were handed in. Raises ``FileNotFoundError``, ``StorageAway``."""
    return storage.opened(stored_name(submission.stored_as))


def at_hand(submission: Submission) -> AbstractContextManager[Path]:
    """Where the file can be read by path, for as long as it is needed; what comes from a storage
    elsewhere is held against the row's digest. Raises as ``stored_files.at_hand`` does."""
    return storage.at_hand(stored_name(submission.stored_as), submission.sha256)


def move_in(upload: Upload) -> str:
    """Give the upload its lasting place; the name that its row keeps. Call it last in the row's
    transaction, which waits for a storage elsewhere: so no row that is committed names a missing
    file. Raises ``StorageAway``, ``ForeignFiles``."""
    try:
        site_identity.check()
    except ForeignFiles as refusal:
        log.error("an upload is refused: %s", refusal)
        raise
    storage.take_in(upload.path, stored_name(upload.path.name))
    return upload.path.name


def discard(upload: Upload) -> None:
    """Remove a file that nobody took in. One that was moved in stays: its row may be committed, and
    if not, the sweep finds it."""
    upload.path.unlink(missing_ok=True)


def readable_name(given: Any) -> str:
    """What the sender called the file, for reading only: no folders, no control or direction
    characters, cut."""
    last_part = re.split(r"[\\/]", str(given or ""))[-1]
    clean = without_control_signs(last_part).strip()
    stem, dot, ending = clean.rpartition(".")
    if dot and len(clean) > LONGEST_FILE_NAME and len(ending) < 20:
        clean = f"{stem[: LONGEST_FILE_NAME - 1 - len(ending)]}.{ending}"
    return clean[:LONGEST_FILE_NAME] or "unnamed"


def without_control_signs(text: str) -> str:
    """Without what nobody sees: control and direction characters, halves of surrogate pairs,
    private ones. The two joiners stay, which some scripts are not written without."""
    return "".join(
        sign for sign in text if sign in _JOINERS or not unicodedata.category(sign).startswith("C")
    )


def why_not_text(path: Path) -> str:
    """What the first bytes say the file is, where that is no text; "" where it may be one."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if what := not_text(head):
        return what
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is in UTF-16; save it as UTF-8"
    return "is a binary file; give a text file" if b"\0" in head else ""


def known_uploads(names: Collection[str]) -> set[str]:
    """Those of the names that a submission names."""
    some = list(names)
    known: set[str] = set()
    for start in range(0, len(some), 500):
        found = Submission.objects.filter(stored_as__in=some[start : start + 500])
        known.update(found.values_list("stored_as", flat=True))
    return known


FILES = FileKind(UPLOADS, known_uploads, grace_seconds=3600)
"""The grace: from the moment a file is moved in until its row is committed."""
