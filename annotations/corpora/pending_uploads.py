"""Files that organisers have uploaded and not imported yet: they stay for a day, for who sent them,
so that none is chosen twice. ``annotations.orphans`` removes older ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from django.core import signing

from common import storage
from common.temporary import temporary_folder

FOLDER = "imports"
MAX_AGE = 24 * 3600
"""Seconds."""
_SALT = "annotations.corpora.pending_uploads"


@dataclass(frozen=True, slots=True)
class PendingUpload:
    """A file that was sent. ``token`` is for the form, and good for its sender alone."""

    stored: str
    name: str
    token: str
    source: str = ""
    """The address that it was downloaded from."""


def store(path: Path, name: str, user: Any, source: str = "") -> PendingUpload:
    """Take in a file that was sent as ``name`` or comes from ``source``. Raises
    ``StorageAway``."""
    stored = f"{FOLDER}/{token_hex(16)}"
    storage.put(path, stored)
    signed = {"stored": stored, "name": name[:255], "user": user.pk, "source": source}
    return PendingUpload(stored, name[:255], signing.dumps(signed, salt=_SALT), source)


def find(token: str, user: Any) -> PendingUpload | None:
    """The file of a form; None where it is another's, or has been removed."""
    try:
        signed = signing.loads(token, salt=_SALT, max_age=MAX_AGE)
    except signing.BadSignature:
        return None
    if signed["user"] != user.pk or not storage.is_there(signed["stored"]):
        return None
    return PendingUpload(signed["stored"], signed["name"], token, signed.get("source", ""))


@contextmanager
def readable(file: PendingUpload) -> Iterator[Path]:
    """The file under its own name, which some formats go by."""
    with storage.at_hand(file.stored) as path, temporary_folder() as folder:
        name = re.sub(r"[^\w. -]", "_", Path(file.name.replace("\\", "/")).name)[-100:].lstrip(".")
        link = folder / (name or "file")
        link.symlink_to(path.resolve())
        yield link


def remove(file: PendingUpload) -> None:
    """After it was stored as a corpus."""
    with suppress(OSError):
        storage.remove(file.stored)
