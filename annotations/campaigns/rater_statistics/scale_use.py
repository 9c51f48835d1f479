"""How a rater uses the scale: which share of the scores is which, and how spread they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """``counts`` and ``shares`` run along the scale. ``entropy`` is Shannon's (1948), in bits: 0
    where one score is given throughout, log₂ of the number of points where all are given equally
    often; None without ratings."""

    counts: tuple[int, ...]
    entropy: float | None

    @property
    def shares(self) -> tuple[float, ...]:
        total = sum(self.counts)
        return tuple(count / total if total else 0.0 for count in self.counts)


def scale_use(scores: Sequence[int], scale: Sequence[int]) -> ScaleUse:
    """Scores off the scale are an error of the caller and raise ``ValueError``."""
    if outside := set(scores) - set(scale):
        raise ValueError(f"not on the scale: {sorted(outside)}")
    counts = tuple(sum(score == point for score in scores) for point in scale)
    if not scores:
        return ScaleUse(counts, None)
    shares = [count / len(scores) for count in counts if count]
    return ScaleUse(counts, -sum(share * math.log2(share) for share in shares) + 0.0)
