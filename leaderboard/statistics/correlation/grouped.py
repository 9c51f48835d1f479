"""Correlation within groups of responses, averaged over the groups: what is left once easy and hard
inputs, or good and bad systems, are taken out.

Within each dialogue over systems: does the metric see which system did well here?
(mt-metrics-eval's "item" grouping, Freitag et al. 2022, Results of WMT22 Metrics Shared Task;
Deutsch, Foster & Freitag 2023 call it group-by-item.) Within each system over its responses: does
it see which responses of one system are good? ("system" grouping.) A group in which the coefficient
is undefined (fewer than 3 pairs, one value on a side) is left out of the mean, as there, and
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from common.correlation import COEFFICIENTS, with_jackknife_interval
from common.correlation.jackknife import MOST_GROUPS, group_of_cluster
from common.correlation.scores import MIN_PAIRS
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.correlation.resampling import numbered
from leaderboard.statistics.correlation.rowwise import compiled_rows, correlate_rows, fixed_side

MOST_LEFT_OUT = 60
"""Of coefficients within systems, all are made anew for each dialogue that is left out: with more
dialogues, groups."""


@dataclass(frozen=True, slots=True)
class GroupedCorrelation:
    """Each coefficient: the mean over the groups in which it is defined, in [-1, 1], with its 95 %
    interval over dialogues; no p."""

    estimates: dict[str, Estimate]
    groups: int
    """Groups that hold a pair of scores."""
    defined: dict[str, int]
    """In how many of them each coefficient is defined."""


def within_dialogues(
    human: ArrayLike,
    metrics: ArrayLike,
    dialogue: ArrayLike,
    group: ArrayLike | None = None,
    intervals: bool = True,
) -> list[GroupedCorrelation]:
    """Correlation within dialogues, or within the inputs (turns) in them, averaged over groups.

    Args:
        human: (n,) human scores, NaN where there is none.
        metrics: (m, n) metric scores, NaN where there is none.
        dialogue: (n,) dialogue numbers.
        group: (n,) group numbers, each group within one dialogue. None: the dialogues.
        intervals: Whether to compute intervals. They speak of other dialogues: the mean ± Student's
            t, from leaving out each dialogue with its groups.

    Returns:
        One result per metric. A mean is undefined where its coefficient is undefined in every group
        (fewer than 3 pairs, or one value on a side); groups in which it is are left out.

    Source: the "item" grouping of mt-metrics-eval, Freitag et al. (2022), Results of WMT22 Metrics
    Shared Task.
    """
    return [
        _within_dialogues(*one, intervals=intervals)
        for one in _pairs(human, metrics, dialogue, group)
    ]


def within_systems(
    human: ArrayLike,
    metrics: ArrayLike,
    dialogue: ArrayLike,
    system: ArrayLike,
    intervals: bool = True,
) -> list[GroupedCorrelation]:
    """Correlation within systems, over their responses, averaged over the systems.

    Args:
        human: (n,) human scores, NaN where there is none.
        metrics: (m, n) metric scores, NaN where there is none.
        dialogue: (n,) dialogue numbers.
        system: (n,) system numbers.
        intervals: Whether to compute intervals. They speak of other dialogues and the same systems:
            each dialogue is left out of all systems.

    Returns:
        One result per metric. A mean is undefined where its coefficient is undefined in every
        system (fewer than 3 pairs, or one value on a side); systems in which it is are left out.

    Source: the "system" grouping of mt-metrics-eval, Freitag et al. (2022), Results of WMT22
    Metrics Shared Task.
    """
    return [
        _within_systems(*one, intervals=intervals)
        for one in _pairs(human, metrics, dialogue, system)
    ]


_Pairs = tuple[FloatArray, FloatArray, IntArray, IntArray]


def _pairs(
    human: ArrayLike, metrics: ArrayLike, dialogue: ArrayLike, group: ArrayLike | None
) -> list[_Pairs]:
    """For each metric: its pairs of finite scores, their dialogues, and their groups."""
    people = np.asarray(human, dtype=np.float64)
    rows = np.atleast_2d(np.asarray(metrics, dtype=np.float64))
    dialogues = numbered(np.asarray(dialogue, dtype=np.int64))
    groups = dialogues if group is None else numbered(np.asarray(group, dtype=np.int64))
    found = []
    for row in rows:
        both = np.isfinite(people) & np.isfinite(row)
        found.append((people[both], row[both], dialogues[both], groups[both]))
    return found


def _within_dialogues(
    human: FloatArray, metric: FloatArray, dialogue: IntArray, group: IntArray, *, intervals: bool
) -> GroupedCorrelation:
    held, index = np.unique(group, return_inverse=True)
    of_groups = _coefficients(human, metric, index, len(held))
    dialogue_of_group = np.zeros(len(held), dtype=np.int64)
    dialogue_of_group[index] = dialogue
    estimates = {}
    for name, values in of_groups.items():
        defined = ~np.isnan(values)
        estimates[name] = point = _mean(values, len(held))
        if not intervals or not point.is_defined:
            continue
        clusters = numbered(dialogue_of_group[defined])
        clusters = group_of_cluster(int(clusters.max()) + 1)[clusters]
        total, count = np.bincount(clusters, weights=values[defined]), np.bincount(clusters)
        rest = np.maximum(count.sum() - count, 1)
        estimates[name] = with_jackknife_interval(point, (total.sum() - total) / rest, "bounded")
    return GroupedCorrelation(estimates, len(held), _defined(of_groups))


def _within_systems(
    human: FloatArray, metric: FloatArray, dialogue: IntArray, system: IntArray, *, intervals: bool
) -> GroupedCorrelation:
    held, index = np.unique(system, return_inverse=True)
    of_systems = _coefficients(human, metric, index, len(held))
    estimates = {name: _mean(values, len(held)) for name, values in of_systems.items()}
    if intervals and len(human) and any(one.is_defined for one in estimates.values()):
        left_out = _means_without_each(human, metric, numbered(dialogue), index, len(held))
        estimates = {
            name: with_jackknife_interval(one, left_out[name], "bounded")
            for name, one in estimates.items()
        }
    return GroupedCorrelation(estimates, len(held), _defined(of_systems))


def _means_without_each(
    human: FloatArray, metric: FloatArray, dialogue: IntArray, system: IntArray, systems: int
) -> dict[str, FloatArray]:
    """{coefficient: (dialogues,) the mean over systems without each dialogue}: every system once
    for each dialogue, as groups of their own."""
    part = dialogue % min(MOST_LEFT_OUT, MOST_GROUPS)
    parts = int(part.max()) + 1
    retained = [np.flatnonzero(part != number) for number in range(parts)]
    items = np.concatenate(retained)
    copy = np.repeat(np.arange(parts), [len(one) for one in retained])
    found = _coefficients(
        human[items], metric[items], copy * systems + system[items], parts * systems
    )
    return {name: _row_means(values.reshape(parts, systems)) for name, values in found.items()}


def _coefficients(
    human: FloatArray, metric: FloatArray, group: IntArray, groups: int
) -> dict[str, FloatArray]:
    """{coefficient: (groups,)}, NaN where it is undefined. Groups of one size are correlated at
    once."""
    found = {name: np.full(groups, np.nan) for name in COEFFICIENTS}
    order = np.argsort(group, kind="stable")
    size = np.bincount(group, minlength=groups)
    first = np.cumsum(size) - size
    for members in np.unique(size[size >= MIN_PAIRS]):
        tied = np.flatnonzero(size == members)
        items = order[first[tied][:, None] + np.arange(members)]
        rows = correlate_rows(fixed_side(human[items]), compiled_rows(metric[items]))
        for name in COEFFICIENTS:
            found[name][tied] = rows[name]
    return found


def _mean(values: FloatArray, groups: int) -> Estimate:
    defined = values[~np.isnan(values)]
    if not groups:
        return Estimate.undefined("no response has both scores")
    if not len(defined):
        return Estimate.undefined(
            f"undefined within each of {groups}: fewer than {MIN_PAIRS} pairs, or one value only"
        )
    return Estimate(value=float(defined.mean()))


def _row_means(values: FloatArray) -> FloatArray:
    """(rows,) means of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _defined(of_groups: dict[str, FloatArray]) -> dict[str, int]:
    return {name: int((~np.isnan(values)).sum()) for name, values in of_groups.items()}
