"""Files that are compressed as a whole: gzip, bzip2, xz, Zstandard."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from typing import BinaryIO

_SUFFIXES = (
    (b"\x1f\x8b", ".gz"),
    (b"BZh", ".bz2"),
    (b"\xfd7zXZ\x00", ".xz"),
    (b"(\xb5/\xfd", ".zst"),
)
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


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
