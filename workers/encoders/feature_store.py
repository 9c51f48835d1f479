"""What was computed from texts, remembered between processes and runs: one file, as large as it may be, no larger.

An entry is a small float32 array under (namespace, text). The namespace says what made it: model revision, layer, kind.
Two processes may read and write at once. A store that cannot be used (a full disk, a damaged file) makes everything
slower, never wrong: what fails is logged and computed anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers import resources


class FeatureStore:
    """``folder`` None: nothing is kept on disk, only up to ``memory_bytes`` in this process."""

    def __init__(self, folder: Path | None, max_bytes: int, memory_bytes: int = 256_000_000) -> None:
        self._memory: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._bytes = 0
        self._memory_bytes = memory_bytes

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Those of ``keys`` that are known."""
        found = {}
        for key in keys:
            entry = self._memory.get((namespace, key))
            if entry is not None:
                self._memory.move_to_end((namespace, key))
                found[key] = entry
        return found

    def put_many(self, namespace: str, entries: Mapping[str, NDArray[np.float32]]) -> None:
        """What was there before under a key stays: equal inputs have equal features."""
        for key, values in entries.items():
            if (namespace, key) not in self._memory:
                entry = np.array(values, dtype=np.float32)
                self._memory[namespace, key] = entry
                self._bytes += entry.nbytes
        while self._bytes > self._memory_bytes:
            self._bytes -= self._memory.popitem(last=False)[1].nbytes


def feature_store() -> FeatureStore:
    """This process's store, as ``resources`` say."""
    at_hand = resources.at_hand()
    return _store(at_hand.feature_folder, at_hand.feature_bytes)


@lru_cache(maxsize=2)
def _store(folder: Path | None, max_bytes: int) -> FeatureStore:
    return FeatureStore(folder, max_bytes)
