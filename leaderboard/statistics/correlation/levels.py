"""Metric–human correlation at the turn, dialogue and system level, with intervals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from common.correlation import THREADS, correlation_estimates_of_many
from common.estimates import Estimate
from leaderboard.statistics.correlation.heavy_tails import heavy_tail_remark
from leaderboard.statistics.correlation.placed_scores import FloatArray, PlacedScores, system_sums
from leaderboard.statistics.correlation.resampling import Method, Recipe, Unit, item_redraws
from leaderboard.statistics.correlation.system_means import SystemMeans
from leaderboard.statistics.design import Design

MANY_SYSTEMS = 256
"""Below, arrays are so small that two threads wait for the interpreter longer than they save."""
SYSTEM_ONLY_NOTE = (
    "the metric's system scores are fixed; only the human means are redrawn for the interval"
)


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """How one metric agrees with people at one level."""

    n: int
    """Pairs of a human and a metric score: responses, dialogues of a system, or systems."""
    coverage: float | None
    """n divided by what people rated: 1.0 where the metric scored all of it; None where nothing was
    rated."""
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    note: str = ""
    pearson_remark: str = ""
    """Why the interval of Pearson's r may not hold."""


def correlate_items(
    human: ArrayLike,
    metrics: ArrayLike,
    dialogue: ArrayLike,
    resamples: int = 1000,
    seed: int = 0,
    *,
    system: ArrayLike | None = None,
    redraw: Unit = "dialogues",
    method: Method | None = None,
) -> list[MetricCorrelation]:
    """Correlation of each metric with human scores at the turn or dialogue level.

    There is one pair of scores for every response, or for every (system, dialogue). All metrics see
    the same draws of what has a human score.

    Args:
        human: (n,) human scores, NaN where there is none.
        metrics: (m, n) metric scores, NaN where there is none. Pairs without both scores are
            dropped, metric by metric, and counted in ``coverage``; scores that are not finite count
            as missing.
        dialogue: (n,) dialogue numbers.
        resamples: Bootstrap draws, where the method is "percentile"; 0: no intervals by either
            method.
        seed: The same seed gives the same draws.
        system: (n,) system numbers. None: dialogues are redrawn, whatever ``redraw`` is.
        redraw: What the intervals speak of: other dialogues, other systems, or both.
        method: "jackknife" or "percentile". None: "percentile" for both units, else "jackknife".

    Returns:
        One result per metric, in their order. A coefficient is undefined with fewer than 3 pairs,
        or where a side is constant.

    Raises:
        ValueError: ``metrics`` and ``human`` differ in length, or the method is "jackknife" for
            both units.
    """
    recipe = Recipe.of(redraw, method, resamples, seed)
    human_scores = np.asarray(human, dtype=np.float64)
    metric_scores = np.atleast_2d(np.asarray(metrics, dtype=np.float64))
    if metric_scores.shape[1] != len(human_scores):
        raise ValueError(
            f"{metric_scores.shape[1]} metric scores for {len(human_scores)} human scores"
        )
    rated = np.isfinite(human_scores)
    human_scores, metric_scores = human_scores[rated], metric_scores[:, rated]
    of_system = None if system is None else np.asarray(system, dtype=np.int64)[rated]
    cluster, redraws = item_redraws(recipe, of_system, np.asarray(dialogue, dtype=np.int64)[rated])
    scored = np.isfinite(metric_scores)
    estimates: dict[int, dict[str, Estimate]] = {}
    for tied_metrics in _identical_rows(scored):
        both = scored[tied_metrics[0]]
        found = correlation_estimates_of_many(
            human_scores[both],
            list(metric_scores[np.ix_(tied_metrics, both)]),
            cluster[both],
            redraws,
        )
        estimates.update(zip(tied_metrics, found, strict=True))
    return [
        replace(
            _result(estimates[row], int(scored[row].sum()), len(human_scores)),
            pearson_remark=heavy_tail_remark(
                human_scores[scored[row]], metric_scores[row, scored[row]]
            ),
        )
        for row in range(len(metric_scores))
    ]


