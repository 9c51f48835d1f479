"""Which metrics cannot be told apart, read from the stored comparisons of all pairs of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEVEL_OF_TESTS = 0.05


@dataclass(frozen=True)
class Bands:
    """Of one level and coefficient."""

    bands: Mapping[str, int]
    """From 0; a metric without one was not compared."""
    reasons: Mapping[str, str]
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
    """None where nothing is stored yet, or this coefficient was not tested at the level."""
    found = (comparisons or {}).get("coefficients", {}).get(coefficient)
    if comparisons is None or not found or not any(found.get("bands", {}).values()):
        return None
    names = comparisons["metrics"]
    p: dict[tuple[str, str], float] = {}
    for first, second, _, _, p_holm, *_ in found["pairs"]:
        if p_holm is not None:
            p[names[first], names[second]] = p[names[second], names[first]] = p_holm
    words = comparisons.get("method", "")
    return Bands(
        bands={metric: band - 1 for metric, band in found["bands"].items() if band is not None},
        reasons=found.get("undefined", {}),
        p=p,
        words="metrics that share one cannot be told apart" + (f" ({words})" if words else "") + ".",
    )
