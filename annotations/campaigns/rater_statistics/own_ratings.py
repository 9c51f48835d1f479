"""What one rater's own ratings tell: checks passed, time for an item, use of the scale, second
thoughts, straight-lining."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np


@dataclass(frozen=True, slots=True)
class ChecksPassed:
    passed: int
    judged: int

    def __str__(self) -> str:
        return f"{self.passed} / {self.judged}"


def checks_passed(judged: Iterable[tuple[float, int, int]]) -> ChecksPassed:
    """Of training and attention items, from (score, lowest, highest) of each; both ends of the
    range pass."""
    results = [lowest <= score <= highest for score, lowest, highest in judged]
    return ChecksPassed(sum(results), len(results))


NO_TIMES = "the browser sent no times"


@dataclass(frozen=True, slots=True)
class Pace:
    """``seconds``: the median active time for an item, or None with ``reason``. ``per_hour``: items
    at that pace."""

    seconds: float | None
    timed: int
    reason: str = ""

    @property
    def per_hour(self) -> float | None:
        return 3600.0 / self.seconds if self.seconds else None


def pace(active_ms: Iterable[int | None]) -> Pace:
    """The median of the items' active times in milliseconds, all second thoughts of an item
    included; None is an item without a time. A median, because one interrupted item must not make a
    rater look slow."""
    known = [milliseconds for milliseconds in active_ms if milliseconds is not None]
    if not known:
        return Pace(None, 0, NO_TIMES)
    return Pace(float(np.median(known)) / 1000.0, len(known))


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """How a rater uses the scale. ``counts`` and ``shares`` run along it. ``entropy`` is Shannon's
    (1948), in bits: 0 where one score is given throughout, log₂ of the number of points where all
    are given equally often; None without ratings."""

    counts: tuple[int, ...]
    entropy: float | None

    @property
    def shares(self) -> tuple[float, ...]:
        total = sum(self.counts)
        return tuple(count / total if total else 0.0 for count in self.counts)


def scale_use(scores: Sequence[float], scale: Sequence[float]) -> ScaleUse:
    """Scores off the scale are an error of the caller and raise ``ValueError``."""
    if outside := set(scores) - set(scale):
        raise ValueError(f"not on the scale: {sorted(outside)}")
    counts = tuple(sum(score == point for score in scores) for point in scale)
    if not scores:
        return ScaleUse(counts, None)
    shares = [count / len(scores) for count in counts if count]
    return ScaleUse(counts, -sum(share * math.log2(share) for share in shares) + 0.0)


@dataclass(frozen=True, slots=True)
class SecondThoughts:
    """Ratings that the rater changed; not test-retest reliability, as no item is shown to a rater
    twice. ``changed``: items whose last score is not the first. ``mean_change``: mean of
    |last − first| over those; None where there are none."""

    items: int
    changed: int
    mean_change: float | None


def second_thoughts(first_and_last: Iterable[tuple[float, float]]) -> SecondThoughts:
    pairs = list(first_and_last)
    changes = [abs(last - first) for first, last in pairs if last != first]
    return SecondThoughts(
        len(pairs), len(changes), sum(changes) / len(changes) if changes else None
    )


def longest_run(scores: Sequence[float]) -> int:
    """Straight-lining: how many ratings in a row, in the order of work, had one score; 0 without
    ratings."""
    return max((sum(1 for _ in run) for _, run in groupby(scores)), default=0)
