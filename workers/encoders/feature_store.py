"""What was computed from texts, remembered between processes and runs: one file, as large as it may be, no larger.

An entry is a small float32 array under (namespace, text). The namespace says what made it: model revision, layer, kind.
Two processes may read and write at once. A store that cannot be used (a full disk, a damaged file) makes everything
slower, never wrong: what fails is logged and computed anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class FeatureStore:
    """``folder`` None: nothing is kept on disk, only up to ``memory_bytes`` in this process."""

    def __init__(self, folder: Path | None, max_bytes: int, memory_bytes: int = 256_000_000) -> None:
        raise NotImplementedError

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Those of ``keys`` that are known."""
        raise NotImplementedError

    def put_many(self, namespace: str, entries: Mapping[str, NDArray[np.float32]]) -> None:
        """What was there before under a key stays: equal inputs have equal features."""
        raise NotImplementedError


def feature_store() -> FeatureStore:
    """This process's store, as ``resources`` say."""
    raise NotImplementedError
