"""Verbosity: does a judge score longer responses higher, and higher than people do? Spearman's
partial rank correlation says how far two rankings agree beyond what both share with a third.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

NOBODY_RATED = "nobody has rated what the judge scored"


@dataclass(frozen=True, slots=True)
class RankWithCovariate:
    """How a judge's and people's scores go with a property of the item (its length, its place):
    Spearman's ρ each."""

    n: int
    """Items with a score of the judge and, where people rated any, of people."""
    judge: Estimate
    """ρ(judge's score, property)."""
    human: Estimate
    """ρ(people's mean, property)."""
    judge_given_human: Estimate
    """ρ(judge's score, property | people's mean): what is left of it where people are of one mind
    about the items. Zheng et al. (2023), "Judging LLM-as-a-Judge", call it verbosity bias where the
    property is length."""


def with_covariate(
    judge: FloatArray,
    human: FloatArray,
    value: FloatArray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> RankWithCovariate:
    """Rank correlations of judge and human scores with a property of the items, such as length.

    All three coefficients are of the same items: those with both scores, or, where nobody rated
    any, those that the judge scored.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.
        value: (n,) the property, finite, such as words of the response.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no intervals.
        seed: of the draws.

    Returns:
        Spearman's ρ in [−1, 1] with 95 % intervals over dialogues, without p. Undefined, with the
        reason, with too few items or a constant side; the human and the partial coefficient also
        where nobody rated what the judge scored.
    """
    both = np.isfinite(judge) & np.isfinite(human)
    if not both.any():
        scored = np.isfinite(judge)
        alone = _spearman(judge[scored], value[scored], dialogue[scored], resamples, seed)
        unknown = Estimate.undefined(NOBODY_RATED)
        return RankWithCovariate(int(scored.sum()), alone, unknown, unknown)
    judge, human, value, dialogue = judge[both], human[both], value[both], dialogue[both]
    return RankWithCovariate(
        n=len(judge),
        judge=_spearman(judge, value, dialogue, resamples, seed),
        human=_human_text(_spearman(human, value, dialogue, resamples, seed)),
        judge_given_human=partial_spearman(judge, value, human, dialogue, resamples, seed),
    )


def _spearman(
    scores: FloatArray, value: FloatArray, dialogue: IntArray, resamples: int, seed: int
) -> Estimate:
    point = spearman_estimate(value, scores)
    if not point.is_defined:
        return Estimate.undefined(_REASONS.get(point.reason, point.reason))
    point = Estimate(value=point.value)  # no p: items of one dialogue are not independent
    if not resamples:
        return point
    dialogues, index = np.unique(dialogue, return_inverse=True)
    weights = cluster_resamples(len(dialogues), resamples, seed).astype(np.float64)
    replicates = spearman_between(
        spearman_scores(scores, index, weights), spearman_scores(value, index, weights)
    )
    return with_interval(point, replicates, len(dialogues))


_REASONS = {
    "all human scores are equal": "all items are alike in it",
    "all metric scores are equal": "all scores of the judge are equal",
}
"""The coefficient speaks of a human and a metric side; here the first is the property."""


def _human_text(estimate: Estimate) -> Estimate:
    if estimate.reason == _REASONS["all metric scores are equal"]:
        return Estimate.undefined("all human scores are equal")
    return estimate


_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\s{_IDEOGRAPHS}]+")


def words_of(text: str) -> int:
    """Number of words of a text.

    Returns:
        Words separated by white space; of Chinese and Japanese, which have none, the characters. 0
        for an empty response.
    """
    return len(_WORD.findall(text))


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
