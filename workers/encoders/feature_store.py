"""What was computed from texts, remembered between processes and runs: one file, as large as it may
be, no larger.

An entry is a small float32 array under (namespace, text). The namespace says what made it: model
revision, layer, kind. Two processes may read and write at once. A store that cannot be used (a full
disk, a damaged file) makes everything slower, never wrong: what fails is logged and computed anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from workers import resources
from workers.encoders.feature_file import FeatureFile

_KEY_BYTES = 16
_OVERHEAD = 250
"""What an entry takes in memory beside its numbers."""


class FeatureStore:
    """``folder`` None: nothing is kept on disk, only up to ``memory_bytes`` in this process."""

    def __init__(
        self, folder: Path | None, max_bytes: int, memory_bytes: int = 256_000_000
    ) -> None:
        self._file = (
            FeatureFile(folder, max_bytes) if folder is not None and max_bytes > 0 else None
        )
        self._memory: LRUCache[bytes, bytes] = LRUCache(
            memory_bytes, lambda value: len(value) + _OVERHEAD
        )

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Those of ``keys`` that are known, as flat arrays that cannot be written to."""
        hashed = {key: _hash(namespace, key) for key in keys}
        found = {key: self._memory[hash_] for key, hash_ in hashed.items() if hash_ in self._memory}
        if self._file is not None and len(found) < len(hashed):
            on_disk = self._file.read([hash_ for key, hash_ in hashed.items() if key not in found])
            found |= {key: on_disk[hash_] for key, hash_ in hashed.items() if hash_ in on_disk}
            self._keep(on_disk.items())
        return {key: np.frombuffer(value, dtype=np.float32) for key, value in found.items()}

    def put_many(self, namespace: str, entries: Mapping[str, NDArray[np.float32]]) -> None:
        """What was there before under a key stays: equal inputs have equal features."""
        hashed = {
            _hash(namespace, key): np.asarray(values, np.float32).tobytes()
            for key, values in entries.items()
        }
        self._keep(hashed.items())
        if self._file is not None:
            self._file.write(hashed)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()

    def _keep(self, entries: Iterable[tuple[bytes, bytes]]) -> None:
        for hash_, value in entries:
            with suppress(ValueError):  # larger than the whole cache
                self._memory.setdefault(hash_, value)


def _hash(namespace: str, key: str) -> bytes:
    text = f"{len(namespace)}:{namespace}{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=_KEY_BYTES).digest()


def feature_store() -> FeatureStore:
    """This process's store, as ``resources`` say."""
    at_hand = resources.at_hand()
    return _store(at_hand.feature_folder, at_hand.feature_bytes)


@lru_cache(maxsize=2)
def _store(folder: Path | None, max_bytes: int) -> FeatureStore:
    return FeatureStore(folder, max_bytes)
