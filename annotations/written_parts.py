"""Parts of pages as they were last written, kept by each process: a board's drawing and table are half a megabyte of
HTML, and many readers ask for the same.

Only what follows from stored answers and from the address is kept, under a key that holds both (``{% kept %}``): a part
says nothing of who reads it. Whether somebody may see the page is decided before, on every request. A new answer is
another key; what nobody asks for any more falls out.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BYTES = 24_000_000
"""In all, of each process. Compressed they take a sixth of it beside."""
MOST_PARTS = 4_000
"""Addresses are as long and as many as visitors like: parts are found by a digest of them, and small parts are counted,
too."""


class Part:
    """A part as it was written. Whoever sends it compressed keeps that form with it, so that it is not compressed anew
    for every reader."""

    __slots__ = ("deflated", "written")

    def __init__(self, written: bytes) -> None:
        self.written = written
        self.deflated = b""


_parts: OrderedDict[bytes, Part] = OrderedDict()
_lock = threading.Lock()
_size = 0


def part(key: Hashable, write: Callable[[], str]) -> Part:
    """The part of this key, written by ``write`` where it is not kept. Two who ask at once may both write it."""
    place = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).digest()
    with _lock:
        found = _parts.get(place)
        if found is not None:
            _parts.move_to_end(place)
    if found is not None:
        return found
    made = Part(write().encode())
    _keep(place, made)
    return made


def _keep(place: bytes, made: Part) -> None:
    global _size
    if len(made.written) > MOST_BYTES // 8:
        return
    with _lock:
        before = _parts.pop(place, None)
        _parts[place] = made
        _size += len(made.written) - (len(before.written) if before is not None else 0)
        while _size > MOST_BYTES or len(_parts) > MOST_PARTS:
            _, oldest = _parts.popitem(last=False)
            _size -= len(oldest.written)


def forget() -> None:
    global _size
    with _lock:
        _parts.clear()
        _size = 0
