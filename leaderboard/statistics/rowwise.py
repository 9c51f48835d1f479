"""r, ρ and τ-b between rows: row k of one matrix with row k of the other, all rows at once.

For the system level, where every resample has means of its own and so nothing can be counted ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.statistics.placed_scores import FloatArray


@dataclass(frozen=True)
class Rows:
    """A matrix (rows, systems) made ready to be correlated with others. A matrix with one row serves all rows."""

    deviations: FloatArray
    """(rows, systems) value minus the row's mean."""
    squares: FloatArray
    """(rows,) sums of the squared deviations; NaN where the row is constant or has a missing value."""
    ranks: FloatArray
    """(rows, systems) twice the centred midranks."""
    rank_squares: FloatArray
    place: NDArray[np.uint16] | NDArray[np.uint8]
    """(systems, rows) dense ranks from 0."""
    has_ties: bool
    untied: FloatArray
    """(rows,) pairs of systems with different values."""


def prepared_rows(values: FloatArray) -> Rows:
    """``values``: (rows, systems), at most 65,536 systems. Rows with a NaN give NaN coefficients."""
    values = np.where(np.isnan(values).any(axis=1, keepdims=True), 0.0, values)
    rows, systems = values.shape
    constant = values.min(axis=1) == values.max(axis=1)
    deviations = values - values.mean(axis=1, keepdims=True)
    order = np.argsort(values, axis=1)
    sorted_place = order + systems * np.arange(rows)[:, None]
    ascending = values.ravel()[sorted_place]
    begins = np.ones((rows, systems), dtype=bool)
    np.not_equal(ascending[:, 1:], ascending[:, :-1], out=begins[:, 1:])
    has_ties = not begins.all()
    position = np.arange(systems, dtype=np.int32)[None, :]
    first, last = _group_ends(begins, position) if has_ties else (position, position)
    # Narrow integers make the pairwise comparisons of τ fast.
    place = np.empty((rows, systems), dtype=np.uint8 if systems <= 256 else np.uint16)
    place.ravel()[sorted_place] = first
    if has_ties:
        ranks = np.empty((rows, systems))
        ranks.ravel()[sorted_place] = first + last - (systems - 1)
    else:
        ranks = 2.0 * place - (systems - 1)
    untied = systems * (systems - 1) / 2 - (position - first).sum(axis=1).astype(np.float64)
    return Rows(
        deviations=deviations,
        squares=_undefined_where(constant, np.einsum("rs,rs->r", deviations, deviations)),
        ranks=ranks,
        rank_squares=_undefined_where(constant, np.einsum("rs,rs->r", ranks, ranks)),
        place=np.ascontiguousarray(place.T),
        has_ties=has_ties,
        untied=_undefined_where(constant, np.broadcast_to(untied, rows)),
    )


def _group_ends(begins: NDArray[np.bool_], position: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(rows, systems) twice: where the group of equal values at each sorted place begins and ends."""
    ends = np.ones_like(begins)
    ends[:, :-1] = begins[:, 1:]
    first = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, position, position.size)[:, ::-1], axis=1)[:, ::-1]
    return first, last


@dataclass(frozen=True)
class FixedSide:
    """The side that is shared by many correlations (the human one), with the signs of all its pairs kept."""

    rows: Rows
    signs: tuple[NDArray[np.int8], ...]
    """For system i: (systems − i − 1, rows), the sign of its value minus that of every later system."""


def fixed_side(values: FloatArray) -> FixedSide:
    rows = prepared_rows(values)
    signs = tuple(_signs_against_later(rows, i) for i in range(len(rows.place) - 1))
    return FixedSide(rows, signs)


def correlate_rows(fixed: FixedSide, other: Rows) -> dict[str, FloatArray]:
    """{"pearson", "spearman", "kendall"}: (rows,) each; NaN where a row of either side is constant or incomplete."""
    one = fixed.rows
    pearson = _products(one.deviations, other.deviations) / np.sqrt(one.squares) / np.sqrt(other.squares)
    spearman = _products(one.ranks, other.ranks) / np.sqrt(one.rank_squares) / np.sqrt(other.rank_squares)
    kendall = _concordant_minus_discordant(fixed, other) / np.sqrt(one.untied) / np.sqrt(other.untied)
    return {
        "pearson": np.clip(pearson, -1.0, 1.0),
        "spearman": np.clip(spearman, -1.0, 1.0),
        "kendall": np.clip(kendall, -1.0, 1.0),
    }


def _products(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("rs,rs->r", *np.broadcast_arrays(one, other)))


def _concordant_minus_discordant(fixed: FixedSide, other: Rows) -> FloatArray:
    systems = len(other.place)
    rows = max(fixed.rows.place.shape[1], other.place.shape[1])
    # A sum of at most 127 signs fits eight bits, the fastest reduction there is.
    narrow = np.int8 if systems <= 128 else np.int32
    difference = np.zeros(rows, dtype=np.int64)
    for i, signs in enumerate(fixed.signs):
        product = signs * _signs_against_later(other, i)
        difference += np.add.reduce(product, axis=0, dtype=narrow)
    return difference.astype(np.float64)


def _signs_against_later(rows: Rows, i: int) -> NDArray[np.int8]:
    mine, later = rows.place[i], rows.place[i + 1 :]
    higher: NDArray[np.int8] = (mine > later).view(np.int8)
    if rows.has_ties:
        higher -= (mine < later).view(np.int8)
        return higher
    higher *= 2
    higher -= 1
    return higher


def _undefined_where(undefined: NDArray[np.bool_], values: FloatArray) -> FloatArray:
    return np.where(undefined, np.nan, values)
