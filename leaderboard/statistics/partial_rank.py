"""Spearman's partial rank correlation: how far two rankings agree beyond what both share with a
third."""

from __future__ import annotations

import math

import numpy as np

from common.correlation import cluster_resamples, with_interval
from common.correlation.scores import why_undefined
from common.correlation.spearman import (
    SpearmanScores,
    spearman_between,
    spearman_estimate,
    spearman_scores,
)
from common.estimates import Estimate
from leaderboard.statistics.placed_scores import FloatArray, IntArray

NEARLY_ONE = 1.0 - 1e-12


def partial_spearman(
    x: FloatArray,
    y: FloatArray,
    given: FloatArray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Spearman's partial rank correlation ρ(x, y | z), where z is ``given``.

    Args:
        x: (n,) finite scores.
        y: (n,) finite scores of the same items.
        given: (n,) finite scores of the same items, held fixed.
        dialogue: (n,) dialogue numbers.
        resamples: Bootstrap draws of dialogues; 0: no interval.
        seed: The same seed gives the same draws.

    Returns:
        ρ in [-1, 1], with its 95 % interval over dialogues (percentile bootstrap). Undefined where
        a side is constant, with fewer than 4 items, or where z ranks the items as x or y does, to
        the last place. No p: items of one dialogue are not independent, as the textbooks' t would
        take them to be.

    Raises:
        ValueError: Scores that are not finite, or lists of different lengths.

    Equation, with Spearman's ρ (midranks for ties) in the three places:

        ρ(x, y | z) = (ρxy − ρxz ρyz) / √((1 − ρxz²)(1 − ρyz²))

    This is Pearson's partial correlation of the ranks (Kendall & Stuart, The Advanced Theory of
    Statistics, volume 2, chapter 27; Conover, Practical Nonparametric Statistics, section 5.4).
    """
    point = _point(x, y, given)
    if not point.is_defined or not resamples:
        return point
    dialogues, index = np.unique(dialogue, return_inverse=True)
    weights = cluster_resamples(len(dialogues), resamples, seed).astype(np.float64)
    sides = [spearman_scores(scores, index, weights) for scores in (x, y, given)]
    return with_interval(point, _replicates(*sides), len(dialogues))


def partial_from(xy: float, xz: float, yz: float) -> float:
    """The partial correlation of x and y given z, from the three correlations.

    Args:
        xy: Correlation of x and y, in [-1, 1].
        xz: Correlation of x and z, in [-1, 1].
        yz: Correlation of y and z, in [-1, 1].

    Returns:
        A value in [-1, 1]; NaN where |xz| or |yz| is 1 (to 1e-12), since z then determines x or y,
        and where one of the three is NaN.

    Equation: (ρxy − ρxz ρyz) / √((1 − ρxz²)(1 − ρyz²)).
    """
    if math.isnan(xy + xz + yz) or max(abs(xz), abs(yz)) > NEARLY_ONE:
        return math.nan
    return max(-1.0, min(1.0, (xy - xz * yz) / math.sqrt((1.0 - xz * xz) * (1.0 - yz * yz))))


def _point(x: FloatArray, y: FloatArray, given: FloatArray) -> Estimate:
    if len(x) < 4:
        return Estimate.undefined(
            f"a partial correlation needs at least 4 items, there are {len(x)}"
        )
    for one, other in ((x, y), (x, given), (y, given)):
        if why_undefined(one, other):
            return Estimate.undefined("one of the three does not vary")
    found = [spearman_estimate(one, other).value for one, other in ((x, y), (x, given), (y, given))]
    value = partial_from(*(one if one is not None else math.nan for one in found))
    if math.isnan(value):
        return Estimate.undefined(
            "what is held fixed ranks the items as one of the other two does: nothing is left"
        )
    return Estimate(value=value)


def _replicates(x: SpearmanScores, y: SpearmanScores, given: SpearmanScores) -> FloatArray:
    xy, xz, yz = spearman_between(x, y), spearman_between(x, given), spearman_between(y, given)
    left = (1.0 - xz * xz) * (1.0 - yz * yz)
    has_any = np.maximum(np.abs(xz), np.abs(yz)) <= NEARLY_ONE  # False for NaN, too
    value = np.divide(
        xy - xz * yz, np.sqrt(np.maximum(left, 0.0)), out=np.full_like(xy, np.nan), where=has_any
    )
    return np.asarray(np.clip(value, -1.0, 1.0))
