"""r, ρ and τ-b between rows: row k of one matrix with row k of the other, all rows at once.

For the system level, where every resample has means of its own and so nothing can be counted ahead.

ρ and τ-b of one fixed list of human means with very many lists of metric means, one list a row.

What ``rowwise`` does for two sides that both change, done faster for a human side that stands
still: rows are ranked by one sort of whole numbers that hold value and place at once, and pairs of
systems are compared in the order that people give them, so that every comparison of ranks is a
count of concordant pairs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

KEYED_SYSTEMS = 256
"""So many places take eight bits of a value's 52 and leave it more digits than a settled mean
has."""


@dataclass(frozen=True)
class Rows:
    """A matrix (rows, systems) made ready to be correlated with others. A matrix with one row
    serves all rows."""

    values: FloatArray
    """(rows, systems)"""
    undefined: NDArray[np.bool_]
    """(rows,) whether the row is constant or has a missing value."""
    ranks: FloatArray
    """(rows, systems) twice the centred midranks."""
    place: NDArray[np.uint16] | NDArray[np.uint8]
    """(systems, rows) dense ranks from 0."""
    has_ties: bool
    untied: FloatArray
    """(rows,) pairs of systems with different values; NaN where undefined."""

    @cached_property
    def deviations(self) -> FloatArray:
        """(rows, systems) value minus the row's mean."""
        return np.asarray(self.values - self.values.mean(axis=1, keepdims=True))

    @cached_property
    def squares(self) -> FloatArray:
        """(rows,) sums of the squared deviations; NaN where undefined."""
        return _undefined_where(
            self.undefined, np.einsum("rs,rs->r", self.deviations, self.deviations)
        )

    @cached_property
    def rank_squares(self) -> FloatArray:
        """(rows,) sums of the squared ranks; NaN where undefined."""
        return _undefined_where(self.undefined, np.einsum("rs,rs->r", self.ranks, self.ranks))


def compiled_rows(values: FloatArray) -> Rows:
    """Compile a matrix for row-by-row correlation with others: ranks, ties and untied pairs.

    Args:
        values: (rows, systems), at most 65,536 systems; rows with a NaN give NaN coefficients.

    Returns:
        The same rows, in order.
    """
    missing = np.asarray(np.isnan(values).any(axis=1))
    if missing.any():
        values = np.where(missing[:, None], 0.0, values)
    rows, systems = values.shape
    sorted_index = _ascending_order(values)
    sorted_index += systems * np.arange(rows)[:, None]
    ascending = values.ravel()[sorted_index]
    begins = np.ones((rows, systems), dtype=bool)
    np.not_equal(ascending[:, 1:], ascending[:, :-1], out=begins[:, 1:])
    has_ties = not begins.all()
    position = np.arange(systems, dtype=np.int32)[None, :]
    first, last = _group_ends(begins, position) if has_ties else (position, position)
    # Narrow integers make the pairwise comparisons of τ fast.
    place = np.empty((rows, systems), dtype=np.uint8 if systems <= 256 else np.uint16)
    place.ravel()[sorted_index] = first
    if has_ties:
        ranks = np.empty((rows, systems))
        ranks.ravel()[sorted_index] = first + last - (systems - 1)
    else:
        ranks = 2.0 * place - (systems - 1)
    untied = systems * (systems - 1) / 2 - (position - first).sum(axis=1).astype(np.float64)
    undefined = missing | (ascending[:, 0] == ascending[:, -1])
    return Rows(
        values=values,
        undefined=undefined,
        ranks=ranks,
        place=np.ascontiguousarray(place.T),
        has_ties=has_ties,
        untied=_undefined_where(undefined, np.broadcast_to(untied, rows)),
    )


def _ascending_order(values: FloatArray) -> IntArray:
    """(rows, systems) the systems of each row from the lowest value to the highest, equal ones in
    their order.

    Whole numbers that hold the value and, in its last bits, the place are sorted in half the time
    of an argsort. Values that differ in those bits alone, by 6e-14 of themselves, stand in the
    order of their places.
    """
    systems = values.shape[1]
    if systems > KEYED_SYSTEMS:
        return np.argsort(values, axis=1, kind="stable")
    bits = (1 << max(1, (systems - 1).bit_length())) - 1
    keys = np.array(values, dtype=np.float64, order="C").view(np.int64)
    keys ^= (keys >> 63) & np.int64(2**63 - 1)  # so that negative numbers ascend, too
    keys &= ~bits
    keys |= np.arange(systems)
    keys.sort(axis=1)
    keys &= bits
    return keys


