"""The file of a backup: a tar, compressed by gzip, that is written in one go and read in one go. No
Django here.

    about.json                     what this is: the format's number, who wrote it, when
    tables/<table>/000001.jsonl    rows in parts of a few megabytes; a line is a list of rows, a
                                   row a list of values
    files/uploads/<name>           what was handed in
    models/trained/<name>/…        trained models, where they were asked for; models/training/… what
                                   is not finished
    manifest.json                  columns, rows, the SHA-256 of every member. Half a file lacks it

Whoever reads one takes nothing on trust: names, kinds and sizes of members are checked before a
byte of them is used, and nothing is ever unpacked under a name of its own choice.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from common.temporary import temporary_folder

FORMAT = 1
KIND = "dialeval backup"
ABOUT, MANIFEST = "about.json", "manifest.json"
LARGEST_DOCUMENT = 200_000_000
"""Bytes of ``about.json`` and ``manifest.json``; the second names every file."""
MAX_LINE_BYTES = 1_000_000_000
_BUFFER = 1 << 20
_LEVEL = 3
"""Of gzip: a third of level 9's time for a tenth more bytes."""
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}"
_NAMES = re.compile(
    rf"about\.json|manifest\.json|tables/[a-z0-9_]+/[0-9]{{6,}}\.jsonl|files/uploads/{_SEGMENT}"
    rf"|models/(?:trained|training)(?:/{_SEGMENT})+"
)
_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError)


class ArchiveError(Exception):
    """The file is no backup, not whole, or not what it says; the message is for people."""


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, limit: int = -1, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    size: int
    content: Readable
    """To be read before the next one is asked for."""

    @property
    def parts(self) -> list[str]:
        return self.name.split("/")


class Writer:
    """Adds members; ``digests`` grows with them."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.digests: dict[str, str] = {}

    def add(self, name: str, content: bytes) -> None:
        self.add_file(name, io.BytesIO(content), len(content))

    def add_document(self, name: str, document: dict[str, Any]) -> None:
        self.add(name, json.dumps(document, ensure_ascii=False).encode())

    def add_file(self, name: str, source: IO[bytes], size: int) -> None:
        """Raises ``OSError`` where ``source`` ends before ``size``."""
        if not _NAMES.fullmatch(name):
            raise ValueError(f"a backup has no place for {name!r}")
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        hashed = _Hashed(source)
        self._tar.addfile(member, cast("IO[bytes]", hashed))
        self.digests[name] = hashed.digest


@contextmanager
def written(to: Path) -> Iterator[Writer]:
    """A file that only its owner may read, whole under its name or not there at all; one of that
    name gives way."""
    with temporary_folder(beside=to) as folder:
        unfinished = folder / to.name
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            with (
                gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed,
                tarfile.open(fileobj=packed, mode="w|", bufsize=_BUFFER) as tar,
            ):
                yield Writer(tar)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(unfinished, to)
        _to_disk(to.parent)


def checked(file: IO[bytes], seen: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """The manifest, once every member was read and is what the manifest says. ``seen`` hears the
    bytes of the file that were read. Raises ``ArchiveError``."""
    found: dict[str, str] = {}
    manifest: dict[str, Any] | None = None
    file.seek(0)
    for member in _members(file):
        if manifest is not None:
            raise ArchiveError("the backup goes on after its end")
        if not found and member.name != ABOUT:
            raise ArchiveError("this is no backup of dialeval")
        if member.name in found:
            raise ArchiveError(f"the backup holds {member.name} twice")
        hashed = _Hashed(member.content)
        if member.name == MANIFEST:
            manifest = _document(member, hashed)
            continue
        if member.name == ABOUT:
            _refuse_other_formats(_document(member, hashed))
        while hashed.read(_BUFFER):
            seen(file.tell())
        found[member.name] = hashed.digest
    if manifest is None:
        raise ArchiveError("the backup is not whole: its end is missing")
    _compare(found, manifest)
    return manifest


def members(file: IO[bytes], manifest: dict[str, Any]) -> Iterator[Member]:
    """Those with rows and files, in their order, after ``checked``. Raises ``ArchiveError`` at the
    end of one that has changed since."""
    file.seek(0)
    for member in _members(file):
        if member.name in (ABOUT, MANIFEST):
            continue
        hashed = _Hashed(member.content)
        yield Member(member.name, member.size, hashed)
        while hashed.read(_BUFFER):
            pass
        if hashed.digest != manifest["digests"].get(member.name):
            raise ArchiveError(f"the backup's {member.name} has changed while it was read")


def _members(file: IO[bytes]) -> Iterator[Member]:
    with (
        _damage_reported(),
        gzip.GzipFile(fileobj=file, mode="rb") as packed,
        tarfile.open(fileobj=packed, mode="r|", bufsize=_BUFFER) as tar,
    ):
        for member in tar:
            if not member.isreg() or member.issparse():
                raise ArchiveError(f"the backup holds {member.name[:100]!r}, which is no file")
            if not _NAMES.fullmatch(member.name):
                raise ArchiveError(
                    f"the backup holds {member.name[:100]!r}, for which there is no place"
                )
            content = tar.extractfile(member)
            assert content is not None  # it is a file
            yield Member(member.name, member.size, content)
        while packed.read(_BUFFER):  # to the end of the stream, whose checksum is there
            pass


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as damage:
        raise ArchiveError(
            "the file is no whole backup: it is damaged, cut off, or something else"
        ) from damage


def _document(member: Member, content: _Hashed) -> dict[str, Any]:
    if member.size > LARGEST_DOCUMENT:
        raise ArchiveError(f"the backup's {member.name} is too large")
    try:
        document = json.loads(content.read())
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ArchiveError(f"the backup's {member.name} cannot be read")
    return document


def _refuse_other_formats(about: dict[str, Any]) -> None:
    if about.get("kind") != KIND:
        raise ArchiveError("this is no backup of dialeval")
    if about.get("format") != FORMAT:
        raise ArchiveError(
            f"this backup has format {str(about.get('format'))[:20]}, written by dialeval "
            f"{str(about.get('dialeval'))[:20]}; this dialeval reads format {FORMAT}"
        )


def _compare(found: dict[str, str], manifest: dict[str, Any]) -> None:
    if not all(
        isinstance(manifest.get(part), dict) for part in ("digests", "tables", "migrations")
    ):
        raise ArchiveError("the backup's manifest cannot be read")
    digests: dict[str, str] = manifest["digests"]
    for name in sorted(set(digests) | set(found)):
        if name not in found:
            raise ArchiveError(f"the backup is not whole: {name} is missing")
        if digests.get(name) != found[name]:
            raise ArchiveError(f"the backup is damaged: {name} is not what was written")


class _Hashed:
    """A file that is hashed while it is read."""

    def __init__(self, source: Readable) -> None:
        self._source, self._digest = source, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        with _damage_reported():
            data = self._source.read(size)
        self._digest.update(data)
        return data

    def readline(self, limit: int = -1) -> bytes:
        with _damage_reported():
            data = self._source.readline(limit)
        self._digest.update(data)
        return data

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


def _to_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
