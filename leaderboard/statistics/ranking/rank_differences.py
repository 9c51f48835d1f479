"""Where a metric's order of systems differs from people's by more than both orders' uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Places:
    """The order of systems by one score. Each (systems,); 0 where the system has no score, and so
    no place.

    ``place``: 1 + the systems with a better mean, ties share the better place. ``best`` and
    ``worst``: the places that the intervals allow, by the board's rule: 1 + the systems whose
    interval lies wholly on the better side of this one's, and the number of systems minus those
    whose interval lies wholly on the worse side.
    """

    place: IntArray
    best: IntArray
    worst: IntArray


@dataclass(frozen=True, slots=True)
class RankDifferences:
    """A metric's places beside people's, each (systems,), among the systems that both have scored.

    ``difference``: the metric's place minus people's: above 0 the metric ranks the system lower
    than people do, below 0 higher. ``beyond``: by how many places the two ranges miss each other,
    with the same sign; 0 where they meet, so that the dialogues drawn may be all there is to the
    difference. Only what is not 0 misleads. Both are 0 where ``is_placed`` is False.
    """

    human: Places
    metric: Places
    difference: IntArray
    beyond: IntArray
    is_placed: NDArray[np.bool_]

    @property
    def misled(self) -> int:
        """How many systems the metric puts where people's order cannot have them."""
        return int((self.beyond != 0).sum())

    @property
    def worst(self) -> int:
        """The greatest distance between two ranges, in places."""
        return int(np.abs(self.beyond).max(initial=0))


def places(
    means: FloatArray, low: FloatArray, high: FloatArray, *, higher_is_better: bool = True
) -> Places:
    """Rank systems by one score, with the ranks that their intervals allow.

    Args:
        means: (systems,), NaN where there is none: such a system has no rank.
        low: (systems,) lower ends of the intervals, NaN where there is none: the mean may then lie
            anywhere.
        high: (systems,) upper ends, as ``low``.

    Returns:
        Ranks from 1 (best), (systems,) each; 0 where a system has no mean.
    """
    placed = np.isfinite(means)
    has_interval = placed & np.isfinite(low) & np.isfinite(high)
    low, high = (
        np.where(has_interval, end, np.where(placed, far, np.nan))
        for end, far in ((low, -np.inf), (high, np.inf))
    )
    if not higher_is_better:
        means, low, high = -means, -high, -low
    # [i, j]: how j stands to i; comparisons with NaN are false.
    better = means[np.newaxis, :] > means[:, np.newaxis]
    surely_better = low[np.newaxis, :] > high[:, np.newaxis]
    surely_worse = high[np.newaxis, :] < low[:, np.newaxis]
    ranked = int(placed.sum())
    return Places(
        place=np.where(placed, 1 + better.sum(axis=1), 0),
        best=np.where(placed, 1 + surely_better.sum(axis=1), 0),
        worst=np.where(placed, ranked - surely_worse.sum(axis=1), 0),
    )


def rank_differences(
    human: tuple[FloatArray, FloatArray, FloatArray],
    metric: tuple[FloatArray, FloatArray, FloatArray],
    *,
    higher_is_better: bool = True,
) -> RankDifferences:
    """Compare a metric's ranks of systems with the human ranks.

    Only systems that both have scored are ranked. Human scores are better the higher they are. A
    metric without any interval, such as one that scores whole systems, is taken as exact.

    Args:
        human: (means, lower ends, upper ends), each (systems,), NaN where there is none.
        metric: the same of the metric.
        higher_is_better: of the metric's scores.

    Returns:
        Differences of ranks and of rank ranges, (systems,) each, positive where the metric ranks
        the system lower than the human scores do; 0 where ``is_placed`` is False.
    """
    placed = np.isfinite(human[0]) & np.isfinite(metric[0])
    if not np.isfinite(np.stack(metric[1:])).any():
        metric = (metric[0],) * 3
    by_people = places(*(np.where(placed, ends, np.nan) for ends in human))
    by_metric = places(
        *(np.where(placed, ends, np.nan) for ends in metric), higher_is_better=higher_is_better
    )
    below = np.maximum(by_metric.best - by_people.worst, 0)
    above = np.maximum(by_people.best - by_metric.worst, 0)
    return RankDifferences(
        human=by_people,
        metric=by_metric,
        difference=by_metric.place - by_people.place,
        beyond=below - above,
        is_placed=placed,
    )
