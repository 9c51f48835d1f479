"""Metric–human correlation at the turn, dialogue and system level, with intervals over dialogues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotations.correlation import (
    COEFFICIENTS,
    cluster_resamples,
    correlation_estimates,
    correlation_estimates_of_many,
    with_interval,
)
from annotations.estimates import Estimate
from leaderboard.statistics.placed_scores import FloatArray, IntArray, PlacedScores, SystemSums, system_sums
from leaderboard.statistics.rowwise import FixedSide, correlate_rows, fixed_side, prepared_rows

SYSTEM_ONLY_NOTE = "the metric's system scores are fixed; only the human means are redrawn for the interval"


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """How one metric agrees with people at one level."""

    n: int
    """Pairs of a human and a metric score: responses, dialogues of a system, or systems."""
    coverage: float | None
    """n divided by what people rated: 1.0 where the metric scored all of it; None where nothing was rated."""
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    note: str = ""


def correlate_items(
    human: ArrayLike, metrics: ArrayLike, dialogue: ArrayLike, resamples: int = 1000, seed: int = 0
) -> list[MetricCorrelation]:
    """Turn or dialogue level: one pair of scores for every response, or for every (system, dialogue).

    ``human``: (n,), ``metrics``: (m, n), NaN where there is no score; those pairs are dropped, metric by metric, and
    counted in ``coverage``. ``dialogue``: (n,) numbers. All metrics see the same resamples of the rated dialogues.
    ``resamples`` 0 leaves the intervals out. Scores that are not finite count as missing.
    """
    human_scores = np.asarray(human, dtype=np.float64)
    metric_scores = np.atleast_2d(np.asarray(metrics, dtype=np.float64))
    if metric_scores.shape[1] != len(human_scores):
        raise ValueError(f"{metric_scores.shape[1]} metric scores for {len(human_scores)} human scores")
    rated = np.isfinite(human_scores)
    human_scores, metric_scores = human_scores[rated], metric_scores[:, rated]
    cluster = _renumbered(np.asarray(dialogue, dtype=np.int64)[rated])
    weights = _weights(cluster, resamples, seed)
    scored = np.isfinite(metric_scores)
    estimates: dict[int, dict[str, Estimate]] = {}
    for metrics_alike in _rows_alike(scored):
        both = scored[metrics_alike[0]]
        found = correlation_estimates_of_many(
            human_scores[both], list(metric_scores[np.ix_(metrics_alike, both)]), cluster[both], weights
        )
        estimates.update(zip(metrics_alike, found, strict=True))
    return [_result(estimates[row], int(scored[row].sum()), len(human_scores)) for row in range(len(metric_scores))]


def correlate_systems(
    human: PlacedScores,
    metrics: PlacedScores,
    systems: int,
    system_scores: ArrayLike | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[MetricCorrelation]:
    """System level: a system's mean human score with its metric score, over systems.

    ``human``: one list of item scores. ``metrics``: (m, k) item scores; a metric's system score is the mean over all
    responses it scored, rated or not. ``system_scores``: (m', systems) for metrics that exist per system only, NaN
    where undefined. Returns m results, then m' results. For the interval, dialogues are redrawn and all means are
    made anew, so it speaks of other dialogues and of the same systems; a resample that leaves a compared system
    without any score is undefined. n and coverage count systems.
    """
    dialogues = np.unique(np.concatenate((human.dialogue, metrics.dialogue)))
    human_dialogue = np.searchsorted(dialogues, human.dialogue)
    metric_dialogue = np.searchsorted(dialogues, metrics.dialogue)
    human_sums = system_sums(human.scores[0], human.system, human_dialogue, systems, len(dialogues))
    sums = [system_sums(row, metrics.system, metric_dialogue, systems, len(dialogues)) for row in metrics.scores]
    fixed_scores = np.empty((0, systems)) if system_scores is None else np.atleast_2d(_finite(system_scores))
    if fixed_scores.shape[1] != systems:
        raise ValueError(f"{fixed_scores.shape[1]} system scores for {systems} systems")
    human_means = human_sums.means()
    means = np.concatenate((np.array([one.means() for one in sums]).reshape(len(sums), systems), fixed_scores))

    weights = _weights(np.arange(len(dialogues)), resamples, seed)
    dialogues_rated = int((human_sums.count.sum(axis=0) > 0).sum())
    rated = np.isfinite(human_means)
    compared = np.isfinite(means) & rated
    drawn_counts: dict[bytes, FloatArray] = {}

    def redrawn_means(one: SystemSums, both: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
        kept = one.only(both)
        key = kept.count.tobytes()  # metrics that scored the same responses share their counts
        if key not in drawn_counts:
            drawn_counts[key] = kept.drawn_counts(weights)
        return kept.resampled_means(weights, drawn_counts[key])

    def correlated(row: int, both: NDArray[np.bool_], human_side: FixedSide | None) -> MetricCorrelation:
        found = correlation_estimates(human_means[both], means[row][both], np.zeros(int(both.sum()), dtype=np.int64))
        if human_side is not None and weights is not None:
            redrawn = redrawn_means(sums[row], both, weights) if row < len(sums) else means[row][None, both]
            replicates = correlate_rows(human_side, prepared_rows(redrawn))
            found = {name: with_interval(found[name], replicates[name], dialogues_rated) for name in COEFFICIENTS}
        note = _missing_note(metrics.scores[row]) if row < len(sums) else SYSTEM_ONLY_NOTE
        return _result(found, int(both.sum()), int(rated.sum()), note)

    results: dict[int, MetricCorrelation] = {}
    for rows_alike in _rows_alike(compared):
        both = compared[rows_alike[0]]
        human_side = None
        if weights is not None and both.sum() > 1:
            human_side = fixed_side(redrawn_means(human_sums, both, weights))
        for row in rows_alike:
            results[row] = correlated(row, both, human_side)
    return [results[row] for row in range(len(means))]


def _result(found: dict[str, Estimate], n: int, rated: int, note: str = "") -> MetricCorrelation:
    coverage = n / rated if rated else None
    return MetricCorrelation(n, coverage, found["pearson"], found["spearman"], found["kendall"], note)


def _missing_note(scores: FloatArray) -> str:
    missing = int(np.isnan(scores).sum())
    return f"{missing:,} of {len(scores):,} responses have no score and are left out of the means" if missing else ""


def _finite(scores: ArrayLike) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _renumbered(numbers: IntArray) -> IntArray:
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)


def _weights(cluster: IntArray, resamples: int, seed: int) -> FloatArray | None:
    if resamples == 0 or not len(cluster):
        return None
    return cluster_resamples(int(cluster.max()) + 1, resamples, seed).astype(np.float64)


def _rows_alike(present: NDArray[np.bool_]) -> list[list[int]]:
    """Row numbers grouped by which places are present: those metrics can share the human side."""
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(present):
        groups.setdefault(row.tobytes(), []).append(number)
    return list(groups.values())
