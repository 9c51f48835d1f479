"""Correlation of two score lists: Pearson's r, Spearman's ρ, Kendall's τ-b, with bootstrap
intervals over clusters.

Pure and the lowest layer of statistics: agreement (leave-one-out) and the leaderboard both stand on
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from common.correlation.jackknife import (
    jackknife_interval,
    left_out_weights,
    with_jackknife_interval,
)
from common.correlation.kendall import (
    KendallScores,
    kendall_between,
    kendall_estimate,
    kendall_scores,
)
from common.correlation.pearson import (
    PearsonScores,
    of_unit_size,
    pearson_between,
    pearson_estimate,
    pearson_scores,
)
from common.correlation.resampling import (
    Redraws,
    cluster_resamples,
    percentile_interval,
    percentile_p,
    with_interval,
)
from common.correlation.scores import FloatArray, IntArray, round_off, why_undefined
from common.correlation.spearman import (
    SpearmanScores,
    spearman_between,
    spearman_estimate,
    spearman_scores,
)
from common.estimates import Estimate

COEFFICIENTS = ("pearson", "spearman", "kendall")
THREADS = 2
"""numpy and scipy release the lock in their loops; more threads than a small server's cores gain
nothing."""

__all__ = [
    "COEFFICIENTS",
    "Redraws",
    "cluster_resamples",
    "correlation_estimates",
    "correlation_estimates_of_many",
    "correlation_replicates",
    "jackknife_interval",
    "left_out_weights",
    "percentile_interval",
    "percentile_p",
    "with_interval",
    "with_jackknife_interval",
]


def correlation_estimates(
    human: ArrayLike,
    metric: ArrayLike,
    cluster: ArrayLike,
    weights: ArrayLike | Redraws | None = None,
) -> dict[str, Estimate]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of n pairs of scores, with p and interval.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.
        cluster: (n,) the dialogue number of each pair, 0 ≤ cluster < clusters.
        weights: ``Redraws`` over the clusters; or (resamples, clusters) from ``cluster_resamples``
            for the percentile bootstrap; or None for no interval.

    Returns:
        One estimate for each name in ``COEFFICIENTS``: the value in [−1, 1], its two-sided p, and a
        95 % interval where there are ``weights``, from which p is then. Undefined, with the reason,
        where there are fewer than 3 pairs or one of the two lists is constant.

    Raises:
        ValueError: the lists differ in length, or a score is NaN or infinite: drop pairs first.
    """
    return correlation_estimates_of_many(human, [metric], cluster, weights)[0]


def correlation_estimates_of_many(
    human: ArrayLike,
    metrics: Sequence[ArrayLike],
    cluster: ArrayLike,
    weights: ArrayLike | Redraws | None = None,
) -> list[dict[str, Estimate]]:
    """``correlation_estimates`` of many metrics on the same n items.

    The human scores are prepared once for all metrics.

    Args:
        human: (n,) finite scores.
        metrics: (n,) finite scores each, of the same items.
        cluster: (n,) as in ``correlation_estimates``.
        weights: as in ``correlation_estimates``.

    Returns:
        The estimates of each metric by coefficient, in the order of ``metrics``.

    Raises:
        ValueError: the lists differ in length, or a score is NaN or infinite: drop pairs first.
    """
    scores = np.asarray(human, dtype=np.float64)
    clusters = np.asarray(cluster, dtype=np.int64)
    draws = _redraws(weights)
    rows = [np.asarray(metric, dtype=np.float64) for metric in metrics]
    side: _ScorePair | None = None
    used = np.empty(0, dtype=bool)
    if (
        draws is not None
        and not draws.reason
        and any(not _why_undefined(scores, row) for row in rows)
    ):
        side = _sides(scores, clusters, draws.weights)
        used = np.bincount(clusters, minlength=draws.weights.shape[1]) > 0

    def estimates(row: FloatArray) -> dict[str, Estimate]:
        if reason := _why_undefined(scores, row):
            return dict.fromkeys(COEFFICIENTS, Estimate.undefined(reason))
        points = {
            "pearson": pearson_estimate(scores, row),
            "spearman": spearman_estimate(_tied(scores), _tied(row)),
            "kendall": kendall_estimate(_tied(scores), _tied(row)),
        }
        if draws is None or not points["pearson"].is_defined:
            return points
        if side is None:
            return {
                name: draws.with_interval(points[name], np.empty(0), used) for name in COEFFICIENTS
            }
        replicates = _replicates(side, _sides(row, side.pearson.cluster, side.pearson.weights))
        return {
            name: draws.with_interval(points[name], replicates[name], used) for name in COEFFICIENTS
        }

    if len(rows) == 1:
        return [estimates(rows[0])]
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(estimates, rows))


def _redraws(weights: ArrayLike | Redraws | None) -> Redraws | None:
    if weights is None or isinstance(weights, Redraws):
        return weights
    return Redraws(np.asarray(weights, dtype=np.float64), is_jackknife=False)


def correlation_replicates(
    human: ArrayLike, metric: ArrayLike, cluster: ArrayLike, weights: ArrayLike
) -> dict[str, FloatArray]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of every resample.

    For statistics that combine several correlations (a mean over raters) and need an interval of
    their own.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.
        cluster: (n,) the dialogue number of each pair, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) how often each cluster counts in each resample, from
            ``cluster_resamples`` or ``left_out_weights``.

    Returns:
        (resamples,) values in [−1, 1] for each name in ``COEFFICIENTS``; NaN where one of the two
        lists is constant in the resample.
    """
    clusters = np.asarray(cluster, dtype=np.int64)
    draws = np.asarray(weights, dtype=np.float64)
    human_sides = _sides(np.asarray(human, dtype=np.float64), clusters, draws)
    return _replicates(human_sides, _sides(np.asarray(metric, dtype=np.float64), clusters, draws))


def _tied(scores: FloatArray) -> FloatArray:
    """What ranks are made of: scores that are equal but for rounding are ties."""
    return round_off(of_unit_size(scores))


def _why_undefined(human: FloatArray, metric: FloatArray) -> str:
    return why_undefined(human, metric) or why_undefined(_tied(human), _tied(metric))


@dataclass(frozen=True)
class _ScorePair:
    pearson: PearsonScores
    spearman: SpearmanScores
    kendall: KendallScores


def _sides(scores: FloatArray, cluster: IntArray, weights: FloatArray) -> _ScorePair:
    return _ScorePair(
        pearson_scores(scores, cluster, weights),
        spearman_scores(_tied(scores), cluster, weights),
        kendall_scores(_tied(scores), cluster, weights),
    )


def _replicates(human: _ScorePair, metric: _ScorePair) -> dict[str, FloatArray]:
    return {
        "pearson": pearson_between(human.pearson, metric.pearson),
        "spearman": spearman_between(human.spearman, metric.spearman),
        "kendall": kendall_between(human.kendall, metric.kendall),
    }
