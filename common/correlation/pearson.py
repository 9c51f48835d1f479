"""Pearson's product-moment correlation r, r of every cluster resample, and an interval of r or ρ of
few pairs, where resampling has too little to draw from.

Fisher's z = artanh(r) is close to normal with the standard error 1 / √(n − 3) for Pearson's r
(Fisher 1921, On the "probable error" of a coefficient of correlation) and √((1 + ρ² / 2) / (n − 3))
for Spearman's ρ (Bonett & Wright 2000, Sample size requirements for estimating Pearson, Kendall and
Spearman correlations). The interval is that of z, brought back by tanh. It takes the pairs as drawn
independently of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from common.correlation.scores import FloatArray, IntArray, constant_resamples, why_undefined
from common.estimates import Estimate


def pearson_estimate(human: FloatArray, metric: FloatArray) -> Estimate:
    """Pearson's r of n pairs of scores with its p-value, without an interval.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.

    Returns:
        r in [−1, 1] with the two-sided p of ``scipy.stats.pearsonr`` (exact under normality).
        Undefined with fewer than 3 pairs, or where one of the two lists is constant.

    Raises:
        ValueError: the lists differ in length, or a score is NaN or infinite.
    """
    from scipy import stats  # takes a second to load, and most processes ask for no p

    if reason := why_undefined(human, metric):
        return Estimate.undefined(reason)
    result = stats.pearsonr(of_unit_size(human), of_unit_size(metric))
    return Estimate(value=float(result.statistic), p=float(result.pvalue))


def of_unit_size(scores: FloatArray) -> FloatArray:
    """The scores scaled by a power of two, so that their squares neither overflow nor vanish.

    Squares of 1e200 would leave the range of floating-point numbers, those of 1e-200 become 0. A
    power of two changes no digit, and so r is the same to the last one.

    Args:
        scores: (n,) finite.

    Returns:
        (n,) scores of which the largest absolute value lies between a half and one; zeros stay 0.
    """
    largest = np.abs(scores).max(initial=0.0)
    scaled: FloatArray = np.ldexp(scores, -np.frexp(largest)[1])
    return scaled


@dataclass(frozen=True)
class PearsonScores:
    """One list of scores, ready to be correlated with others over the same items and resamples."""

    cluster: IntArray
    weights: FloatArray
    drawn_items: FloatArray
    """(resamples, clusters) how many items of each cluster a resample holds."""
    residual: FloatArray
    """(n,) score minus its cluster's mean."""
    cluster_deviation: FloatArray
    """(resamples, clusters) the cluster's mean minus the resample's mean."""
    squares: FloatArray
    """(resamples,) sum of squared deviations from the resample's mean; NaN where all scores are
    equal."""


def pearson_scores(scores: FloatArray, cluster: IntArray, weights: FloatArray) -> PearsonScores:
    """Deviations and sums of squares of one list of scores, for ``pearson_between``.

    Sums of squares are split into those within clusters and those between cluster means (Chan,
    Golub & LeVeque 1983), so that a far outlier in a cluster that was not drawn costs no digits.

    Args:
        scores: (n,) finite.
        cluster: (n,) the cluster number of each item, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) multiplicities, how often each cluster is drawn.

    Returns:
        What every r with these scores needs; it is computed once and used with many others.
    """
    scores = of_unit_size(scores)
    clusters = weights.shape[1]
    size = np.bincount(cluster, minlength=clusters)
    cluster_mean = np.bincount(cluster, weights=scores, minlength=clusters) / np.maximum(size, 1)
    residual = scores - cluster_mean[cluster]
    within = np.bincount(cluster, weights=residual * residual, minlength=clusters)
    drawn_items = weights * size
    resample_mean = (drawn_items @ cluster_mean) / np.maximum(drawn_items.sum(axis=1), 1.0)
    deviation = cluster_mean - resample_mean[:, None]
    squares = weights @ within + np.einsum("rc,rc,rc->r", drawn_items, deviation, deviation)
    squares[constant_resamples(scores, cluster, weights)] = np.nan
    return PearsonScores(cluster, weights, drawn_items, residual, deviation, squares)


def pearson_between(human: PearsonScores, metric: PearsonScores) -> FloatArray:
    """Pearson's r of every resample.

    Args:
        human: one list of scores, from ``pearson_scores``.
        metric: the other, with the same clusters and weights.

    Returns:
        (resamples,) in [−1, 1]; NaN where one of the two lists is constant in the resample.
    """
    clusters = human.weights.shape[1]
    within = np.bincount(
        human.cluster, weights=human.residual * metric.residual, minlength=clusters
    )
    between = np.einsum(
        "rc,rc,rc->r", human.drawn_items, human.cluster_deviation, metric.cluster_deviation
    )
    products = human.weights @ within + between
    r: NDArray[np.float64] = products / np.sqrt(human.squares) / np.sqrt(metric.squares)
    return np.clip(r, -1.0, 1.0)


def replicates(
    human: FloatArray, metric: FloatArray, cluster: IntArray, weights: FloatArray
) -> FloatArray:
    """Pearson's r of every resample, from two lists of scores.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.
        cluster: (n,) the cluster number of each item, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) multiplicities, how often each cluster is drawn.

    Returns:
        (resamples,) in [−1, 1]; NaN where one of the two lists is constant in the resample.
    """
    return pearson_between(
        pearson_scores(human, cluster, weights), pearson_scores(metric, cluster, weights)
    )


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
