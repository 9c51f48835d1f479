"""One rater beside the others: how much higher or lower, and how alike in order.

Severity d = mean over items of (own score − mean of the item's other raters). Below 0: severe,
above 0: lenient. With partial overlap each rater is held against whoever judged the same items, so
d also carries the others' severity; a model of all raters at once (many-facet Rasch, Linacre 1989)
would part the two, and needs more overlap than k = 2.

Agreement r = Pearson's correlation of own scores with the mean of the item's other raters
(leave-one-out, as the human ceiling has it). A correlation, not κ, because severity stands beside
it and κ would mix the two.

Intervals: 95 %, the jackknife over dialogues; r's on Fisher's scale, as on the agreement page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.leave_one_out import DECIMALS, why_undefined
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from common.correlation import left_out_weights, with_jackknife_interval
from common.correlation.pearson import pearson_estimate, replicates
from common.estimates import Estimate

NOBODY_ELSE = "nobody else judged this rater's items"

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BesideOthers:
    items: int
    """How many items this rater and somebody else judged."""
    severity: Estimate
    agreement: Estimate


def beside_others(
    scores: FloatArray,
    dialogue: NDArray[np.int64],
    counts: NDArray[np.bool_],
    *,
    intervals: bool = True,
) -> list[BesideOthers]:
    """Every rater against the ratings that count.

    Args:
        scores: (raters, items), NaN where not judged.
        dialogue: (items,) the dialogue of each, numbered from 0.
        counts: which ratings count, (raters,) or (raters, items). One that does not (an excluded
            rater's, say) is held against the others but is no part of their mean.
        intervals: whether to compute them.

    Returns:
        One result a rater, in the order of ``scores``.
    """
    given = ~np.isnan(scores)
    counted = given & (counts[:, np.newaxis] if counts.ndim == 1 else counts)
    filled = np.where(counted, scores, 0.0)
    total, number = filled.sum(axis=0), counted.sum(axis=0)
    dialogues = int(dialogue.max(initial=-1)) + 1
    jackknife = Jackknife.over(dialogues) if intervals else Jackknife.none(dialogues)
    found = []
    for row in range(len(scores)):
        of_others, others = total - filled[row], number - counted[row]
        common = given[row] & (others > 0)
        mean = np.round(of_others[common] / others[common], DECIMALS)
        found.append(_beside(scores[row, common], mean, dialogue[common], jackknife))
    return found


def _beside(
    own: FloatArray, of_others: FloatArray, dialogue: NDArray[np.int64], jackknife: Jackknife
) -> BesideOthers:
    if not own.size:
        return BesideOthers(0, Estimate.undefined(NOBODY_ELSE), Estimate.undefined(NOBODY_ELSE))
    # Leaving out dialogues without an item of this rater says nothing
    groups, index = np.unique(jackknife.group[dialogue], return_inverse=True)
    left_out = left_out_weights(groups.size)
    difference = own - of_others
    sums, items = (
        np.bincount(index, weights=one, minlength=groups.size)
        for one in (difference, np.ones_like(difference))
    )
    severity, agreement = Estimate(float(difference.mean())), _agreement(own, of_others)
    if jackknife.replicates:
        with np.errstate(invalid="ignore"):
            means = (left_out @ sums) / (left_out @ items)
        severity = with_jackknife_interval(severity, means)
        if agreement.is_defined:
            correlations = replicates(own, of_others, index, left_out)
            agreement = with_jackknife_interval(agreement, correlations, "fisher")
    return BesideOthers(int(own.size), severity, agreement)


def _agreement(own: FloatArray, of_others: FloatArray) -> Estimate:
    if reason := why_undefined(own, of_others):
        return Estimate.undefined(reason)
    # Items of one dialogue are not independent, so the p-value of the formula is left out.
    return Estimate(pearson_estimate(own, of_others).value)


def alpha_with_others(
    scores: FloatArray, dialogue: NDArray[np.int64], counts: NDArray[np.bool_], row: int
) -> Estimate:
    """Krippendorff's ordinal α of all pairs of ratings that one rater is part of: each other
    rating of an item is held against the rater's own.

    Args:
        scores: (raters, items), NaN where not judged.
        dialogue: (items,) the dialogue of each.
        counts: (raters, items), which of the others' ratings count.
        row: the rater.

    Returns:
        α with its 95 % jackknife interval over dialogues; undefined where nobody else judged the
        rater's items, or where all ratings of them are one score.
    """
    others = counts & ~np.isnan(scores) & ~np.isnan(scores[row])
    others[row] = False
    other, item = np.nonzero(others)
    if not item.size:
        return Estimate.undefined(NOBODY_ELSE)
    pairs = np.stack([scores[row, item], scores[other, item]])
    table = tabulate(RatingMatrix(pairs, dialogue[item], ("rater", "other")))
    return krippendorff_alphas(table, Jackknife.over(table.dialogues))["ordinal"]


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
