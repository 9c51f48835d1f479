"""How far apart two metrics' correlations with people are, with an interval from leaving out one
dialogue at a time.

The difference of two correlations that share the human side, the items and the dialogues varies
less than either of them: intervals of the two that overlap do not say that they are equal. The
delete-one jackknife with Student's t (``common.correlation.jackknife``) speaks of other
dialogues and the same systems, as the test over dialogues does (``clustered_differences``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from common.correlation import COEFFICIENTS, correlation_estimates, correlation_replicates
from common.correlation.jackknife import left_out_weights, with_jackknife_interval
from common.estimates import Estimate
from leaderboard.statistics.bounded import bounds_of_difference, cut_to
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, system_sums
from leaderboard.statistics.correlation.rowwise import compiled_rows, correlate_rows, fixed_side

OF_COEFFICIENTS = bounds_of_difference((-1.0, 1.0))
SEPARATELY = "a coefficient of one of the two is undefined"
STEPS = "ranks of a few systems move in steps, which leaving out a dialogue does not follow"


def difference_over_items(
    human: FloatArray, first: FloatArray, second: FloatArray, dialogue: IntArray
) -> dict[str, Estimate]:
    """Difference of two metrics' correlations with human scores over items, first − second.

    Args:
        human: (n,) human scores, finite.
        first: (n,) scores of the first metric, finite.
        second: (n,) scores of the second metric, finite.
        dialogue: (n,) dialogue numbers.

    Returns:
        By coefficient ("pearson", "spearman", "kendall"), in [-2, 2], with a 95 % interval over
        dialogues (delete-one jackknife, Student's t) cut at −2 and 2; no p. Undefined where a
        coefficient of either metric is (fewer than 3 items, or a constant side). No interval, with
        its reason, where the jackknife has none.
    """
    names, cluster = np.unique(dialogue, return_inverse=True)
    points = _points(human, first, second)
    if any(point.value is None for point in points.values()):
        return points
    weights = left_out_weights(len(names))
    one, other = (
        correlation_replicates(human, metric, cluster, weights) for metric in (first, second)
    )
    return {
        name: cut_to(
            with_jackknife_interval(points[name], one[name] - other[name]), OF_COEFFICIENTS
        )
        for name in COEFFICIENTS
    }


def difference_over_systems(
    human: FloatArray,
    metrics: tuple[FloatArray, FloatArray],
    system: IntArray,
    dialogue: IntArray,
    fixed: tuple[FloatArray | None, FloatArray | None] = (None, None),
) -> dict[str, Estimate]:
    """Difference of two metrics' correlations with human scores over system means, first − second.

    Args:
        human: (n,) human scores of items.
        metrics: Two lists of (n,) scores of items. Means are recomputed without each dialogue.
        system: (n,) system numbers from 0. Every system must have an item.
        dialogue: (n,) dialogue numbers.
        fixed: (systems,) scores of a metric that has none below the system level, used in place of
            its item scores; only the human means then change on its side. None: the metric has item
            scores. Every system must have a fixed score where one is given.

    Returns:
        By coefficient ("pearson", "spearman", "kendall"), in [-2, 2]; no p. The 95 % interval of
        Pearson's r, over dialogues, is centred on the mean of the pseudo-values; ρ and τ-b have
        none, with the reason. Differences are undefined where a coefficient of either metric is.
    """
    names, cluster = np.unique(dialogue, return_inverse=True)
    systems = int(system.max()) + 1
    human_sums = system_sums(human, system, cluster, systems, len(names))
    sums = [system_sums(one, system, cluster, systems, len(names)) for one in metrics]
    means = [
        one.means() if given is None else given for one, given in zip(sums, fixed, strict=True)
    ]
    points = _points(human_sums.means(), means[0], means[1])
    if any(point.value is None for point in points.values()):
        return points
    weights = left_out_weights(len(names))
    people = fixed_side(human_sums.resampled_means(weights))
    left_out = []
    for one, given in zip(sums, fixed, strict=True):
        remade = one.resampled_means(weights) if given is None else given[None, :]
        left_out.append(correlate_rows(people, compiled_rows(remade))["pearson"])
    ranks = {
        name: Estimate(points[name].value, reason=STEPS)
        for name in COEFFICIENTS
        if name != "pearson"
    }
    return {
        "pearson": cut_to(
            with_jackknife_interval(points["pearson"], left_out[0] - left_out[1], corrected=True),
            OF_COEFFICIENTS,
        ),
        **ranks,
    }


def _points(human: FloatArray, first: FloatArray, second: FloatArray) -> dict[str, Estimate]:
    alone: NDArray[np.int64] = np.zeros(len(human), dtype=np.int64)
    one, other = (correlation_estimates(human, metric, alone) for metric in (first, second))
    return {name: _difference(one[name], other[name]) for name in COEFFICIENTS}


def _difference(one: Estimate, other: Estimate) -> Estimate:
    if one.value is None or other.value is None:
        return Estimate.undefined(one.reason or other.reason or SEPARATELY)
    return Estimate(one.value - other.value)
