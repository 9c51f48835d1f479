"""What each web process makes for one reader and keeps for the next, within a bound: what nobody
asks for falls out.

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
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from django.utils.translation import get_language

LEAST_WEIGHT = 2_000
"""In bytes, of what is small, or does not say how much it holds: addresses are as many as visitors
like."""

CachedValue = TypeVar("CachedValue")
Made = TypeVar("Made")


class LRUCache(Generic[CachedValue]):
    """For the threads of one process. Things say how many bytes they hold, by ``weight``; what
    would take more than a quarter of the room is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, tuple[int, CachedValue]] = OrderedDict()
        self._lock = threading.Lock()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], CachedValue]) -> CachedValue:
        """What is kept for this key, made by ``make`` where nothing is. Several readers get the
        same object: nobody changes it. Two who ask at once may both make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made = make()
        self._keep(key, made)
        return made

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._size = 0

    def _keep(self, key: Hashable, made: CachedValue) -> None:
        weight = max(getattr(made, "weight", 0), LEAST_WEIGHT)
        if weight > self._most_bytes // 4:
            return
        with self._lock:
            former = self._kept.pop(key, None)
            self._size += weight - (former[0] if former is not None else 0)
            self._kept[key] = (weight, made)
            while self._size > self._most_bytes:
                _, (oldest, _) = self._kept.popitem(last=False)
                self._size -= oldest


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


_parts: LRUCache[Part] = LRUCache(24_000_000)
_memoized: LRUCache[Any] = LRUCache(48_000_000)


def part(key: Hashable, write: Callable[[], str]) -> Part:
    """The part of this key, written by ``write`` where it is not kept. Addresses are as long as
    visitors like: parts are found by a digest of them."""
    digest = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).digest()
    return _parts.get(digest, lambda: Part(write().encode()))


def memoize(key: Hashable, make: Callable[[], Made]) -> Made:
    """What ``make`` makes, or made before for this key and language. Nobody changes it: others get
    the same object."""
    made: Made = _memoized.get((get_language(), key), make)
    return made


def forget() -> None:
    _parts.forget()
    _memoized.forget()
