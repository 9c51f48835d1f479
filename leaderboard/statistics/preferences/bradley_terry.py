"""Bradley–Terry strengths by Newton's method, of one table of wins or of many at once.

Bradley & Terry (1952), Rank analysis of incomplete block designs, Biometrika 39. P(i beats j) =
σ(λi − λj); a tie is half a win each way. The log-likelihood is concave and its curvature changes by
a factor of at most e^d where strengths change by d, so that a Newton step shortened to log(1 + d)/d
of itself rises from anywhere (Sun & Tran-Dinh 2019, Generalized self-concordant functions,
Mathematical Programming 178) and is the whole step where it ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit

from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.preferences.battles import Battles
from leaderboard.statistics.preferences.connectivity import is_strongly_connected

MOST_STEPS = 100
NEAR = 1e-8
"""A step of at most this size is the last: the next one would have its square."""
ELO_MEAN, ELO_SCALE = 1000.0, 400.0 / np.log(10.0)
DRAWS_AT_ONCE = 2_500_000
"""Of conversations: 20 MB."""


def strengths(wins: ArrayLike, start: ArrayLike | None = None) -> FloatArray:
    """Bradley–Terry strengths on the log scale, centred to mean 0.

    Args:
        wins: (S, S), or (B, S, S) for B tables: wins of the row over the column, a tie as half a
            win each way.
        start: (S,) strengths to begin with, such as those of all data for resamples.

    Returns:
        (S,) or (B, S). NaN for a table whose graph "beat or tied" is not strongly connected: there
        is no finite maximum (``connectivity.why_undefined`` names the groups).

    Equation: Σj wij = Σj (wij + wji) σ(λi − λj) for every i.
    """
    given = np.asarray(wins, dtype=np.float64)
    tables = given if given.ndim == 3 else given[np.newaxis]
    count, size = tables.shape[:2]
    found = np.full((count, size), np.nan)
    defined = is_strongly_connected(tables)
    if size > 1 and defined.any():
        found[defined] = _fitted(tables[defined], np.zeros(size) if start is None else start)
    return found if given.ndim == 3 else np.asarray(found[0])


def _fitted(wins: FloatArray, start: ArrayLike) -> FloatArray:
    count, size = wins.shape[:2]
    games, won = wins + wins.swapaxes(1, 2), wins.sum(axis=2)
    found = np.broadcast_to(np.asarray(start, dtype=np.float64), (count, size)).copy()
    diagonal = np.arange(size)
    for _ in range(MOST_STEPS):
        chance = expit(found[:, :, np.newaxis] - found[:, np.newaxis, :])
        expected = games * chance
        negative = expected * (chance - 1.0)
        curvature = -negative.sum(axis=2)
        # What holds the mean at 0 is as large as the rest of the matrix
        negative += curvature.mean(axis=1)[:, np.newaxis, np.newaxis] / size
        negative[:, diagonal, diagonal] += curvature
        step = np.linalg.solve(negative, (won - expected.sum(axis=2))[:, :, np.newaxis])[:, :, 0]
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


def elo(strength: ArrayLike) -> FloatArray:
    """Strengths on the Elo scale, with mean 1000: 400 points are odds of 10.

    Args:
        strength: on the log scale, centred; any shape.

    Returns:
        1000 + 400/ln 10 · λ.
    """
    return np.asarray(ELO_MEAN + ELO_SCALE * np.asarray(strength, dtype=np.float64))


def log_likelihood(battles: Battles, strength: ArrayLike) -> float:
    """Of the battles, without the constant of ties.

    Args:
        battles: n votes.
        strength: (S,) on the log scale.

    Returns:
        Σ y log p + (1 − y) log(1 − p), at most 0.
    """
    known = np.asarray(strength, dtype=np.float64)
    difference = known[battles.a] - known[battles.b]
    won = battles.won
    return float(-(won * np.logaddexp(0, -difference)).sum()) - float(
        ((1 - won) * np.logaddexp(0, difference)).sum()
    )


def resampled_strengths(battles: Battles, resamples: int = 1000, seed: int = 0) -> FloatArray:
    """Strengths in bootstrap resamples of whole conversations.

    Args:
        battles: n votes.
        resamples: number of resamples, B.
        seed: the same seed gives the same draws.

    Returns:
        (B, S); NaN in a resample that has no finite strengths. Their number belongs beside anything
        that is made of the others.

    Raises:
        ValueError: there are no battles, or ``resamples`` is below 1.
    """
    _, cluster = np.unique(battles.conversation, return_inverse=True)
    clusters, size = int(cluster.max(initial=-1)) + 1, battles.systems
    of_a, of_b = np.flatnonzero(battles.won > 0), np.flatnonzero(battles.won < 1)
    pair = np.concatenate(
        (
            battles.a[of_a] * size + battles.b[of_a],
            battles.b[of_b] * size + battles.a[of_b],
        )
    )
    won = np.concatenate((battles.won[of_a], 1.0 - battles.won[of_b])).astype(np.float32)
    of_cluster = np.concatenate((cluster[of_a], cluster[of_b]))
    table = csr_array((won, (pair, of_cluster)), shape=(size * size, clusters))
    start = strengths(battles.wins())
    start = np.where(np.isfinite(start), start, 0.0)
    random = np.random.default_rng(seed)
    at_once = max(1, min(DRAWS_AT_ONCE // max(clusters, 1), resamples))
    found = []
    for first in range(0, resamples, at_once):
        drawn = cluster_resamples(clusters, min(at_once, resamples - first), random)
        # Sums of halves below 2²³ are exact as float32
        wins = (table @ drawn.T.astype(np.float32)).T.astype(np.float64)
        found.append(strengths(wins.reshape(-1, size, size), start))
    return np.concatenate(found)
