"""Which metrics cannot be told apart, read from the stored comparisons of all pairs of metrics.

Letters follow the stored bands: a new one begins with a metric that is significantly behind *any* metric of the one
before (``leaderboard.statistics.metric_bands``). A metric of a later letter may still be level with the best one, where
a third lies between them: who is level with the best is said by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEVEL_OF_TESTS = 0.05
NEW_LETTER = (
    "Metrics of one letter cannot be told apart: a new one begins with a metric that is significantly behind any of "
    "the letter before."
)


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
    return Bands(
        bands={metric: band - 1 for metric, band in found["bands"].items() if band is not None},
        p=p,
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
