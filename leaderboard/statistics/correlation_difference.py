"""How far apart two metrics' correlations with people are, with an interval: both from the same draws of dialogues.

The difference of two correlations that share the human side, the items and the draws varies less than either of them:
intervals of the two that overlap do not say that they are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annotations.correlation import (
    COEFFICIENTS,
    cluster_resamples,
    correlation_estimates,
    correlation_replicates,
    with_interval,
)
from annotations.estimates import Estimate
from leaderboard.statistics.placed_scores import FloatArray, IntArray, system_sums
from leaderboard.statistics.rowwise import correlate_rows, fixed_side, prepared_rows

SEPARATELY = "a coefficient of one of the two is undefined"


def difference_over_items(
    human: FloatArray, first: FloatArray, second: FloatArray, dialogue: IntArray, resamples: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """``{coefficient: first − second}`` over n items, (n,) each and finite, with 95 % intervals over dialogues."""
    names, cluster = np.unique(dialogue, return_inverse=True)
    points = _points(human, first, second)
    if any(point.value is None for point in points.values()) or not resamples:
        return points
    weights = cluster_resamples(len(names), resamples, seed)
    one, other = (correlation_replicates(human, metric, cluster, weights) for metric in (first, second))
    return {name: with_interval(points[name], one[name] - other[name], len(names)) for name in COEFFICIENTS}


def difference_over_systems(
    human: FloatArray,
    metrics: tuple[FloatArray, FloatArray],
    system: IntArray,
    dialogue: IntArray,
    fixed: tuple[FloatArray | None, FloatArray | None] = (None, None),
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """The same of system means: ``human`` and ``metrics`` are (n,) scores of items, with means made anew in each draw.

    ``fixed``: (systems,) scores of a metric that has none below the system level, in place of its item scores; only
    people's means are then drawn again on its side. Every system must have an item, and a fixed score where one is
    given.
    """
    names, cluster = np.unique(dialogue, return_inverse=True)
    systems = int(system.max()) + 1
    human_sums = system_sums(human, system, cluster, systems, len(names))
    sums = [system_sums(one, system, cluster, systems, len(names)) for one in metrics]
    means = [one.means() if given is None else given for one, given in zip(sums, fixed, strict=True)]
    points = _points(human_sums.means(), means[0], means[1])
    if any(point.value is None for point in points.values()) or not resamples:
        return points
    weights = cluster_resamples(len(names), resamples, seed).astype(np.float64)
    people = fixed_side(human_sums.resampled_means(weights))
    replicates = []
    for one, given in zip(sums, fixed, strict=True):
        redrawn = one.resampled_means(weights) if given is None else given[None, :]
        replicates.append(correlate_rows(people, prepared_rows(redrawn)))
    return {
        name: with_interval(points[name], replicates[0][name] - replicates[1][name], len(names))
        for name in COEFFICIENTS
    }


def _points(human: FloatArray, first: FloatArray, second: FloatArray) -> dict[str, Estimate]:
    alone: NDArray[np.int64] = np.zeros(len(human), dtype=np.int64)
    one, other = (correlation_estimates(human, metric, alone) for metric in (first, second))
    return {name: _difference(one[name], other[name]) for name in COEFFICIENTS}


def _difference(one: Estimate, other: Estimate) -> Estimate:
    if one.value is None or other.value is None:
        return Estimate.undefined(one.reason or other.reason or SEPARATELY)
    return Estimate(one.value - other.value)
