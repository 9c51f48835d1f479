"""Bradley–Terry strengths of one table of wins or of many at once (``common.bradley_terry``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from common.bradley_terry import ELO_MEAN, ELO_SCALE, fitted_strengths
from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.preferences.battles import Battles
from leaderboard.statistics.preferences.connectivity import is_strongly_connected

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
        found[defined] = fitted_strengths(tables[defined], start)
    return found if given.ndim == 3 else np.asarray(found[0])


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
