"""What if fewer dialogues had been rated: how wide the intervals would be, without a metric and with one.

Dialogues are drawn without replacement from those that are rated; the others keep their metric scores and lose their
ratings. Each draw gives each system two intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.placed_scores import FloatArray
from leaderboard.statistics.prediction_powered import LEAST_DIALOGUES, RatedPart, powered_means

STEPS = (10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 100, 125, 150, 200, 250, 300, 400, 500, 750, 1000, 1500, 2000)


@dataclass(frozen=True, slots=True)
class Savings:
    """With ``dialogues`` rated ones: mean widths over draws and systems, in rating points."""

    dialogues: int
    width_alone: float
    width: float
    gain: float
    """(width alone / width)², of the mean widths: the ratings that people would have to give for the same interval
    without the metric, as a multiple of those given."""
    by_system: tuple[list[float | None], list[float | None], list[float | None]]
    """Width alone, width and gain of each system; None where the system has no such draw."""


def what_if(parts: Sequence[RatedPart], draws: int = 200, seed: int = 0) -> list[Savings]:
    """One ``Savings`` for each number of dialogues from 10 on that leaves at least 2 without ratings.

    ``parts``: one a system, arrays (dialogues,), the same dialogues. All systems see the same draws. Widths of systems
    that have fewer than 10 of the drawn dialogues, or a single value in them, are left out of the means.
    """
    if not parts:
        return []
    rated = np.array([part.rated for part in parts])
    known = np.nonzero((rated > 0).any(axis=0))[0]
    found = [_with(parts, known, count, draws, seed) for count in STEPS if count <= len(known) - 2]
    return [one for one in found if one is not None]


def _with(parts: Sequence[RatedPart], known: np.ndarray, count: int, draws: int, seed: int) -> Savings | None:
    random = np.random.default_rng([seed, count])
    order = np.argsort(random.random((draws, len(known))), axis=1)[:, :count]
    kept = np.zeros((draws, len(parts[0].rated)), dtype=bool)
    np.put_along_axis(kept, known[order], True, axis=1)
    widths = [_widths(part, kept) for part in parts]
    if not any(one is not None for one in widths):
        return None
    alone = [None if one is None else float(one[0].mean()) for one in widths]
    powered = [None if one is None else float(one[1].mean()) for one in widths]
    whole_alone = float(np.mean([one for one in alone if one is not None]))
    whole = float(np.mean([one for one in powered if one is not None]))
    gains = [None if a is None or p is None else (a / p) ** 2 for a, p in zip(alone, powered, strict=True)]
    return Savings(count, whole_alone, whole, (whole_alone / whole) ** 2, (alone, powered, gains))


def only_rated_in(part: RatedPart, kept: np.ndarray) -> RatedPart:
    """The same responses with the ratings of the ``kept`` dialogues alone; (draws, dialogues) each."""
    return RatedPart(
        rated=part.rated * kept,
        human=part.human * kept,
        metric=part.metric * kept,
        unrated=part.unrated + part.rated * ~kept,
        metric_unrated=part.metric_unrated + part.metric * ~kept,
    )


def _widths(part: RatedPart, kept: np.ndarray) -> tuple[FloatArray, FloatArray] | None:
    found = powered_means(only_rated_in(part, kept))
    enough = ((part.rated > 0) & kept).sum(axis=1) >= LEAST_DIALOGUES
    usable = enough & np.isfinite(found.width_alone) & (found.width > 1e-9)
    return (found.width_alone[usable], found.width[usable]) if usable.any() else None