def correlate_systems(
    human: PlacedScores,
    metrics: PlacedScores,
    systems: int,
    system_scores: ArrayLike | None = None,
    resamples: int = 1000,
    seed: int = 0,
    *,
    redraw: Unit = "dialogues",
    method: Method | None = None,
) -> list[MetricCorrelation]:
    """Correlation of each metric with human scores at the system level, over system means.

    A metric's system score is its mean over all responses that it scored, with or without a human
    score. For the interval over dialogues all means are recomputed without each dialogue or in each
    draw; one that leaves a compared system without any score is undefined.

    Args:
        human: One list of item scores.
        metrics: m lists of k item scores, with the same numbering of systems and dialogues.
        systems: Number of systems.
        system_scores: (m', systems) scores of metrics that exist per system only, NaN where
            undefined. None: no such metrics.
        resamples: Draws for the intervals; 0: no intervals by either method.
        seed: The same seed gives the same draws.
        redraw: What the intervals speak of: other dialogues, other systems, or both.
        method: "jackknife" or "percentile". None: "percentile" for both units, else "jackknife".

    Returns:
        m results, then m' results; n and coverage count systems. A coefficient is undefined with
        fewer than 3 systems, or where a side is constant.

    Raises:
        ValueError: ``system_scores`` does not have ``systems`` columns, or the method is
            "jackknife" for both units.
    """
    recipe = Recipe.of(redraw, method, resamples, seed)
    dialogues = np.unique(np.concatenate((human.dialogue, metrics.dialogue)))
    human_dialogue = np.searchsorted(dialogues, human.dialogue)
    metric_dialogue = np.searchsorted(dialogues, metrics.dialogue)
    human_sums = system_sums(human.scores[0], human.system, human_dialogue, systems, len(dialogues))
    sums = [
        system_sums(row, metrics.system, metric_dialogue, systems, len(dialogues))
        for row in metrics.scores
    ]
    fixed_scores = (
        np.empty((0, systems)) if system_scores is None else np.atleast_2d(_finite(system_scores))
    )
    if fixed_scores.shape[1] != systems:
        raise ValueError(f"{fixed_scores.shape[1]} system scores for {systems} systems")
    human_means = human_sums.means()
    means = np.concatenate(
        (np.array([one.means() for one in sums]).reshape(len(sums), systems), fixed_scores)
    )

    there: NDArray[np.bool_] = np.any([human_sums.count, *(one.count for one in sums)], axis=0)
    rated = np.isfinite(human_means)
    compared = np.isfinite(means) & rated
    results: dict[int, MetricCorrelation] = {}
    for identical_rows in _identical_rows(compared):
        both = compared[identical_rows[0]]
        side = SystemMeans(human_sums.only(both), recipe, Design(there[both]).strata)

        def correlated(
            row: int, both: NDArray[np.bool_] = both, side: SystemMeans = side
        ) -> tuple[int, MetricCorrelation]:
            of_metric = sums[row].only(both) if row < len(sums) else None
            found = side.correlated(means[row][both], of_metric)
            note = _missing_note(metrics.scores[row]) if row < len(sums) else SYSTEM_ONLY_NOTE
            return row, _result(found, int(both.sum()), int(rated.sum()), note)

        with ThreadPoolExecutor(THREADS if both.sum() > MANY_SYSTEMS else 1) as pool:
            results.update(pool.map(correlated, identical_rows))
    return [results[row] for row in range(len(means))]


def _result(found: dict[str, Estimate], n: int, rated: int, note: str = "") -> MetricCorrelation:
    coverage = n / rated if rated else None
    return MetricCorrelation(
        n, coverage, found["pearson"], found["spearman"], found["kendall"], note
    )


def _missing_note(scores: FloatArray) -> str:
    missing = int(np.isnan(scores).sum())
    return (
        f"{missing:,} of {len(scores):,} responses have no score and are left out of the means"
        if missing
        else ""
    )


def _finite(scores: ArrayLike) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _identical_rows(present: NDArray[np.bool_]) -> list[list[int]]:
    """Row numbers grouped by which places are present: those metrics can share the human side."""
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(present):
        groups.setdefault(row.tobytes(), []).append(number)
    return list(groups.values())
