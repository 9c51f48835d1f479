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
    """A correlation with its interval from Fisher's z, or with the reason why it has none.

    Args:
        point: the correlation.
        pairs: number of pairs n that it is computed from.
        coefficient: which standard error of z applies.
        level: the level of confidence, between 0 and 1.

    Returns:
        ``point`` with the interval, its value and p unchanged. No interval with fewer than
        ``LEAST_PAIRS`` pairs, or where the correlation is 1 or −1. An undefined estimate stays as
        it is.

    tanh(artanh(r) ± z · se), z the normal quantile of (1 + level) / 2, with se = 1 / √(n − 3)
    for Pearson's r (Fisher 1921) and √((1 + ρ² / 2) / (n − 3)) for Spearman's ρ (Bonett & Wright
    2000).
    """
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
