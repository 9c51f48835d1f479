"""Pages as gzip, quickly: a leaderboard of 800 kB takes 20 ms at Django's level, which a reader
waits for. Parts that are kept (``common.cache``) are compressed once, and put between
what is compressed for the reader."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers
from django.utils.text import _get_random_filename

from common.cache import Part

LARGE = 50_000
LEVEL = 1
"""A third of the time; tables, which repeat themselves, become a quarter larger than at level 6."""
STORED_LEVEL = 6
"""Of parts that are compressed once for all readers."""
MIN_CACHED_SIZE = 5_000
"""Bytes of a part, beneath which it is compressed with what stands around it."""
PACKED = ("application/zip", "application/gzip", "image/png")
"""Beginnings of content types that are compressed already: an archive becomes no smaller, and takes
longer to pack than to make."""
FILE_NAME_FOLLOWS = 0x08
HEADER = struct.pack("<BBBBLBB", 0x1F, 0x8B, 8, FILE_NAME_FOLLOWS, 0, 4, 255)
"""Of a gzip file (RFC 1952): deflate, no time, the fastest level, an unknown system."""


class QuickGZip(GZipMiddleware):
    """As Django's, to which it leaves small and streamed answers. It, too, makes the length of what
    is sent vary, so that nobody learns a secret of the page from it (the BREACH attack)."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        # A file of which parts may be asked for (``common.ranges``) is counted in its own bytes
        if response.has_header("Accept-Ranges") or response.get("Content-Type", "").startswith(
            PACKED
        ):
            return response
        if not self._is_large(request, response):
            return super().process_response(request, response)
        patch_vary_headers(response, ("Accept-Encoding",))
        response.content = gzipped(
            response.content, getattr(request, "kept_parts", ()), self.max_random_bytes
        )
        response.headers["Content-Length"] = str(len(response.content))
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):
            response.headers["ETag"] = f"W/{etag}"
        response.headers["Content-Encoding"] = "gzip"
        return response

    def _is_large(self, request: HttpRequest, response: HttpResponse) -> bool:
        return (
            not response.streaming
            and len(response.content) >= LARGE
            and not response.has_header("Content-Encoding")
            and re_accepts_gzip.search(request.META.get("HTTP_ACCEPT_ENCODING", "")) is not None
        )


def gzipped(content: bytes, parts: Iterable[Part], most_random: int) -> bytes:
    """``content`` as a gzip file with a name of random length. ``parts`` are kept parts that it
    holds, in order."""
    name = _get_random_filename(most_random) + b"\x00"
    end = struct.pack("<LL", zlib.crc32(content), len(content) & 0xFFFFFFFF)
    return b"".join((HEADER, name, *_deflated(content, parts), end))


def _deflated(content: bytes, parts: Iterable[Part]) -> Iterator[bytes]:
    """Pieces that end on a byte and refer to nothing before them, so that they can stand one after
    the other."""
    begin = 0
    for part in parts:
        place = content.find(part.written, begin) if len(part.written) >= MIN_CACHED_SIZE else -1
        if place < 0:
            continue
        part.deflated = part.deflated or _deflate(part.written, zlib.Z_SYNC_FLUSH, STORED_LEVEL)
        yield _deflate(content[begin:place], zlib.Z_SYNC_FLUSH)
        yield part.deflated
        begin = place + len(part.written)
    yield _deflate(content[begin:], zlib.Z_FINISH)


def _deflate(piece: bytes, end: int, level: int = LEVEL) -> bytes:
    writer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return writer.compress(piece) + writer.flush(end)
