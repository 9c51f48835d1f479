"""What all coefficients of agreement count: which rater gave which level to which item, in which
dialogue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotations.agreement.matrix import RatingMatrix
from common.correlation.scores import round_off

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MISSING = -1
"""The code of a rater who did not judge an item."""


MOST_LEVELS = 1_500
"""α needs a number for each pair of levels, several times over: 100 MB with so many, a gigabyte
with 5,000."""

LEAST_COMMON_ITEMS = 10
"""A coefficient of fewer items is mostly chance, and pulled towards 0 or undefined: a pair of
raters with one common item has κ = 0 or none. Where fewer items have two ratings, all of them
suffice."""


@dataclass(frozen=True)
class Tabulation:
    """A rating matrix with scores as level codes and the items sorted by dialogue, items without
    ratings left out.

    ``levels``: float, the V score levels that occur, ascending. ``codes``: int, raters × items, the
    index of the level, or ``MISSING``. ``dialogue``: int, the dialogue of each item as 0 … D − 1,
    ascending.
    """

    raters: tuple[str, ...]
    levels: FloatArray
    codes: IntArray
    dialogue: IntArray

    @property
    def items(self) -> int:
        return int(self.codes.shape[1])

    @property
    def dialogues(self) -> int:
        return int(self.dialogue[-1]) + 1 if self.items else 0

    @property
    def why_not_counted(self) -> str:
        """Why coefficients that count each level, α and Fleiss' κ, are not made; "" where they can
        be."""
        if self.levels.size <= MOST_LEVELS:
            return ""
        return (
            f"{self.levels.size:,} different scores: agreement by levels is counted up to "
            f"{MOST_LEVELS:,}"
        )

    @cached_property
    def ratings_of_item(self) -> IntArray:
        """How many raters judged each item; int, items."""
        return np.asarray((self.codes != MISSING).sum(axis=0), dtype=np.int64)

    @property
    def ratings(self) -> int:
        return int(self.ratings_of_item.sum())

    @property
    def usual_ratings_per_item(self) -> int | None:
        """The most frequent number of ratings among items with two or more (the larger of a tie);
        None without any."""
        ratings, items = np.unique(
            self.ratings_of_item[self.ratings_of_item >= 2], return_counts=True
        )
        if not ratings.size:
            return None
        return int(ratings[items == items.max()][-1])

    @cached_property
    def active_raters(self) -> IntArray:
        """Rows of the raters who judged at least one item."""
        return np.flatnonzero((self.codes != MISSING).any(axis=1))

    @cached_property
    def counts(self) -> FloatArray:
        """How many raters gave each item each level; float, items × V."""
        raters_rows, item_columns = np.nonzero(self.codes != MISSING)
        cells = item_columns * self.levels.size + self.codes[raters_rows, item_columns]
        flat = np.bincount(cells, minlength=self.items * self.levels.size)
        return flat.reshape(self.items, self.levels.size).astype(np.float64)

    @cached_property
    def scores(self) -> FloatArray:
        """The scores themselves; float, raters × items, NaN where missing."""
        return np.where(self.codes == MISSING, np.nan, self.levels[self.codes])

    def sum_by_dialogue(self, per_item: FloatArray) -> FloatArray:
        """The sum over the items of each dialogue.

        Args:
            per_item: (items, …) what is summed.

        Returns:
            (dialogues, …), in the order of ``dialogue``.
        """
        first_item = np.searchsorted(self.dialogue, np.arange(self.dialogues))
        return np.add.reduceat(per_item, first_item, axis=0)

    @property
    def least_common_items(self) -> int:
        """From how many items on a pair of raters, or a rater beside the others, counts in a mean
        over them."""
        return min(LEAST_COMMON_ITEMS, int((self.ratings_of_item >= 2).sum()))


def tabulate(matrix: RatingMatrix) -> Tabulation:
    """The ratings counted once, for all coefficients.

    Args:
        matrix: the ratings; dialogues may have any numbers in any order.

    Returns:
        The table. Items without ratings are left out; scores that differ only by rounding are one
        level.

    Raises:
        ValueError: the shapes do not fit together, or a score is infinite.
    """
    scores = np.asarray(matrix.scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(
            f"scores must be raters × items, not an array with {scores.ndim} dimensions"
        )
    if scores.shape[0] != len(matrix.raters):
        raise ValueError(
            f"scores has {scores.shape[0]} rows and raters has {len(matrix.raters)} names"
        )
    if scores.shape[1] != len(matrix.dialogue_of_item):
        raise ValueError(
            f"scores has {scores.shape[1]} items and dialogue_of_item has "
            f"{len(matrix.dialogue_of_item)}"
        )
    if np.isinf(scores).any():
        raise ValueError("scores must be finite, or NaN where a rater did not judge an item")

    scores = round_off(scores)  # 0.1 + 0.2 and 0.3 are one category
    rated = np.isfinite(scores)
    with_ratings = np.flatnonzero(rated.any(axis=0))
    retained = with_ratings[
        np.argsort(np.asarray(matrix.dialogue_of_item)[with_ratings], kind="stable")
    ]
    scores, rated = scores[:, retained], rated[:, retained]
    levels, codes_of_ratings = np.unique(scores[rated], return_inverse=True)
    codes = np.full(scores.shape, MISSING, dtype=np.int64)
    codes[rated] = codes_of_ratings
    _, dialogue = np.unique(np.asarray(matrix.dialogue_of_item)[retained], return_inverse=True)
    return Tabulation(tuple(matrix.raters), levels, codes, np.asarray(dialogue, dtype=np.int64))
