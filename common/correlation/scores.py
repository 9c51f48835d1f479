"""What all three coefficients share: checks of the two score lists, value groups, and resamples
with one value. Means of the same scores in another order are the same number: what tied stays tied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SIGNIFICANT_DIGITS = 12
DIGITS_OF_PARTS = 14
"""Of means that are averaged again: two digits finer, or the rounding of the parts would untie
means of them."""
_EXPONENTS = np.arange(-1100, 1101)


def round_off(means: FloatArray, digits: int = SIGNIFICANT_DIGITS) -> FloatArray:
    """The means rounded, so that those which differ only in the order of summation are equal.

    The same scores summed in another order differ in the last bit; without this, rank coefficients
    would see an order among systems that tie. Digits are counted from each value, since a smoothed
    BLEU of 1e-11 beside one of 1.0 is a score and not noise.

    Args:
        means: of any shape; NaN and infinities stay as they are.
        digits: the number of significant digits; some values get one more.

    Returns:
        Means of the same shape, each rounded to its own 12 or 13 significant digits (to ``digits``
        or one more).
    """
    scale = _scales(digits)[np.frexp(np.where(np.isfinite(means), means, 1.0))[1] - _EXPONENTS[0]]
    return np.asarray(np.rint(means * scale) / scale)


@cache
def _scales(digits: int) -> FloatArray:
    """For every binary exponent from −1100: the power of ten that makes so many digits of such a
    number whole."""
    decimals = np.clip(digits - np.floor(_EXPONENTS * np.log10(2.0)).astype(int), -300, 300)
    return np.array([float(f"1e{places}") for places in decimals])


MIN_PAIRS = 3


def why_undefined(human: FloatArray, metric: FloatArray) -> str:
    """The reason why no correlation exists for these pairs of scores.

    Args:
        human: (n,) finite scores.
        metric: (n,) finite scores of the same items.

    Returns:
        The reason: fewer than ``MIN_PAIRS`` pairs, or a list in which all scores are equal. ""
        where the correlation exists.

    Raises:
        ValueError: the lists differ in length or are not one-dimensional, or a score is NaN or
            infinite: the caller drops those pairs.
    """
    if human.shape != metric.shape or human.ndim != 1:
        raise ValueError(
            f"need two lists of one length, got shapes {human.shape} and {metric.shape}"
        )
    if not (np.isfinite(human).all() and np.isfinite(metric).all()):
        raise ValueError("scores must be finite: drop pairs with a missing score first")
    if len(human) < MIN_PAIRS:
        return f"a correlation needs at least {MIN_PAIRS} pairs of scores, there are {len(human)}"
    if human.min() == human.max():
        return "all human scores are equal"
    if metric.min() == metric.max():
        return "all metric scores are equal"
    return ""


@dataclass(frozen=True)
class ValueGroups:
    """Equal scores form a group; groups are numbered by value, lowest first."""

    order: IntArray
    """(n,) the items sorted by score."""
    start: IntArray
    """(groups,) where each group begins in ``order``."""
    size: IntArray
    """(groups,) how many items share the value."""
    of_item: IntArray
    """(n,) the group of each item: the dense rank of its score, from 0."""


def value_groups(scores: FloatArray) -> ValueGroups:
    """The groups of equal scores, sorted by value.

    Args:
        scores: (n,), n at least 1.

    Returns:
        The groups, lowest value first, with the items of each.
    """
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    begins = np.concatenate(([True], ascending[1:] != ascending[:-1]))
    start = np.flatnonzero(begins)
    size = np.diff(np.append(start, len(scores)))
    of_item = np.empty(len(scores), dtype=np.int64)
    of_item[order] = np.cumsum(begins) - 1
    return ValueGroups(order=order, start=start, size=size, of_item=of_item)


def constant_resamples(
    scores: FloatArray, cluster: IntArray, weights: FloatArray
) -> NDArray[np.bool_]:
    """Which resamples hold one value only, or nothing.

    Decided on the values themselves, since a variance from sums is seldom exactly 0.

    Args:
        scores: (n,) finite.
        cluster: (n,) the cluster number of each item, 0 ≤ cluster < clusters.
        weights: (resamples, clusters) multiplicities, how often each cluster is drawn.

    Returns:
        (resamples,) True where the resample holds fewer than two different values.
    """
    clusters = weights.shape[1]
    lowest, highest = np.full(clusters, np.inf), np.full(clusters, -np.inf)
    np.minimum.at(lowest, cluster, scores)
    np.maximum.at(highest, cluster, scores)
    drawn = weights > 0
    resample_lowest = np.where(drawn, lowest, np.inf).min(axis=1)
    resample_highest = np.where(drawn, highest, -np.inf).max(axis=1)
    constant: NDArray[np.bool_] = resample_lowest >= resample_highest
    return constant
