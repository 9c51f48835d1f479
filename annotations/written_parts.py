"""Parts of pages as they were last written, kept by each process: a board's drawing and table are half a megabyte of
HTML, and many readers ask for the same.

Only what follows from stored answers and from the address is kept, under a key that holds both (``{% kept %}``): a part
says nothing of who reads it. Whether somebody may see the page is decided before, on every request. A new answer is
another key; what nobody asks for any more falls out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BYTES = 24_000_000
"""In all, of each process."""

_parts: OrderedDict[Hashable, bytes] = OrderedDict()
_lock = threading.Lock()
_size = 0


def part(key: Hashable, write: Callable[[], str]) -> str:
    """The part of this key, written by ``write`` where it is not kept. Two who ask at once may both write it."""
    with _lock:
        found = _parts.get(key)
        if found is not None:
            _parts.move_to_end(key)
    if found is not None:
        return found.decode()
    written = write()
    _keep(key, written.encode())
    return written


def _keep(key: Hashable, written: bytes) -> None:
    global _size
    if len(written) > MOST_BYTES // 8:
        return
    with _lock:
        before = _parts.pop(key, b"")
        _parts[key] = written
        _size += len(written) - len(before)
        while _size > MOST_BYTES:
            _, oldest = _parts.popitem(last=False)
            _size -= len(oldest)


def forget() -> None:
    global _size
    with _lock:
        _parts.clear()
        _size = 0
