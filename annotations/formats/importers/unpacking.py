"""Makes a plain file or folder of what is packed: zip, tar, gzip, bzip2, xz, Zstandard, Parquet,
Arrow, and JSON in UTF-16.

Members, sizes and ratios are limited, and no member leaves the folder. What is plain stays where it
is.
"""

from __future__ import annotations

import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

from annotations.formats.importers.columnar import is_columnar, rows
from annotations.formats.importers.compression import (
    DAMAGED,
    TooLongError,
    beginning,
    decompressed,
    is_tar,
    open_tar,
)
from annotations.formats.importers.csv_source import UTF16_MARKS
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import NOT_DATA

MAX_MEMBERS = 10_000
MAX_UNPACKED = 4 * 1024**3
MAX_LEVELS = 2
"""Archives within each other."""
MAX_RATIO = 200
"""Of unpacked to packed size beyond ``ALWAYS_ALLOWED``: text packs 3 to 20 times, a bomb 1,000."""
ALWAYS_ALLOWED = 16 * 1024**2
CHUNK = 1024 * 1024
_OFFICE_FILE = re.compile(r"(xl|word|ppt)/|\[Content_Types\]\.xml\Z")


@contextmanager
def unpacked(path: Path, problems: Problems, *, level: int = 0) -> Iterator[Path]:
    """Unpack a file while the context is open.

    Args:
        path: file or folder.
        problems: collects the fault that is raised.
        level: in how many archives the file is, as the only one of each.

    Returns:
        Context manager for: the folder of an archive's members, or its only member; what a
        compressed file holds; JSON in UTF-8; a file of JSON lines with the rows of a Parquet or
        Arrow file; anything else, spreadsheets included, as it is.

    Raises:
        ImportFailed: the file is damaged or encrypted, a member would lie outside the folder, or
            there are more members or bytes than the limits allow.
    """
    if not path.is_file():
        yield path
        return
    with path.open("rb") as file:
        start, suffix = beginning(file, 512)
    is_zip = not suffix and start[:4] == b"PK\x03\x04" and not _is_office_file(path)
    if (is_zip or is_tar(start)) and level < MAX_LEVELS:
        with TemporaryDirectory(prefix="dialeval-archive-") as folder:
            unpack = _unpack_zip if is_zip else _unpack_tar
            files = unpack(path, Path(folder), problems)
            yield from _of_archive(files, Path(folder), problems, level + 1)
    elif suffix:
        with TemporaryDirectory(prefix="dialeval-compressed-") as folder:
            target = Path(folder) / (path.name.removesuffix(suffix) or "file")
            _decompress(path, target, suffix, problems)
            with unpacked_rows(target, problems) as plain:
                yield plain
    elif start[:2] in UTF16_MARKS and _is_json_in_utf16(path):
        with TemporaryDirectory(prefix="dialeval-utf-16-") as folder:
            target = Path(folder) / path.name
            _write_as_utf8(path, target, problems)
            yield target
    else:
        with unpacked_rows(path, problems) as plain:
            yield plain


@contextmanager
def unpacked_rows(path: Path, problems: Problems) -> Iterator[Path]:
    """The same for Parquet and Arrow alone."""
    if not is_columnar(path):
        yield path
        return
    with TemporaryDirectory(prefix="dialeval-rows-") as folder:
        target = Path(folder) / f"{path.stem}.jsonl"
        size = 0
        with target.open("w", encoding="utf-8") as file:
            for row in rows(path, problems):
                size += file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
                if size > MAX_UNPACKED:
                    problems.stop("", "", f"unpacks to more than {MAX_UNPACKED:,} characters")
        yield target


def _is_office_file(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_OFFICE_FILE.match(name) for name in archive.namelist()[:50])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def _of_archive(files: list[Path], folder: Path, problems: Problems, level: int) -> Iterator[Path]:
    if len(files) == 1:
        with unpacked(files[0], problems, level=level) as plain:
            yield plain
        return
    top = folder
    while len(inside := list(top.iterdir())) == 1 and inside[0].is_dir():
        top = inside[0]
    yield top


