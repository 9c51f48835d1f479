"""Files that are compressed as a whole (gzip, bzip2, xz, Zstandard), and tar archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SUFFIXES = (
    (b"\x1f\x8b", ".gz"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ\x00", ".xz"),
    (b"(\xb5/\xfd", ".zst"),
)
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, tarfile.TarError)


def compression_of(start: bytes) -> str:
    """How a file is compressed.

    Args:
        start: its first bytes; 8 are enough.

    Returns:
        The ending that such a file has; "" where it is not compressed.
    """
    return next((suffix for mark, suffix in _SUFFIXES if start.startswith(mark)), "")


def decompressed(file: BinaryIO, suffix: str) -> io.BufferedReader:
    """Read a compressed file.

    Args:
        file: at its start.
        suffix: of ``compression_of``.

    Returns:
        What it holds. Reading raises one of ``DAMAGED`` where it is cut or damaged.
    """
    if suffix == ".gz":
        return io.BufferedReader(gzip.GzipFile(fileobj=file))
    if suffix == ".bz2":
        return io.BufferedReader(bz2.BZ2File(file))
    if suffix == ".xz":
        return io.BufferedReader(lzma.LZMAFile(file))
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"))


def beginning(file: BinaryIO, most: int) -> tuple[bytes, str]:
    """The first bytes of what a file holds.

    Args:
        file: at its start; it may be cut anywhere.
        most: how many bytes to read at most.

    Returns:
        (the bytes, decompressed; the ending of ``compression_of``). Fewer where the file is cut or
        damaged behind them.
    """
    start = file.read(most)
    suffix = compression_of(start)
    if not suffix:
        return start, ""
    file.seek(0)
    parts: list[bytes] = []
    try:
        with decompressed(file, suffix) as source:
            while (left := most - sum(map(len, parts))) and (part := source.read1(left)):
                parts.append(part)
    except DAMAGED:
        pass
    return b"".join(parts), suffix


def is_tar(start: bytes) -> bool:
    """Whether the first bytes of a file, decompressed, are those of a tar archive."""
    return start[257:262] == b"ustar"


class TooLongError(OSError):
    """A file holds more than its reader takes."""


class _Limited(io.RawIOBase):
    """Raises where more is read than is allowed: a header of an archive may lie about its size."""

    def __init__(self, file: BinaryIO, allowed: int) -> None:
        self.file, self.left = file, allowed

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(min(size, self.left + 1) if size >= 0 else self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise TooLongError
        return data


@contextmanager
def open_tar(path: Path, allowed: int) -> Iterator[tarfile.TarFile]:
    """Read a tar archive from its beginning to its end, once.

    Args:
        path: archive, compressed or not.
        allowed: bytes that it may hold; reading more raises ``TooLongError``.

    Returns:
        Context manager for the archive. Reading raises one of ``DAMAGED`` where it is damaged.
    """
    with path.open("rb") as file:
        suffix = compression_of(file.read(8))
        file.seek(0)
        source = decompressed(file, suffix) if suffix else file
        limited: BinaryIO = _Limited(source, allowed)  # type: ignore[assignment]
        with tarfile.open(fileobj=limited, mode="r|") as archive:
            yield archive
