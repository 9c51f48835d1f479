"""A least-squares line and the band that holds it with 95 % confidence at each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

PLACES = 25
LEAST_CLUSTERS = 5
"""Fewer dialogues cannot be redrawn in enough ways; the band then takes the points as
independent."""


@dataclass(frozen=True, slots=True)
class RegressionBand:
    """``low`` and ``high``: (places,) at each of ``human``; pointwise, not for the whole line at
    once."""

    human: FloatArray
    low: FloatArray
    high: FloatArray
    method: Literal["bootstrap", "t"]
    clusters: int


def regression_band(
    human: FloatArray,
    metric: FloatArray,
    dialogue: IntArray | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> RegressionBand | str:
    """95 % confidence band of the least-squares line of a metric on human scores.

    Args:
        human: (n,), finite.
        metric: (n,), finite.
        dialogue: (n,) numbers; None where they are not known.
        resamples: bootstrap draws of dialogues, at least 1.
        seed: of the draws.

    Returns:
        The band at 25 human scores from the lowest to the highest, pointwise; or the reason why
        there is none: fewer than 3 points, or human scores that are all equal.

    With 5 dialogues or more: the percentiles 2.5 and 97.5 of the lines of resamples of dialogues.
    Else from Student's t: ŷ ± t(0.975, n − 2) · s · √(1/n + (x − x̄)² / Σ(x − x̄)²), as in Draper &
    Smith (1998), Applied Regression Analysis, chapter 3, which takes the points as independent.
    """
    human, metric = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if len(human) < 3:
        return "a band needs at least 3 points"
    if human.min() == human.max():
        return "all human scores are equal"
    indices = np.linspace(human.min(), human.max(), PLACES)
    clusters = 0 if dialogue is None else len(np.unique(dialogue))
    if dialogue is not None and clusters >= LEAST_CLUSTERS:
        lines = _resampled_lines(human, metric, dialogue, indices, resamples, seed)
        if len(lines):
            low, high = np.percentile(lines, [2.5, 97.5], axis=0)
            return RegressionBand(indices, low, high, "bootstrap", clusters)
    middle = human.mean()
    squares = ((human - middle) ** 2).sum()
    slope = ((human - middle) * (metric - metric.mean())).sum() / squares
    line = metric.mean() + slope * (indices - middle)
    residuals = metric - metric.mean() - slope * (human - middle)
    spread = np.sqrt((residuals**2).sum() / (len(human) - 2))
    half = (
        stdtrit(len(human) - 2, 0.975)
        * spread
        * np.sqrt(1 / len(human) + (indices - middle) ** 2 / squares)
    )
    return RegressionBand(indices, line - half, line + half, "t", clusters)


def _resampled_lines(
    human: FloatArray,
    metric: FloatArray,
    dialogue: IntArray,
    indices: FloatArray,
    resamples: int,
    seed: int,
) -> FloatArray:
    """(resamples, places); those in which all human scores are equal are left out."""
    cluster = np.unique(dialogue, return_inverse=True)[1]
    centre, level = human.mean(), metric.mean()
    x, y = human - centre, metric - level  # sums of squares of large numbers lose digits
    sums = np.stack(
        [np.bincount(cluster, weights=column) for column in (np.ones_like(x), x, y, x * x, x * y)]
    )
    weights = cluster_resamples(sums.shape[1], resamples, seed).astype(np.float64)
    n, sx, sy, sxx, sxy = (weights @ sums.T).T
    spread = sxx - sx * sx / n
    retained = spread > 1e-12 * sxx.max()
    slope = (sxy[retained] - sx[retained] * sy[retained] / n[retained]) / spread[retained]
    start = (sy[retained] - slope * sx[retained]) / n[retained]
    lines: FloatArray = level + start[:, None] + slope[:, None] * (indices - centre)
    return lines
