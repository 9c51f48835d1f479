"""Files that all machines of a site share: below DIALEVAL_HOME/files, or on S3-compatible storage.

DIALEVAL_STORAGE_URL says which. Names are the site's own, ``folder/name``, never a sender's. On
disk a file comes and is read where it lies; on S3 it is sent and fetched whole. What a storage
elsewhere says when it fails becomes ``StorageAway``.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, storages

from common.temporary import temporary_folder

log = logging.getLogger(__name__)


PROBES = "answers"
"""The folder of the storage in which ``storage_fault`` tries whether it takes a file."""


class StorageAway(OSError):
    """The storage of files does not answer, or refuses. The message names no key; what it keeps is
    not lost."""


class NotWhole(OSError):
    """What came from the storage is not what was put there."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """``name`` below the folder that was listed; ``written`` in seconds since 1970."""

    name: str
    written: float
    size: int


def lies_on_disk() -> bool:
    return isinstance(_storage(), FileSystemStorage)


def take_in(path: Path, name: str) -> None:
    """The file at ``path`` becomes ``name``, and is at ``path`` no more. Raises ``StorageAway``."""
    if lies_on_disk():
        place = Path(_storage().path(name))
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.replace(path, place)
        except OSError as fault:
            if fault.errno != errno.EXDEV:
                raise
        else:
            return
    put(path, name)
    path.unlink(missing_ok=True)


def put(path: Path, name: str) -> None:
    """A copy of the file at ``path`` becomes ``name``, in the place of one that is there. Raises
    ``StorageAway``."""
    if lies_on_disk():
        place = Path(_storage().path(name))
        place.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(beside=place) as folder:
            shutil.copyfile(path, folder / place.name)
            os.replace(folder / place.name, place)
        return
    with _fault_messages(), path.open("rb") as file:
        _storage().save(name, File(file))


# --- a file that comes in parts -------------------------------------------------------------------


def begin_parts(name: str) -> str:
    """A file that will be appended to; on S3 it is there when all of it is. Returns the upload's id
    there, which the other functions need. Raises ``StorageAway``."""
    if lies_on_disk():
        place = Path(_storage().path(name))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        return ""
    with _fault_messages():
        return str(_client().create_multipart_upload(**_where(name))["UploadId"])


def append_part(name: str, upload_id: str, number: int, offset: int, data: bytes) -> None:
    """The part ``number``, from 0, which begins at ``offset``; sent again, it replaces itself and
    what came after it. Raises ``FileNotFoundError``, ``StorageAway``, ``OSError``."""
    if lies_on_disk():
        with Path(_storage().path(name)).open("r+b") as file:
            if file.seek(0, os.SEEK_END) < offset:
                raise NotWhole(f"the storage's {name} is shorter than what was put there")
            file.truncate(offset)
            file.seek(offset)
            file.write(data)
        return
    with _fault_messages(name):
        _client().upload_part(**_where(name), UploadId=upload_id, PartNumber=number + 1, Body=data)


def complete_parts(name: str, upload_id: str) -> None:
    """Raises ``FileNotFoundError``, ``StorageAway``."""
    if lies_on_disk():
        return
    client = _client()
    with _fault_messages(name):
        pages = client.get_paginator("list_parts").paginate(**_where(name), UploadId=upload_id)
        found = [
            {"PartNumber": one["PartNumber"], "ETag": one["ETag"]}
            for page in pages
            for one in page.get("Parts", [])
        ]
        client.complete_multipart_upload(
            **_where(name), UploadId=upload_id, MultipartUpload={"Parts": found}
        )


def abandon_parts(name: str, upload_id: str) -> None:
    """Remove what came of a file that is not complete. Raises ``StorageAway``."""
    if lies_on_disk():
        remove(name)
        return
    with suppress(FileNotFoundError), _fault_messages(name):
        _client().abort_multipart_upload(**_where(name), UploadId=upload_id)


def opened(name: str) -> IO[bytes]:
    """Whole, before the first byte is given away. Raises ``FileNotFoundError``, ``StorageAway``."""
    with _fault_messages():
        file = _storage().open(name, "rb")
        # Of S3 the file is fetched here, to memory and beyond a megabyte to disk
        fetched: IO[bytes] = file.file
        fetched.seek(0)
        return fetched


@contextmanager
def at_hand(name: str, sha256: str = "") -> Iterator[Path]:
    """Where the file can be read by path: on disk where it lies, else a copy for as long as it is
    needed, held against ``sha256``. Raises ``FileNotFoundError``, ``StorageAway``, ``NotWhole``."""
    if lies_on_disk():
        path = Path(_storage().path(name))
        path.open("rb").close()  # raises what is wrong with it here, not in the middle
        yield path
        return
    with temporary_folder() as folder:
        copy = folder / "copy"
        with copy.open("xb") as target:
            digest = copied(name, target)
        if sha256 and digest != sha256:
            raise NotWhole(f"the storage's {name} is not what was put there")
        yield copy


def copied(name: str, target: IO[bytes]) -> str:
    """Writes the file to ``target``; its SHA-256. Raises ``FileNotFoundError``, ``StorageAway``."""
    digest = hashlib.sha256()
    with opened(name) as source:
        while chunk := source.read(1 << 20):
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def remove(name: str) -> None:
    """What is not there is removed already. Raises ``StorageAway``."""
    with _fault_messages(), suppress(FileNotFoundError):
        _storage().delete(name)


def is_there(name: str) -> bool:
    with _fault_messages():
        return bool(_storage().exists(name))


def move(name: str, to: str) -> None:
    """The file ``name`` becomes ``to``; on S3 it is copied there before it is removed here, so that
    at every moment one of the two is whole. Raises ``FileNotFoundError``, ``FileExistsError``,
    ``StorageAway``."""
    if is_there(to):
        raise FileExistsError(to)
    storage = _storage()
    if lies_on_disk():
        place = Path(storage.path(to))
        place.parent.mkdir(parents=True, exist_ok=True)
        Path(storage.path(name)).rename(place)
        return
    if not is_there(name):
        raise FileNotFoundError(name)
    with _fault_messages():
        storage.bucket.copy(_where(name), _key(to))
        storage.delete(name)


def read(name: str) -> bytes | None:
    """A small file's content; None where there is none. Raises ``StorageAway``."""
    try:
        with opened(name) as file:
            return file.read()
    except FileNotFoundError:
        return None


