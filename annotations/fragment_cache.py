"""Parts of pages as they were last written, kept by each process: a board's drawing and table are
half a megabyte of HTML, and many readers ask for the same.

Only what follows from stored answers and from the address is kept, under a key that holds both
(``{% kept %}``): a part says nothing of who reads it. Whether somebody may see the page is decided
before, on every request. A new answer is another key; what nobody asks for any more falls out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable

from annotations.lru_cache import LRUCache


class Part:
    """A part as it was written. Whoever sends it compressed keeps that form with it, so that it is
    not compressed anew for every reader."""

    __slots__ = ("deflated", "written")

    def __init__(self, written: bytes) -> None:
        self.written = written
        self.deflated = b""

    @property
    def weight(self) -> int:
        """Compressed it takes a sixth of it beside, which is not counted."""
        return len(self.written)


_place: LRUCache[Part] = LRUCache(24_000_000)


def part(key: Hashable, write: Callable[[], str]) -> Part:
    """The part of this key, written by ``write`` where it is not kept. Addresses are as long as
    visitors like: parts are found by a digest of them."""
    digest = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).digest()
    return _place.get(digest, lambda: Part(write().encode()))


def forget() -> None:
    _place.forget()
