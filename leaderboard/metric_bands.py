"""Which metrics cannot be told apart, read from the stored comparisons of all pairs of metrics.

A letter is a leader and those that cannot be told from it: a of the best metric, b of the best that is behind it, and
so on. So the letter a is exactly what the headline counts. (``bands`` of the stored answer are coarser: a band there
may hold two metrics that differ, where both are like a third.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEVEL_OF_TESTS = 0.05
SAME_LETTER = "The letter a: cannot be told apart from the best; b: of the others, from the best of these; and so on."


@dataclass(frozen=True)
class Bands:
    """Of one level and coefficient."""

    bands: Mapping[str, int]
    """From 0; a metric without one was not compared."""
    p: Mapping[tuple[str, str], float]
    """Holm's adjusted p of both orders of a pair."""
    words: str

    def of(self, metric: str) -> int | None:
        return self.bands.get(metric)

    def not_apart_from(self, metric: str, among: Sequence[str]) -> list[str] | None:
        """Those that cannot be told apart from this metric; None where it was compared with none of them."""
        compared = [other for other in among if (metric, other) in self.p]
        if not compared:
            return None
        return [other for other in compared if self.p[metric, other] >= LEVEL_OF_TESTS]


def bands_of(comparisons: Mapping[str, Any] | None, coefficient: str) -> Bands | None:
    """None where nothing is stored yet, or no pair was tested of this coefficient."""
    found = (comparisons or {}).get("coefficients", {}).get(coefficient)
    if comparisons is None or not found:
        return None
    names = comparisons["metrics"]
    p: dict[tuple[str, str], float] = {}
    for first, second, _, _, p_holm, *_ in found["pairs"]:
        if p_holm is not None:
            p[names[first], names[second]] = p[names[second], names[first]] = p_holm
    if not p:
        return None
    alone = {metric: value for metric, value in found["alone"].items() if value is not None}
    return Bands(
        bands=_letters(alone, p),
        p=p,
        words=f"{SAME_LETTER[:1].lower()}{SAME_LETTER[1:]} By {comparisons['method']}, Holm's correction for all "
        f"{len(p) // 2} pairs, 5 %.",
    )


def why_no_bands(comparisons: Mapping[str, Any] | None, coefficient: str) -> str:
    """ "" where there are some, or nothing is stored yet."""
    if comparisons is None:
        return ""
    return str(comparisons.get("not_compared", {}).get(coefficient, ""))


def _letters(alone: Mapping[str, float], p: Mapping[tuple[str, str], float]) -> dict[str, int]:
    """``alone``: coefficients in the metrics' own direction. A pair that could not be tested is not told apart."""
    waiting = sorted(alone, key=lambda metric: -alone[metric])
    found: dict[str, int] = {}
    letter = 0
    while waiting:
        leader = waiting[0]
        alike = [metric for metric in waiting if metric == leader or p.get((leader, metric), 1.0) >= LEVEL_OF_TESTS]
        found |= dict.fromkeys(alike, letter)
        waiting = [metric for metric in waiting if metric not in found]
        letter += 1
    return found