def create(name: str, content: bytes) -> None:
    """A small file, whole, unless there is one of that name: of two who ask at once one writes it,
    and both read the same (``read`` it afterwards). Raises ``StorageAway``, ``OSError``."""
    storage = _storage()
    if lies_on_disk():
        create_on_disk(Path(storage.path(name)), content)
        return
    from botocore.exceptions import ClientError

    put = _client().put_object
    where = {**_where(name), "Body": content}
    with _fault_messages():
        try:
            put(**where, IfNoneMatch="*")
        except ClientError as refusal:
            code = refusal.response["Error"]["Code"]
            if code == "NotImplemented":  # by a store that knows no conditions
                if not storage.exists(name):
                    put(**where)
            elif code not in ("PreconditionFailed", "ConditionalRequestConflict", "412", "409"):
                raise


def create_on_disk(place: Path, content: bytes) -> None:
    """As ``create``. Raises ``OSError``."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(beside=place) as folder:
        (folder / place.name).write_bytes(content)
        with suppress(FileExistsError):
            os.link(folder / place.name, place)  # whole, and never in the place of another


def names_in(folder: str) -> list[str]:
    """Names of files below the folder, as ``name`` or ``below/name``."""
    return [file.name for file in listed(folder)]


def listed(folder: str) -> Iterator[StoredFile]:
    """All files below the folder. Raises ``StorageAway``."""
    if lies_on_disk():
        root = Path(_storage().path(folder))
        for path in root.rglob("*") if root.is_dir() else ():
            with suppress(OSError):
                if path.is_file():
                    found = path.stat()
                    name = path.relative_to(root).as_posix()
                    yield StoredFile(name, found.st_mtime, found.st_size)
        return
    storage: Any = _storage()
    prefix = f"{_key(folder)}/"
    with _fault_messages():
        for found in storage.bucket.objects.filter(Prefix=prefix):
            written: datetime = found.last_modified
            yield StoredFile(found.key.removeprefix(prefix), written.timestamp(), found.size)


def _key(name: str) -> str:
    """Of S3: with the prefix of DIALEVAL_STORAGE_URL."""
    return "/".join(part for part in (_storage().location.strip("/"), name) if part)


def _where(name: str) -> dict[str, str]:
    return {"Bucket": _storage().bucket_name, "Key": _key(name)}


def _client() -> Any:
    return _storage().bucket.meta.client


def storage_fault() -> str:
    """Why no file can be put here now, in words without secrets; "" where one can."""
    name = f"{PROBES}/{token_hex(8)}"
    try:
        if lies_on_disk():
            place = Path(_storage().path(name))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"?")
        else:
            with _fault_messages():
                _storage().save(name, ContentFile(b"?"))
        remove(name)
    except OSError as fault:
        return str(fault.strerror or fault)
    return ""


def _storage() -> Any:
    return storages["default"]


@contextmanager
def _fault_messages(upload: str = "") -> Iterator[None]:
    """What is raised by whoever speaks with a storage elsewhere, as one kind. ``FileNotFoundError``
    stays, and is raised where there is no ``upload`` (any more)."""
    if lies_on_disk():
        yield
        return
    try:
        yield
    except _faults() as fault:
        code = getattr(fault, "response", {}).get("Error", {}).get("Code")
        if upload and code == "NoSuchUpload":
            raise FileNotFoundError(upload) from fault
        log.warning("the storage of files: %s", fault)
        raise StorageAway("the storage of files does not answer, or refuses") from fault


@cache
def _faults() -> tuple[type[Exception], ...]:
    # A tenth of a second that a site without S3 does not spend
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    return (Boto3Error, BotoCoreError, ClientError)
