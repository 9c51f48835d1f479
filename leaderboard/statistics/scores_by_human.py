"""How a metric's scores lie at each human score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.placed_scores import FloatArray

STEPS = (1.0, 0.5, 0.25, 0.1)
GROUPS = 3
"""A coarser step than one that gives this many groups hides what there is to see."""


@dataclass(frozen=True, slots=True)
class ScoresAt:
    """A metric's scores where the human score, rounded to a multiple of the step, is ``human``.
    ``low`` and ``high``: the 5th and the 95th percentile."""

    human: float
    n: int
    mean: float
    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float


def scores_by_human(human: FloatArray, metric: FloatArray) -> tuple[float, list[ScoresAt]]:
    """Distribution of a metric's scores at each human score.

    Human scores are rounded, halves up, to whole numbers, or to finer steps where these would give
    fewer than 3 groups. Percentiles are interpolated linearly.

    Args:
        human: (n,), NaN where there is none; pairs with a NaN are left out.
        metric: (n,), NaN where there is none.

    Returns:
        (step that human scores are rounded to, one group per rounded human score, ascending); (1.0,
        []) without pairs.
    """
    both = np.isfinite(human) & np.isfinite(metric)
    human, metric = human[both], metric[both]
    if not len(human):
        return STEPS[0], []
    grouped = {step: np.floor(human / step + 0.5) * step for step in STEPS}
    counts = {step: len(np.unique(rounded)) for step, rounded in grouped.items()}
    step = next(
        (step for step in STEPS if counts[step] >= GROUPS),
        max(STEPS, key=lambda one: (counts[one], one)),
    )
    return step, [
        _at(float(value), metric[grouped[step] == value]) for value in np.unique(grouped[step])
    ]


def _at(human: float, scores: FloatArray) -> ScoresAt:
    low, lower, median, upper, high = (
        float(one) for one in np.percentile(scores, [5, 25, 50, 75, 95])
    )
    return ScoresAt(
        round(human, 6), len(scores), float(scores.mean()), low, lower, median, upper, high
    )
