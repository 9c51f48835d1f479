"""What each web process makes for one reader and keeps for the next, within a bound: what nobody
asks for falls out. ``DIALEVAL_PAGE_CACHE_MB`` bounds it, with the stored answers of the leaderboard
(``leaderboard.results.answer_cache``).

``part`` keeps parts of pages as they were last written (a board's drawing and table are half a
megabyte of HTML), ``memoize`` what they are put together from: a board is thousands of cells, and
every order and choice of columns that a reader asks for is made of the same ones.

Only what follows from stored answers and from the address is kept, under a key that holds both: it
says nothing of who reads it. Whether somebody may see the page is decided before, on every request.
A new answer is another key.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cachetools import LRUCache, cached
from django.conf import settings
from django.utils.translation import get_language

LEAST_WEIGHT = 2_000
"""In bytes, of what is small, or does not say how much it holds: addresses are as many as visitors
like."""

Made = TypeVar("Made")


def lru_cache_of_bytes(most_bytes: int) -> Callable[[Hashable, Callable[[], Any]], Any]:
    """A cache for the threads of one process: from a key and what makes its value to the value,
    made where none is cached. Several readers get the same object: nobody changes it. Two who ask
    at once may both make it, and both get the first.

    Values say how many bytes they hold, by ``weight``; what would take more than a quarter of the
    cache is not cached.
    """

    def weight_of(made: object) -> int:
        weight: int = max(getattr(made, "weight", 0), LEAST_WEIGHT)
        return weight if weight <= most_bytes // 4 else most_bytes + 1

    @cached(LRUCache(most_bytes, weight_of), key=lambda key, _: key, lock=threading.Lock())
    def get(_: Hashable, make: Callable[[], Any]) -> Any:
        return make()

    return get


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


SHARE_OF_ANSWERS = 0.64
SHARE_OF_MEMOIZED = 0.24
SHARE_OF_PARTS = 0.12


def share_of_page_cache(share: float) -> int:
    """In bytes."""
    return int(share * settings.PAGE_CACHE_BYTES)


_parts = lru_cache_of_bytes(share_of_page_cache(SHARE_OF_PARTS))
_memoized = lru_cache_of_bytes(share_of_page_cache(SHARE_OF_MEMOIZED))


def part(key: Hashable, write: Callable[[], str]) -> Part:
    """The part of this key, written by ``write`` where it is not kept. Addresses are as long as
    visitors like: parts are found by a digest of them."""
    digest = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).digest()
    found: Part = _parts(digest, lambda: Part(write().encode()))
    return found


def memoize(key: Hashable, make: Callable[[], Made]) -> Made:
    """What ``make`` makes, or made before for this key and language. Nobody changes it: others get
    the same object."""
    made: Made = _memoized((get_language(), key), make)
    return made


def forget() -> None:
    _parts.cache_clear()
    _memoized.cache_clear()
