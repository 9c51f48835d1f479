"""Bradley–Terry strengths by Newton's method. Pure: no Django here.

Bradley & Terry (1952), Rank analysis of incomplete block designs, Biometrika 39. P(i beats j) =
σ(λi − λj); a tie is half a win each way. The log-likelihood is concave and its curvature changes by
a factor of at most e^d where strengths change by d, so that a Newton step shortened to log(1 + d)/d
of itself rises from anywhere (Sun & Tran-Dinh 2019, Generalized self-concordant functions,
Mathematical Programming 178) and is the whole step where it ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

FloatArray = NDArray[np.float64]

MOST_STEPS = 100
NEAR = 1e-8
"""A step of at most this size is the last: the next one would have its square."""
ELO_MEAN, ELO_SCALE = 1000.0, 400.0 / np.log(10.0)
"""1000 + 400/ln 10 · λ: 400 points are odds of 10."""


def fitted_strengths(
    wins: FloatArray, start: ArrayLike | None = None, prior: float = 0.0
) -> FloatArray:
    """Strengths on the log scale, centred to mean 0, of many tables at once.

    Args:
        wins: (B, S, S) wins of the row over the column, a tie as half a win each way.
        start: (S,) strengths to begin with.
        prior: precision of the normal prior around 0. Without one the graph "beat or tied" of each
            table must be strongly connected: else there is no finite maximum.

    Returns:
        (B, S).

    Equation: Σj wij − Σj (wij + wji) σ(λi − λj) = prior · λi for every i.
    """
    count, size = wins.shape[:2]
    games, won = wins + wins.swapaxes(1, 2), wins.sum(axis=2)
    begin = np.zeros(size) if start is None else np.asarray(start, dtype=np.float64)
    found = np.broadcast_to(begin, (count, size)).copy()
    diagonal = np.arange(size)
    for _ in range(MOST_STEPS):
        chance = expit(found[:, :, np.newaxis] - found[:, np.newaxis, :])
        expected = games * chance
        negative = expected * (chance - 1.0)
        curvature = prior - negative.sum(axis=2)
        # What holds the mean at 0 is as large as the rest of the matrix
        negative += curvature.mean(axis=1)[:, np.newaxis, np.newaxis] / size
        negative[:, diagonal, diagonal] += curvature
        gradient = won - expected.sum(axis=2) - prior * found
        step = np.linalg.solve(negative, gradient[:, :, np.newaxis])[:, :, 0]
        width = np.ptp(step, axis=1)
        found += step * shortened(width)[:, np.newaxis]
        if width.max() < NEAR:
            break
    centred: FloatArray = found - found.mean(axis=1, keepdims=True)
    return centred


def shortened(width: FloatArray) -> FloatArray:
    """The part of a Newton step that is taken: log(1 + d)/d.

    Args:
        width: how far the step would move any difference of two strengths, d ≥ 0.

    Returns:
        From 0 to 1, as ``width``.
    """
    part: FloatArray = np.divide(np.log1p(width), width, out=np.ones_like(width), where=width > 0)
    return part
