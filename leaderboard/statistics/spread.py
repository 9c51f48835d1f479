"""How a list of scores is spread: its summary, and a histogram whose bins end on round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.placed_scores import FloatArray

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
