"""How each rater uses the scale: how often each score was given."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotations.agreement.matrix import RatingMatrix

MOST_STEPS = 11
"""Scores of more different values than this are not shown one by one."""


def score_use(matrix: RatingMatrix) -> dict[str, Any]:
    """Each rater's number of ratings, mean, and count of each score.

    Args:
        matrix: the ratings; ``levels`` are the scores of the scale where they are known.

    Returns:
        ``steps``: the scores of the scale, or those given where it is not known; None where they
        are more than ``MOST_STEPS`` or where a score lies between them. ``raters``: of each with a
        rating the name, ``ratings``, ``mean`` and ``counts`` along the steps (None without steps).
        No raters where they are not identified: a position in a list, or a mean, is nobody.
    """
    given = np.unique(matrix.scores[np.isfinite(matrix.scores)])
    steps = np.array(matrix.levels) if matrix.levels else given
    is_stepwise = 0 < steps.size <= MOST_STEPS and bool(np.isin(given, steps).all())
    raters = []
    for name, row in zip(matrix.raters, matrix.scores, strict=True):
        own = row[np.isfinite(row)]
        if matrix.rater_kind != "identified" or not own.size:
            continue
        raters.append(
            {
                "rater": name,
                "ratings": int(own.size),
                "mean": float(own.mean()),
                "counts": [int((own == step).sum()) for step in steps] if is_stepwise else None,
            }
        )
    return {"steps": steps.tolist() if is_stepwise else None, "raters": raters}