def _group_ends(
    begins: NDArray[np.bool_], position: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(rows, systems) twice: where the group of equal values at each sorted place begins and
    ends."""
    ends = np.ones_like(begins)
    ends[:, :-1] = begins[:, 1:]
    first = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, position, position.size)[:, ::-1], axis=1)[:, ::-1]
    return first, last


@dataclass(frozen=True)
class FixedScores:
    """The side that is shared by many correlations (the human one), with the signs of all its pairs
    kept."""

    rows: Rows

    @cached_property
    def higher(self) -> tuple[NDArray[np.bool_], ...]:
        """For system i: (systems − i − 1, rows), whether its value lies above that of every later
        system."""
        return tuple(
            self.rows.place[i] > self.rows.place[i + 1 :] for i in range(len(self.rows.place) - 1)
        )

    @cached_property
    def signs(self) -> tuple[NDArray[np.int8], ...]:
        """For system i: (systems − i − 1, rows), the sign of its value minus that of every later
        system."""
        return tuple(_signs_against_later(self.rows, i) for i in range(len(self.rows.place) - 1))

    @cached_property
    def sum_of_signs(self) -> IntArray:
        """(rows,)"""
        sums = [signs.sum(axis=0, dtype=np.int64) for signs in self.signs]
        return np.asarray(np.sum(sums, axis=0, dtype=np.int64))


def fixed_side(values: FloatArray) -> FixedScores:
    """Compile the human means, which are correlated with the means of many metrics.

    Args:
        values: (rows, systems), as ``compiled_rows`` takes them; a single row serves all rows of a
            metric.

    Returns:
        The rows, which cache the signs of all pairs of systems.
    """
    return FixedScores(compiled_rows(values))


def correlate_rows(
    fixed: FixedScores, other: Rows, names: Collection[str] = ("pearson", "spearman", "kendall")
) -> dict[str, FloatArray]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b between the same rows of two matrices.

    Args:
        fixed: human means, (rows, systems).
        other: metric means, (rows, systems). A matrix with a single row is compared with every row
            of the other.
        names: coefficients to compute, of "pearson", "spearman" and "kendall".

    Returns:
        {name: (rows,)}, in [−1, 1]; NaN where a row of either side is constant or incomplete.
    """
    one = fixed.rows
    found = {}
    if "pearson" in names:
        found["pearson"] = (
            _products(one.deviations, other.deviations)
            / np.sqrt(one.squares)
            / np.sqrt(other.squares)
        )
    if "spearman" in names:
        products = _products(one.ranks, other.ranks)
        found["spearman"] = products / np.sqrt(one.rank_squares) / np.sqrt(other.rank_squares)
    if "kendall" in names:
        difference = _concordant_minus_discordant(fixed, other)
        found["kendall"] = difference / np.sqrt(one.untied) / np.sqrt(other.untied)
    return {name: np.clip(values, -1.0, 1.0) for name, values in found.items()}


def _products(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("rs,rs->r", *np.broadcast_arrays(one, other)))


def _concordant_minus_discordant(fixed: FixedScores, other: Rows) -> FloatArray:
    systems = len(other.place)
    rows = max(fixed.rows.place.shape[1], other.place.shape[1])
    # A sum of at most 127 signs fits eight bits, the fastest reduction there is.
    narrow = np.int8 if systems <= 128 else np.int32
    found = np.zeros(rows, dtype=np.int64)
    if not (fixed.rows.has_ties or other.has_ties):
        for i, higher in enumerate(fixed.higher):
            discordant = higher != (other.place[i] > other.place[i + 1 :])
            found += np.add.reduce(discordant.view(np.int8), axis=0, dtype=narrow)
        return systems * (systems - 1) / 2 - 2.0 * found
    for i, signs in enumerate(fixed.signs):
        against = (
            _signs_against_later(other, i)
            if other.has_ties
            else other.place[i] > other.place[i + 1 :]
        )
        found += np.add.reduce(signs * against.view(np.int8), axis=0, dtype=narrow)
    return found.astype(np.float64) if other.has_ties else 2.0 * found - fixed.sum_of_signs


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


def mean_of_defined(rows: FloatArray) -> FloatArray:
    """Mean over the rows, for each replicate.

    Args:
        rows: (rows, replicates), NaN where undefined.

    Returns:
        (replicates,) mean over the rows that are not NaN there; NaN where all are.
    """
    defined = ~np.isnan(rows)
    total = np.where(defined, rows, 0.0).sum(axis=0)
    count = defined.sum(axis=0)
    found: FloatArray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return found


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
