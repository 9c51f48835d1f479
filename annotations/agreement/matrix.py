"""The raters × items matrix that every agreement coefficient reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.formats.records import RaterKind


@dataclass(frozen=True)
class RatingMatrix:
    """Scores of one aspect at one level.

    ``scores``: float64, raters × items, NaN where a rater did not judge an item.
    ``dialogue_of_item``: int, one cluster number per item; bootstrap draws clusters, because
    responses in one dialogue are not independent. ``raters``: names in row order. ``rater_kind``:
    "identified", "anonymous" (row k of two items is not the same person) or "aggregate" (means;
    agreement is undefined). ``levels``: the possible values of the scale if known.
    """

    scores: NDArray[np.float64]
    dialogue_of_item: NDArray[np.int64]
    raters: tuple[str, ...]
    rater_kind: RaterKind = "identified"
    levels: tuple[float, ...] | None = None
