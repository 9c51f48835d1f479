"""How each rater uses the scale: how often each score was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotations.agreement.matrix import RatingMatrix

MOST_STEPS = 11
"""Scores of more different values than this are not shown one by one."""


@dataclass(frozen=True, slots=True)
class RaterScores:
    """``counts``: of each step; None without steps."""

    rater: str
    ratings: int
    mean: float
    counts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class ScoreUse:
    """``steps``: scores of the scale, None where they are not shown one by one."""

    steps: tuple[float, ...] | None
    raters: tuple[RaterScores, ...]


def score_use(matrix: RatingMatrix) -> ScoreUse:
    """Each rater's number of ratings, mean, and count of each score.

    Args:
        matrix: the ratings; ``levels`` are the scores of the scale where they are known.

    Returns:
        ``steps``: the scores of the scale, or those given where it is not known; None where they
        are more than ``MOST_STEPS`` or where a score lies between them. ``raters``: each with a
        rating. No raters where they are not identified: a position in a list, or a mean, is nobody.
    """
    given = np.unique(matrix.scores[np.isfinite(matrix.scores)])
    steps = np.array(matrix.levels) if matrix.levels else given
    is_stepwise = 0 < steps.size <= MOST_STEPS and bool(np.isin(given, steps).all())
    raters = []
    for name, row in zip(matrix.raters, matrix.scores, strict=True):
        own = row[np.isfinite(row)]
        if matrix.rater_kind != "identified" or not own.size:
            continue
        counts = tuple(int((own == step).sum()) for step in steps) if is_stepwise else None
        raters.append(RaterScores(name, int(own.size), float(own.mean()), counts))
    return ScoreUse(tuple(steps.tolist()) if is_stepwise else None, tuple(raters))
