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
"""In all, of each process."""
MOST_PARTS = 4_000
"""Addresses are as long and as many as visitors like: parts are found by a digest of them, and small parts are counted,
too."""

_parts: OrderedDict[bytes, bytes] = OrderedDict()
_lock = threading.Lock()
_size = 0


def part(key: Hashable, write: Callable[[], str]) -> str:
    """The part of this key, written by ``write`` where it is not kept. Two who ask at once may both write it."""
    place = hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).digest()
    with _lock:
        found = _parts.get(place)
        if found is not None:
            _parts.move_to_end(place)
    if found is not None:
        return found.decode()
    written = write()
    _keep(place, written.encode())
    return written


def _keep(place: bytes, written: bytes) -> None:
    global _size
    if len(written) > MOST_BYTES // 8:
        return
    with _lock:
        before = _parts.pop(place, b"")
        _parts[place] = written
        _size += len(written) - len(before)
        while _size > MOST_BYTES or len(_parts) > MOST_PARTS:
            _, oldest = _parts.popitem(last=False)
            _size -= len(oldest)


def forget() -> None:
    global _size
    with _lock:
        _parts.clear()
        _size = 0
