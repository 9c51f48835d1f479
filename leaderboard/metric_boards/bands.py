"""Which metrics cannot be told apart, read from the stored comparisons of all pairs of metrics.

Letters follow the stored bands: a new one begins with a metric that is significantly behind *any* metric of the one
before (``leaderboard.statistics.metric_bands``). A metric of a later letter may still be level with the best one, where
a third lies between them: who is level with the best is said by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEVEL_OF_TESTS = 0.05
NEW_LETTER = (
    "Within a letter no metric is significantly behind one above it: a new letter begins with the first that is behind "
    "any of the letter before."
)


@dataclass(frozen=True)
class Bands:
    """Of one level and coefficient."""

    bands: Mapping[str, int]
    """From 0; a metric without one was not compared."""
    p: Mapping[tuple[str, str], float]
    """Holm's adjusted p of both orders of a pair."""
    ahead: Collection[tuple[str, str]]
    """Pairs of which the first is significantly ahead of the second, on what both scored."""
    words: str

    def of(self, metric: str) -> int | None:
        return self.bands.get(metric)

    def not_apart_from(self, metric: str, among: Sequence[str]) -> list[str] | None:
        """Those that cannot be told apart from this metric; None where it was compared with none of them."""
        compared = [other for other in among if (metric, other) in self.p]
        if not compared:
            return None
        return [other for other in compared if self.p[metric, other] >= LEVEL_OF_TESTS]

    def ahead_of(self, metric: str, among: Sequence[str]) -> list[str]:
        """Those that are significantly ahead of this metric, though its coefficient on all it scored be the higher."""
        return [other for other in among if (other, metric) in self.ahead]


def bands_of(comparisons: Mapping[str, Any] | None, coefficient: str) -> Bands | None:
    """None where nothing is stored yet, or no pair was tested of this coefficient."""
    found = (comparisons or {}).get("coefficients", {}).get(coefficient)
    if comparisons is None or not found:
        return None
    names = comparisons["metrics"]
    p: dict[tuple[str, str], float] = {}
    ahead: set[tuple[str, str]] = set()
    for first, second, difference, _, p_holm, *_ in found["pairs"]:
        if p_holm is not None:
            pair = (names[first], names[second])
            p[pair] = p[pair[::-1]] = p_holm
            if difference and p_holm < LEVEL_OF_TESTS:
                ahead.add(pair if difference > 0 else pair[::-1])
    if not p:
        return None
    return Bands(
        bands={metric: band - 1 for metric, band in found["bands"].items() if band is not None},
        p=p,
        ahead=ahead,
        words=f"{NEW_LETTER[:1].lower()}{NEW_LETTER[1:]} By {comparisons['method']}{_speaks_of(comparisons)}; "
        f"Holm's correction for {_pairs(len(p) // 2)}, 5 %.",
    )


def _speaks_of(comparisons: Mapping[str, Any]) -> str:
    return f", which speaks of {comparisons['population']}" if comparisons.get("population") else ""


def _pairs(number: int) -> str:
    return "one pair" if number == 1 else f"all {number} pairs"


def why_no_bands(comparisons: Mapping[str, Any] | None, coefficient: str) -> str:
    """ "" where there are some, or nothing is stored yet."""
    if comparisons is None:
        return ""
    return str(comparisons.get("not_compared", {}).get(coefficient, ""))
