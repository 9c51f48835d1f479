"""How a metric's scores lie at each human score, and how a list of scores is spread: its summary,
and a histogram whose bins end on round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.correlation.placed_scores import FloatArray

STEPS = (1.0, 0.5, 0.25, 0.1)
GROUPS = 3
"""A coarser step than one that gives this many groups hides what there is to see."""


@dataclass(frozen=True, slots=True)
class ScoresAt:
    """A metric's scores where the human score, rounded to a multiple of the step, is ``human``.
    ``low`` and ``high``: the 5th and the 95th percentile."""

    human: float
    n: int
    mean: float
    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float


def scores_by_human(human: FloatArray, metric: FloatArray) -> tuple[float, list[ScoresAt]]:
    """Distribution of a metric's scores at each human score.

    Human scores are rounded, halves up, to whole numbers, or to finer steps where these would give
    fewer than 3 groups. Percentiles are interpolated linearly.

    Args:
        human: (n,), NaN where there is none; pairs with a NaN are left out.
        metric: (n,), NaN where there is none.

    Returns:
        (step that human scores are rounded to, one group per rounded human score, ascending); (1.0,
        []) without pairs.
    """
    both = np.isfinite(human) & np.isfinite(metric)
    human, metric = human[both], metric[both]
    if not len(human):
        return STEPS[0], []
    grouped = {step: np.floor(human / step + 0.5) * step for step in STEPS}
    counts = {step: len(np.unique(rounded)) for step, rounded in grouped.items()}
    step = next(
        (step for step in STEPS if counts[step] >= GROUPS),
        max(STEPS, key=lambda one: (counts[one], one)),
    )
    return step, [
        _at(float(value), metric[grouped[step] == value]) for value in np.unique(grouped[step])
    ]


def _at(human: float, scores: FloatArray) -> ScoresAt:
    low, lower, median, upper, high = (
        float(one) for one in np.percentile(scores, [5, 25, 50, 75, 95])
    )
    return ScoresAt(
        round(human, 6), len(scores), float(scores.mean()), low, lower, median, upper, high
    )


MOST_BINS = 30
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Summary:
    """Moments and quartiles of a list of scores."""

    n: int
    mean: float
    sd: float
    """Standard deviation of these scores as a whole (divided by n)."""
    least: float
    lower_quartile: float
    median: float
    upper_quartile: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores from ``low`` up to, not including, ``high``; the last bin includes it."""

    low: float
    high: float
    count: int


def summary_of(scores: FloatArray) -> Summary:
    """Summary statistics of scores.

    Args:
        scores: (n,), finite, one or more.

    Returns:
        In the unit of the scores; quartiles are interpolated linearly.
    """
    low, middle, high = (float(value) for value in np.quantile(scores, (0.25, 0.5, 0.75)))
    return Summary(
        n=len(scores),
        mean=float(np.mean(scores)),
        sd=float(np.std(scores)),
        least=float(scores.min()),
        lower_quartile=low,
        median=middle,
        upper_quartile=high,
        greatest=float(scores.max()),
    )


def histogram(scores: FloatArray) -> list[Bin]:
    """Histogram whose bins end on round numbers.

    Args:
        scores: (n,), finite, one or more.

    Returns:
        At most ``MOST_BINS`` adjacent bins of one width, ascending, that hold all scores. The width
        is 1, 2, 2.5 or 5 times a power of ten, so that the ends can be read. A single bin from the
        least score to the greatest where all are equal (it then has no width), and where their
        range is too large for a number.
    """
    least, greatest = float(scores.min()), float(scores.max())
    width = round_width(greatest - least)
    if not width or not math.isfinite(width):
        return [Bin(least, greatest, len(scores))]
    first = math.floor(least / width)
    last = max(math.ceil(greatest / width), first + 1)
    ends = np.array([index * width for index in range(first, last + 1)])
    # An end may be rounded past the last
    counts, _ = np.histogram(np.clip(scores, ends[0], ends[-1]), bins=ends)
    return [
        Bin(_plain(low), _plain(high), int(count))
        for low, high, count in zip(ends, ends[1:], counts, strict=False)
    ]


def round_width(spread: float) -> float:
    """Round bin width for scores of some range.

    Args:
        spread: greatest score minus least, in the unit of the scores.

    Returns:
        The least round width of which ``MOST_BINS`` − 1 span the range (one bin more may be needed,
        since bins start at a multiple of the width); 0 where the range is 0 or less, or not finite.
    """
    if spread <= 0 or not math.isfinite(spread):
        return 0.0
    exact = spread / (MOST_BINS - 1)
    power = 10.0 ** math.floor(math.log10(exact))
    return next(step * power for step in _ROUND_STEPS if step * power >= exact)


def _plain(end: float) -> float:
    """0.30000000000000004 is 0.3."""
    return float(f"{end:.12g}")
