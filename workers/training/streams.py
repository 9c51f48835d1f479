"""Random numbers that depend on a seed and on what they are for, not on what was drawn before."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """The same seed and names give the same numbers in every process, whatever else is computed and
    in which order."""
    document = json.dumps([seed, *names]).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(document).digest()))
