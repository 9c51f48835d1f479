"""Straight-lining: the same score again and again, whatever is shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def longest_run(scores: Sequence[int]) -> int:
    """How many ratings in a row, in the order of work, had one score; 0 without ratings."""
    return max((sum(1 for _ in run) for _, run in groupby(scores)), default=0)
