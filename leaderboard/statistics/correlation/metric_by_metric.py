"""Which metrics say the same: the correlation of every metric with every other, and an order that
shows families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from common.correlation import cluster_resamples, with_interval
from common.correlation.kendall import kendall_estimate
from common.correlation.pearson import (
    PearsonScores,
    pearson_between,
    pearson_estimate,
    pearson_scores,
)
from common.correlation.spearman import spearman_estimate
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
MIN_PAIRS = 3
NO_INTERVAL = "intervals are computed for Pearson's r"


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two metrics, by row, first < second. ``n``: places at which both have a score."""

    first: int
    second: int
    n: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


def correlate_metrics(
    scores: FloatArray, dialogue: IntArray, resamples: int = 1000, seed: int = 0
) -> list[MetricPair]:
    """Correlation of every pair of metrics, over the items that both scored.

    O(metrics² · n log n).

    Args:
        scores: (metrics, n) scores, NaN where a metric has none. Negate metrics whose low scores
            are good.
        dialogue: (n,) dialogue numbers. Intervals resample dialogues (percentile bootstrap).
        resamples: Bootstrap draws; 0: no intervals.
        seed: One seed for all pairs.

    Returns:
        metrics · (metrics − 1) / 2 pairs in the order (0, 1), (0, 2), …; r with a 95 % interval, ρ
        and τ-b without. A pair is undefined with fewer than 3 common items, or where a side is
        constant.
    """
    values = np.where(np.isfinite(scores), scores, np.nan)
    scored = np.isfinite(values)
    cluster = np.unique(dialogue, return_inverse=True)[1].astype(np.int64)
    clusters = int(cluster.max()) + 1 if len(cluster) else 0
    weights = (
        cluster_resamples(clusters, resamples, seed).astype(np.float64)
        if clusters and resamples
        else None
    )
    sides: dict[tuple[int, bytes], PearsonScores] = {}

    def side(metric: int, both: BoolArray) -> PearsonScores:
        assert weights is not None
        key = (metric, both.tobytes())
        if key not in sides:
            sides[key] = pearson_scores(values[metric][both], cluster[both], weights)
        return sides[key]

    def pair(first: int, second: int) -> MetricPair:
        both = scored[first] & scored[second]
        found = _pair(first, second, values[first][both], values[second][both])
        if weights is None or not found.pearson.is_defined:
            return found
        replicates = pearson_between(side(first, both), side(second, both))
        return _with(found, with_interval(found.pearson, replicates, len(np.unique(cluster[both]))))

    return [pair(first, second) for first, second in combinations(range(len(values)), 2)]


def correlate_metrics_of_systems(
    means: FloatArray, redrawn: Sequence[FloatArray | None], dialogues: int
) -> list[MetricPair]:
    """Correlation of every pair of metrics, over the systems that both scored.

    Args:
        means: (metrics, systems) system means, NaN where a metric has none. Negate metrics whose
            low scores are good, here and in ``redrawn``.
        redrawn: For each metric its (resamples, systems) means with dialogues redrawn, all in the
            same draws, or None for a metric whose system scores are fixed.
        dialogues: Number of dialogues that were redrawn.

    Returns:
        metrics · (metrics − 1) / 2 pairs in the order (0, 1), (0, 2), …; r with a 95 % interval,
        unless both metrics are fixed, ρ and τ-b without. A pair is undefined with fewer than 3
        common systems, or where a side is constant.
    """
    scored = np.isfinite(means)

    def pair(first: int, second: int) -> MetricPair:
        both = scored[first] & scored[second]
        found = _pair(first, second, means[first][both], means[second][both])
        sides = [redrawn[one] for one in (first, second)]
        if not found.pearson.is_defined or all(one is None for one in sides):
            return found
        one, other = (
            means[metric][None, both] if side is None else side[:, both]
            for metric, side in zip((first, second), sides, strict=True)
        )
        return _with(found, with_interval(found.pearson, _row_correlations(one, other), dialogues))

    return [pair(first, second) for first, second in combinations(range(len(means)), 2)]


def similar_order(metrics: int, correlation: Mapping[tuple[int, int], float | None]) -> list[int]:
    """An order of the metrics in which those that correlate most stand together.

    Args:
        metrics: Number of metrics.
        correlation: r by (first, second), first < second. A pair that is missing or None counts as
            unrelated (r = 0).

    Returns:
        Metric numbers from 0: the leaves of average linkage on 1 − r, turned so that neighbours are
        as near as they can be. With fewer than 3 metrics, their own order.

    Algorithm: Bar-Joseph, Gifford & Jaakkola (2001), optimal leaf ordering.
    """
    from scipy.cluster import hierarchy  # takes a while to load, and only this needs it

    if metrics < 3:
        return list(range(metrics))
    distances = [1.0 - (correlation.get(pair) or 0.0) for pair in combinations(range(metrics), 2)]
    tree = hierarchy.linkage(np.maximum(distances, 0.0), "average", optimal_ordering=True)
    return [int(leaf) for leaf in hierarchy.leaves_list(tree)]


def _pair(first: int, second: int, one: FloatArray, other: FloatArray) -> MetricPair:
    reason = _why_undefined(one, other)
    if reason:
        nothing = Estimate.undefined(reason)
        return MetricPair(first, second, len(one), nothing, nothing, nothing)
    spearman, kendall = spearman_estimate(one, other), kendall_estimate(one, other)
    return MetricPair(
        first,
        second,
        len(one),
        pearson_estimate(one, other),
        Estimate(spearman.value, p=spearman.p, reason=NO_INTERVAL),
        Estimate(kendall.value, p=kendall.p, reason=NO_INTERVAL),
    )


def _with(pair: MetricPair, pearson: Estimate) -> MetricPair:
    return MetricPair(pair.first, pair.second, pair.n, pearson, pair.spearman, pair.kendall)


def _why_undefined(one: FloatArray, other: FloatArray) -> str:
    if len(one) < MIN_PAIRS:
        return (
            f"a correlation needs at least {MIN_PAIRS} places that both scored, there are "
            f"{len(one)}"
        )
    constant = [
        name for name, scores in (("first", one), ("second", other)) if scores.min() == scores.max()
    ]
    if len(constant) == 2:
        return "all scores of both metrics are equal"
    return f"all scores of the {constant[0]} metric are equal" if constant else ""


def _row_correlations(one: FloatArray, other: FloatArray) -> FloatArray:
    """Pearson's r of every row, (resamples,); NaN where a row is constant or misses a score."""
    one, other = one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True)
    squares = (one * one).sum(axis=1) * (other * other).sum(axis=1)
    products = (one * other).sum(axis=1)
    defined = np.isfinite(squares) & (squares > 0)
    r: FloatArray = np.full(len(products), np.nan)
    r[defined] = np.clip(products[defined] / np.sqrt(squares[defined]), -1.0, 1.0)
    return r
