"""ρ and τ-b of one fixed list of human means with very many lists of metric means, one list a row.

What ``rowwise`` does for two sides that both change, done faster for a human side that stands
still: rows are ranked by one sort of whole numbers that hold value and place at once, and pairs of
systems are compared in the order that people give them, so that every comparison of ranks is a
count of concordant pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.statistics.placed_scores import FloatArray, IntArray
from leaderboard.statistics.rowwise import compiled_rows

RESOLUTION = 2.0**36
"""Values closer than 1.5e-11 are equal. Rows hold means of standardised scores, of the size of
1."""
MOST_SYSTEMS = 4096
"""Value and place share 63 bits; with 12 for the place, values up to 16,000 remain."""


@dataclass(frozen=True)
class HumanOrder:
    """The human means of the systems, made ready."""

    order: IntArray
    """Systems from the lowest mean to the highest."""
    later: IntArray
    """For each place in that order, where the systems with a higher mean begin."""
    ranks: FloatArray
    """Twice the centred midranks, in that order."""
    untied: float


def human_order(means: FloatArray) -> HumanOrder:
    """Compile human means for correlation with many rows of metric means.

    Args:
        means: (systems,), finite.

    Returns:
        The order and ranks that ``spearman_and_kendall`` needs.
    """
    order = np.argsort(means, kind="stable")
    ascending = means[order]
    rows = compiled_rows(ascending[None, :])
    return HumanOrder(
        order,
        np.searchsorted(ascending, ascending, side="right"),
        rows.ranks[0],
        float(rows.untied[0]),
    )


def spearman_and_kendall(human: HumanOrder, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Spearman's ρ and Kendall's τ-b of the human means with every row of metric means.

    Args:
        human: from ``human_order``, of the same systems.
        rows: (rows, systems), finite, of the size of 1; values closer than 1.5e-11 tie.

    Returns:
        (ρ, τ-b), (rows,) each, in [−1, 1]; NaN where the row or the human means are constant.

    Raises:
        ValueError: there are more than 4096 systems.
    """
    systems = rows.shape[1]
    if systems > MOST_SYSTEMS:
        raise ValueError(f"{systems} systems: at most {MOST_SYSTEMS} can be ranked at once")
    index, first, last = _places(rows[:, human.order])
    has_ties = last is not None
    ranks = first.astype(np.float64) + (first if last is None else last) - (systems - 1)
    squares = np.einsum("rs,rs->r", ranks, ranks)
    human_squares = float(human.ranks @ human.ranks)
    agreeing, decided, untied = _concordance(human, index, has_ties)
    with np.errstate(invalid="ignore", divide="ignore"):
        spearman = (ranks @ human.ranks) / np.sqrt(squares * human_squares)
        kendall = (2.0 * agreeing - decided) / np.sqrt(untied * human.untied)
    return spearman, kendall


def _places(rows: FloatArray) -> tuple[NDArray[np.generic], IntArray, IntArray | None]:
    """Dense-enough places as narrow integers (systems, rows) for comparing, and for each value
    where the group of its equals begins and ends in its row (rows, systems); the ends are None
    where no row has a tie."""
    count, systems = rows.shape
    bits = max(1, (systems - 1).bit_length())
    keys = np.rint(rows * RESOLUTION).astype(np.int64)
    keys <<= bits
    keys |= np.arange(systems)
    keys.sort(axis=1)
    whose = keys & ((1 << bits) - 1)
    whose += systems * np.arange(count)[:, None]
    keys >>= bits
    equal = keys[:, 1:] == keys[:, :-1]
    narrow = np.uint8 if systems <= 256 else np.uint16
    position = np.arange(systems, dtype=np.int64)
    first = np.empty((count, systems), dtype=np.int64)
    if not equal.any():
        first.ravel()[whose] = position
        return np.ascontiguousarray(first.T.astype(narrow)), first, None
    begins = np.ones((count, systems), dtype=bool)
    np.logical_not(equal, out=begins[:, 1:])
    ends = np.ones_like(begins)
    ends[:, :-1] = begins[:, 1:]
    last = np.empty_like(first)
    first.ravel()[whose] = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    last.ravel()[whose] = np.minimum.accumulate(np.where(ends, position, systems)[:, ::-1], axis=1)[
        :, ::-1
    ]
    return np.ascontiguousarray(first.T.astype(narrow)), first, last


def _concordance(
    human: HumanOrder, place: NDArray[np.generic], has_ties: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Concordant pairs, pairs that neither side ties, and pairs that the row does not tie: (rows,)
    each."""
    systems, count = place.shape
    narrow = np.int8 if systems <= 128 else np.int16
    higher, lower = np.zeros(count), np.zeros(count)
    tied = np.zeros(count)
    for i in range(systems - 1):
        above = place[human.later[i] :]
        higher += np.add.reduce((above > place[i]).view(np.int8), axis=0, dtype=narrow)
        if has_ties:
            lower += np.add.reduce((above < place[i]).view(np.int8), axis=0, dtype=narrow)
            tied += np.add.reduce((place[i + 1 :] == place[i]).view(np.int8), axis=0, dtype=narrow)
    decided = higher + lower if has_ties else np.full(count, human.untied)
    untied = systems * (systems - 1) / 2 - tied
    return higher, decided, np.where(untied > 0, untied, np.nan)
