"""Means of systems on the scale on which they are normal, whatever their shape, and how far an
error moves them there.

Ranks do not see how far apart two groups of systems lie, or how far off a baseline is; a model of
normal means does, and takes what parts the groups for what parts systems within them. Normal scores
(Blom 1958, Statistical Estimates and Transformed Beta-Variables: Φ⁻¹((rank − 3/8) / (S + 1/4)))
keep the order alone.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from leaderboard.statistics.placed_scores import FloatArray

REACH = 2.0
"""Standard errors to either side over which a slope is taken: where nearly all errors lie. Over one
of them slopes are steeper, for few points say little of so short a way, and intervals a fifth
wider."""


def normal_scores(means: FloatArray, error: float) -> tuple[FloatArray, FloatArray]:
    """Normal scores of system means, and how fast they grow with the means.

    Args:
        means: (systems,) finite means, at least two of them different.
        error: Standard error of a mean, in the units of the means; 0: nothing moves a score.

    Returns:
        (systems,) normal scores, shared by equal means, and (systems,) slopes: by how much a score
        grows where its mean grows by 1, averaged over ``REACH`` standard errors to either side. All
        slopes are 0 where ``error`` is.

    Equation: Φ⁻¹((rank − 3/8) / (S + 1/4)) for S systems (Blom 1958).
    """
    count = len(means)
    at, index, many = np.unique(means, return_inverse=True, return_counts=True)
    # Equal means share the middle of the ranks that they take
    ranks = np.cumsum(many) - (many - 1) / 2
    marks = np.asarray(ndtri((ranks - 3 / 8) / (count + 1 / 4)), dtype=np.float64)
    scores = marks[index]
    if error == 0:
        return scores, np.zeros_like(scores)
    outside = (marks[-1] - marks[0]) / (at[-1] - at[0])

    def score_of(indices: FloatArray) -> FloatArray:
        beyond = np.maximum(indices - at[-1], 0.0) + np.minimum(indices - at[0], 0.0)
        return np.asarray(np.interp(indices, at, marks) + outside * beyond)

    way = REACH * error
    return scores, (score_of(means + way) - score_of(means - way)) / (2 * way)