def _unpack_zip(path: Path, folder: Path, problems: Problems) -> list[Path]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                info
                for info in archive.infolist()
                if not info.is_dir() and not NOT_DATA.search(info.filename)
            ]
            if len(archive.infolist()) > MAX_MEMBERS:
                count = len(archive.infolist())
                problems.stop("", "", f"has {count:,} members; at most {MAX_MEMBERS:,} are taken")
            if not members:
                problems.stop("", "", "is an archive without files")
            left = _allowed(path)
            if sum(info.file_size for info in members) > left:
                problems.stop("", "", f"would unpack to more than {left:,} bytes")
            files = []
            for info in members:
                is_link = stat.S_ISLNK(info.external_attr >> 16)
                target = _inside(folder, info.filename, is_link, problems)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as source:
                    left -= _copy(source, target, left, problems)  # type: ignore[arg-type]
                files.append(target)
            return files
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError),
        *(RuntimeError, NotImplementedError),
    ) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        problems.stop("", "", f"is a damaged archive: {reason or type(error).__name__}")


def _unpack_tar(path: Path, folder: Path, problems: Problems) -> list[Path]:
    allowed = left = _allowed(path)
    files: list[Path] = []
    try:
        with open_tar(path, allowed) as archive:
            for count, info in enumerate(archive, 1):
                if count > MAX_MEMBERS:
                    problems.stop("", "", f"has more than {MAX_MEMBERS:,} members")
                if info.isdir() or NOT_DATA.search(info.name):
                    continue
                target = _inside(folder, info.name, not info.isfile(), problems)
                source = archive.extractfile(info)
                target.parent.mkdir(parents=True, exist_ok=True)
                left -= _copy(source, target, left, problems)  # type: ignore[arg-type]
                files.append(target)
    except TooLongError:
        problems.stop("", "", f"would unpack to more than {allowed:,} bytes")
    except DAMAGED as error:
        problems.stop("", "", f"is a damaged archive: {str(error)[:200]}")
    if not files:
        problems.stop("", "", "is an archive without files")
    return files


def _inside(folder: Path, written: str, is_link: bool, problems: Problems) -> Path:
    """Where a member goes. Paths that lead out of the folder, links and names that no file system
    takes are refused."""
    name = PurePosixPath(written.replace("\\", "/"))
    is_outside = name.is_absolute() or ".." in name.parts or ":" in written
    is_long = len(str(name)) > 1_000 or any(len(part.encode()) > 255 for part in name.parts)
    target = folder / name
    if is_link or is_outside or is_long or target.exists():
        shown = written[:100].encode("ascii", "replace").decode()
        problems.stop("", "", f"has a member that is not taken: {shown!r}")
    return target


def _decompress(path: Path, target: Path, suffix: str, problems: Problems) -> None:
    try:
        with path.open("rb") as file, decompressed(file, suffix) as source:
            _copy(source, target, _allowed(path), problems)
    except DAMAGED as error:
        problems.stop("", "", f"is a damaged archive: {str(error)[:200]}")


def _is_json_in_utf16(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(256)
    return start.decode("utf-16", "replace").lstrip()[:1] in ("[", "{")


def _write_as_utf8(path: Path, target: Path, problems: Problems) -> None:
    """JSON as some shells and editors of Windows save it."""
    try:
        with (
            path.open(encoding="utf-16", newline="") as source,
            target.open("w", encoding="utf-8", newline="") as file,
        ):
            while text := source.read(CHUNK):
                file.write(text)
    except UnicodeError:
        problems.stop("", "", "is not UTF-16, as its first bytes say; save it as UTF-8")


def _allowed(path: Path) -> int:
    return min(MAX_UNPACKED, max(ALWAYS_ALLOWED, path.stat().st_size * MAX_RATIO))


def _copy(source: BinaryIO, target: Path, allowed: int, problems: Problems) -> int:
    """What a header says of a size may be a lie: bytes are counted as they come."""
    written = 0
    with target.open("wb") as file:
        while chunk := source.read(CHUNK):
            written += len(chunk)
            if written > allowed:
                problems.stop("", "", f"would unpack to more than {allowed:,} bytes")
            file.write(chunk)
    return written
