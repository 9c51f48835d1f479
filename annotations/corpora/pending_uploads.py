"""Files that organisers have uploaded and not imported yet: they stay for a day, for who sent them,
so that none is chosen twice; and as long as a worker has to read them, or further parts may come
(``partial_uploads``). ``annotations.orphans`` removes the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

from django.core import signing
from django.db.models import Q
from django.utils import timezone

from annotations.models import CorpusImport, PartialUpload
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
    """Take in a file that was sent as ``name`` or comes from ``source``; it is at ``path`` no more.
    Raises ``StorageAway``."""
    stored = f"{FOLDER}/{token_hex(16)}"
    storage.take_in(path, stored)
    return offered(stored, name, user, source)


def offered(stored: str, name: str, user: Any, source: str = "") -> PendingUpload:
    """A file that is stored, to a user."""
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


def needed() -> set[str]:
    """Names, below ``FOLDER``, of files that are still coming, that an import will read, or that
    may be chosen again after one that ended without a corpus."""
    under_way = Q(state__in=[CorpusImport.State.PENDING, CorpusImport.State.RUNNING])
    ended = Q(state__in=[CorpusImport.State.FAILED, CorpusImport.State.CANCELLED])
    lately = ended & Q(finished_at__gt=timezone.now() - timedelta(seconds=MAX_AGE))
    names = CorpusImport.objects.filter(under_way | lately).values_list("stored", flat=True)
    coming = PartialUpload.objects.filter(expires_at__gt=timezone.now())
    return {
        *(name.removeprefix(f"{FOLDER}/") for name in names),
        *coming.values_list("public_id", flat=True),
    }


def remove(file: PendingUpload) -> None:
    """After it was stored as a corpus."""
    PartialUpload.objects.filter(public_id=file.stored.removeprefix(f"{FOLDER}/")).delete()
    with suppress(OSError):
        storage.remove(file.stored)
