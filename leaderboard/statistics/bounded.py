"""Intervals of bounded quantities: a mean of ratings from 1 to 5 has no interval to 5.04.

Student's interval of a mean near an end of its scale reaches beyond it, and holds too little there:
the nearer the end, the less room scores have to vary. In its place stands Wilson's with the same
variance, as for shares (the modified Wilson interval, Franco et al. 2019): the mean's place m
between the ends, from 0 to 1, moves as much as a share of m(1 − m) / v independent items.
``docs/statistics_correlation.md`` has the coverage of both.
"""

from __future__ import annotations

from dataclasses import replace

from scipy.special import stdtrit

from common.correlation.identical import NO_ENDS
from common.estimates import Estimate, Undefined
from leaderboard.statistics.share_over_dialogues import wilson

Bounds = tuple[float | None, float | None]
"""The lowest and highest value that there can be; None for an open end."""
UNBOUNDED: Bounds = (None, None)


def interval_within(
    mean: float, interval: tuple[float, float], bounds: Bounds, degrees: int, level: float = 0.95
) -> tuple[float, float]:
    """Student's ``interval`` of a mean where it lies within ``bounds``, else Wilson's of the same
    variance.

    Args:
        interval: mean ± t · standard error.
        degrees: of freedom of that t.

    Returns:
        (low, high), which hold the mean. With one open end the interval is cut at the other. A mean
        that lies outside is not of these bounds, and keeps its interval.
    """
    least, most = bounds
    low, high = _cut(interval, bounds)
    if (low, high) == interval or not low <= mean <= high:
        return interval
    if least is None or most is None or not least < mean < most:
        return low, high
    width, reach = most - least, float(stdtrit(degrees, 0.5 + level / 2))
    place = (mean - least) / width
    error = (interval[1] - interval[0]) / 2 / reach / width
    low, high = wilson(place, place * (1 - place) / error**2, reach)
    return min(least + width * low, mean), max(least + width * high, mean)


def interval_of_identical(
    mean: float, dialogues: int, bounds: Bounds, level: float = 0.95
) -> tuple[float, float] | Undefined:
    """Of a mean that is the same in every dialogue, which show no variance to make one of.

    The share of dialogues that are another may still be 1 − (1 − level)^(1/n) (Clopper & Pearson
    1934; the rule of three), and those may lie at either end of the scale. So the interval holds
    its level whatever the ratings are.

    Args:
        dialogues: how many agree, n.

    Returns:
        (low, high), which hold the mean; Undefined where one end is open, or the mean lies outside.
    """
    least, most = bounds
    if least is None or most is None or not least <= mean <= most:
        return Undefined(NO_ENDS)
    others = 1 - (1 - level) ** (1 / dialogues)
    return mean - others * (mean - least), mean + others * (most - mean)


def cut_to(estimate: Estimate, bounds: Bounds) -> Estimate:
    """The estimate with its interval cut at the bounds.

    Args:
        estimate: Any estimate, with or without an interval.
        bounds: Lowest and highest possible value; None for an open end.

    Returns:
        The same value and p with the cut interval; unchanged where there is no value or no
        interval, or where the value lies outside the bounds.
    """
    if estimate.value is None or estimate.ci is None:
        return estimate
    low, high = _cut(estimate.ci, bounds)
    return replace(estimate, ci=(low, high)) if low <= estimate.value <= high else estimate


def bounds_of_difference(bounds: Bounds) -> Bounds:
    """Bounds of the difference of two values that both lie within ``bounds``.

    Args:
        bounds: Lowest and highest value that each of the two can have; None for an open end.

    Returns:
        (least − most, most − least); (None, None) where an end is open.
    """
    least, most = bounds
    return UNBOUNDED if least is None or most is None else (least - most, most - least)


def _cut(interval: tuple[float, float], bounds: Bounds) -> tuple[float, float]:
    least, most = bounds
    low, high = interval
    return low if least is None else max(low, least), high if most is None else min(high, most)
