"""What if fewer dialogues had been rated: how wide the intervals would be, without a metric and
with one.

Dialogues are drawn without replacement from those that are rated; the others keep their metric
scores and lose their ratings. Each draw gives each system two intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.ranking.prediction_powered import (
    LEAST_DIALOGUES,
    RatedPart,
    powered_means,
    together,
)

STEPS = (
    10,
    12,
    15,
    20,
    25,
    30,
    40,
    50,
    60,
    75,
    100,
    125,
    150,
    200,
    250,
    300,
    400,
    500,
    750,
    1000,
    1500,
    2000,
)
MOST_NUMBERS = 1_000_000
"""Systems × draws × dialogues that are computed at once."""
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Savings:
    """With ``dialogues`` rated ones: mean widths over draws and systems, in rating points."""

    dialogues: int
    width_alone: float
    width: float
    gain: float
    """(width alone / width)², of the mean widths: the ratings that people would have to give for
    the same interval without the metric, as a multiple of those given."""
    by_system: tuple[list[float | None], list[float | None], list[float | None]]
    """Width alone, width and gain of each system; None where the system has no such draw."""


def what_if(parts: Sequence[RatedPart], draws: int = 200, seed: int = 0) -> list[Savings]:
    """Interval widths that fewer rated dialogues would have given, with a metric and without.

    Args:
        parts: One per system, arrays (dialogues,), the same dialogues.
        draws: Draws of rated dialogues, without replacement, for each number of dialogues. All
            systems see the same draws.
        seed: The same seed gives the same draws.

    Returns:
        One entry for each number of dialogues in ``STEPS``, from 10 on, that leaves at least 2 of
        the rated dialogues without ratings; numbers at which no system has a width are left out.
        Widths of systems that have fewer than 10 of the drawn dialogues, or a single value in them,
        are left out of the means.
    """
    if not parts:
        return []
    rated = np.array([part.rated for part in parts])
    known = np.nonzero((rated > 0).any(axis=0))[0]
    found = [_with(parts, known, count, draws, seed) for count in STEPS if count <= len(known) - 2]
    return [one for one in found if one is not None]


def _with(
    parts: Sequence[RatedPart], known: IntArray, count: int, draws: int, seed: int
) -> Savings | None:
    random = np.random.default_rng([seed, count])
    order = np.argsort(random.random((draws, len(known))), axis=1)[:, :count]
    retained = np.zeros((draws, len(parts[0].rated)), dtype=bool)
    np.put_along_axis(retained, known[order], True, axis=1)
    at_once = max(1, MOST_NUMBERS // (len(parts) * retained.shape[1]))
    pieces = [
        _widths(parts, retained[start : start + at_once]) for start in range(0, draws, at_once)
    ]
    alone, powered = (
        np.concatenate([piece[which] for piece in pieces], axis=1) for which in (0, 1)
    )
    if not np.isfinite(alone).any():
        return None
    of_alone, of_powered = _means_of_defined(alone), _means_of_defined(powered)
    gains = [
        None if a is None or p is None else (a / p) ** 2
        for a, p in zip(of_alone, of_powered, strict=True)
    ]
    whole_alone, whole = _mean(of_alone), _mean(of_powered)
    return Savings(
        count, whole_alone, whole, (whole_alone / whole) ** 2, (of_alone, of_powered, gains)
    )


def _means_of_defined(widths: FloatArray) -> list[float | None]:
    """(systems, draws) → one a system; None where no draw has a width."""
    return [
        float(row[np.isfinite(row)].mean()) if np.isfinite(row).any() else None for row in widths
    ]


def _mean(values: Sequence[float | None]) -> float:
    return float(np.mean([one for one in values if one is not None]))


def only_rated_in(part: RatedPart, retained: BoolArray) -> RatedPart:
    """The same responses with the ratings of the retained dialogues alone.

    Args:
        part: Sums of one system, (dialogues,) each.
        retained: (draws, dialogues) which dialogues keep their ratings.

    Returns:
        Sums of (draws, dialogues) each; responses that lose their rating count as unrated and keep
        their metric score.
    """
    return RatedPart(
        rated=part.rated * retained,
        human=part.human * retained,
        metric=part.metric * retained,
        unrated=part.unrated + part.rated * ~retained,
        metric_unrated=part.metric_unrated + part.metric * ~retained,
    )


def _widths(parts: Sequence[RatedPart], retained: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(systems, draws) widths of the ratings alone and with the metric; NaN where there is none to
    compare."""
    drawn = together([only_rated_in(part, retained) for part in parts])
    found = powered_means(drawn)
    usable = (
        ((drawn.rated > 0).sum(axis=-1) >= LEAST_DIALOGUES)
        & np.isfinite(found.width)
        & (found.width > 1e-9)
    )
    return np.where(usable, found.width_alone, np.nan), np.where(usable, found.width, np.nan)
