"""What a process makes for one reader and keeps for the next, within a bound: what nobody asks for
falls out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

LEAST_WEIGHT = 2_000
"""In bytes, of what is small, or does not say how much it holds: addresses are as many as visitors
like."""

CachedValue = TypeVar("CachedValue")


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
