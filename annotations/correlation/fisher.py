"""Intervals of a correlation of few pairs, where resampling has too little to draw from.

Fisher's z = artanh(r) is close to normal with the standard error 1 / √(n − 3) for Pearson's r
(Fisher 1921, On the "probable error" of a coefficient of correlation) and √((1 + ρ² / 2) / (n − 3))
for Spearman's ρ (Bonett & Wright 2000, Sample size requirements for estimating Pearson, Kendall and
Spearman correlations). The interval is that of z, brought back by tanh. It takes the pairs as drawn
independently of each other.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

from annotations.estimates import Estimate

LEAST_PAIRS = 4
"""n − 3 must be positive."""


def with_fisher_interval(
    point: Estimate, pairs: int, coefficient: Literal["pearson", "spearman"], level: float = 0.95
) -> Estimate:
    """The estimate with its interval, or with the reason why it has none; an undefined one stays as
    it is."""
    if point.value is None:
        return point
    if pairs < LEAST_PAIRS:
        return _without(
            point, f"an interval needs at least {LEAST_PAIRS} pairs of scores, there are {pairs}"
        )
    if abs(point.value) > 1 - 1e-12:
        return _without(
            point, "the pairs lie on one line: their spread says nothing of the next ones"
        )
    rank_part = 1 + point.value**2 / 2 if coefficient == "spearman" else 1.0
    error = math.sqrt(rank_part / (pairs - 3))
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    z = math.atanh(point.value)
    return Estimate(value=point.value, p=point.p, ci=(math.tanh(z - reach), math.tanh(z + reach)))


def _without(point: Estimate, reason: str) -> Estimate:
    return Estimate(value=point.value, p=point.p, reason=reason)
