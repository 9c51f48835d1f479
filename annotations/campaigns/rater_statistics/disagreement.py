"""The items on which raters are furthest apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Disagreement:
    """``item``: column of the matrix. ``spread``: highest minus lowest score. ``scores``: (row of
    the rater, score)."""

    item: int
    spread: float
    scores: tuple[tuple[int, float], ...]


def widest_disagreements(scores: NDArray[np.float64], most: int) -> list[Disagreement]:
    """Up to ``most`` items, the widest range first, of equal ranges the larger standard deviation,
    then the order of items. Items with fewer than two scores, or all scores equal, are none.
    ``scores``: raters × items, NaN missing."""
    given = ~np.isnan(scores)
    shared = np.flatnonzero(given.sum(axis=0) >= 2)
    if not shared.size:
        return []
    of_shared = scores[:, shared]
    spread = np.nanmax(of_shared, axis=0) - np.nanmin(of_shared, axis=0)
    deviation = np.nanstd(of_shared, axis=0)
    widest = [
        int(place) for place in np.lexsort((shared, -deviation, -spread)) if spread[place] > 0
    ][:most]
    return [
        Disagreement(
            int(shared[place]),
            float(spread[place]),
            tuple(
                (int(row), float(scores[row, shared[place]]))
                for row in np.flatnonzero(given[:, shared[place]])
            ),
        )
        for place in widest
    ]
