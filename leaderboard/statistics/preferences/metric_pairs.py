"""A metric held against preferences: accuracy on pairs, AUC, and tests between metrics.

A pair is a vote: a person preferred one of two responses, or neither, and the metric scored both.
Accuracy is of decisive votes. Where the metric ties it is half right, as if it tossed a coin; wrong
and left out are reported beside it. Intervals are over conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from common.correlation.jackknife import ONE_CLUSTER
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.share_over_dialogues import share_over_dialogues, wilson
from leaderboard.statistics.significance.multiple_comparisons import holm

NO_DECISIVE = "no vote with a winner has the metric's score of both responses"
ONE_WINNER = "one slot won every decisive vote, so there is nothing to rank"


DIGITS = 12


def score_differences(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Differences of scores, equal where they differ by the rounding of the subtraction alone.

    Args:
        a: scores, higher is better; NaN where there is none.
        b: scores in the same places.

    Returns:
        a − b, rounded to the twelfth significant digit of the larger score; NaN where one is
        missing.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    largest = np.maximum(np.abs(first), np.abs(second))
    known = np.isfinite(largest) & (largest > 0)
    exponent = np.floor(np.log10(largest, out=np.zeros(largest.shape), where=known))
    scale = 10.0 ** np.clip(DIGITS - exponent, -300, 300)
    return np.asarray(np.rint((first - second) * scale) / scale)


@dataclass(frozen=True)
class PairAgreement:
    """``votes`` whose two responses the metric scored, ``decisive`` ones that name a winner,
    ``tied``: decisive ones on which the metric's scores are equal.

    ``accuracy``: of decisive votes, a metric's tie as half right; ``ties_wrong``,
    ``ties_left_out``:
    the same with the metric's ties counted so. ``auc``: the chance that the score difference A − B
    of a vote for A is above that of a vote for B. ``three_classes``: share of all votes, ties too,
    whose verdict the metric has. ``calibrated``: the same where differences up to ``threshold`` are
    ties, the threshold that agrees best.
    """

    votes: int
    decisive: int
    tied: int
    accuracy: Estimate
    ties_wrong: Estimate
    ties_left_out: Estimate
    auc: Estimate
    three_classes: Estimate
    calibrated: float | None
    threshold: float | None


def metric_on_pairs(
    difference: ArrayLike, won: ArrayLike, conversation: ArrayLike, level: float = 0.95
) -> PairAgreement:
    """A metric's agreement with votes.

    Args:
        difference: (n,) of ``score_differences``: A − B, higher is better.
        won: (n,) the share of the vote that A won: 1, 0, 0.5 for a tie.
        conversation: (n,) number of each vote's conversation.
        level: confidence level, in (0, 1).

    Returns:
        Undefined estimates, with the reason, where nothing was scored or decided. The threshold is
        found on the same votes, so ``calibrated`` has no interval.

    Sources: AUC as Mann & Whitney's statistic; calibration of ties: Deutsch, Foster & Freitag
    (2023), Ties matter, EMNLP.
    """
    every = np.asarray(difference, dtype=np.float64)
    scored = np.isfinite(every)
    apart, share = every[scored], np.asarray(won, dtype=np.float64)[scored]
    place = np.asarray(conversation)[scored]
    verdict, sign = np.sign(share - 0.5), np.sign(apart)
    decisive = verdict != 0
    right = (verdict[decisive] * sign[decisive] + 1) / 2  # a tie of the metric is half right
    where, ties = place[decisive], sign[decisive] == 0
    nothing = Estimate.undefined(NO_DECISIVE)
    found = [
        share_over_dialogues(hits, of, level) if len(of) else nothing
        for hits, of in ((right, where), (right == 1, where), (right[~ties] == 1, where[~ties]))
    ]
    calibrated, threshold = _calibrated(apart, verdict) if len(apart) else (None, None)
    return PairAgreement(
        votes=int(scored.sum()),
        decisive=int(decisive.sum()),
        tied=int(ties.sum()),
        accuracy=found[0],
        ties_wrong=found[1],
        ties_left_out=found[2],
        auc=area_under_curve(apart[decisive], verdict[decisive] > 0, where, level),
        three_classes=share_over_dialogues(sign == verdict, place, level),
        calibrated=calibrated,
        threshold=threshold,
    )


def area_under_curve(
    difference: FloatArray, is_a: ArrayLike, conversation: ArrayLike, level: float = 0.95
) -> Estimate:
    """Area under the ROC curve of score differences, with an interval over conversations.

    Args:
        difference: (n,) score differences A − B of decisive votes.
        is_a: (n,) whether A won.
        conversation: (n,) number of each vote's conversation.
        level: confidence level, in (0, 1).

    Returns:
        From 0 to 1. Undefined where one slot won all votes. The interval is Wilson's with Student's
        t, for as many independent votes as have the variance of the placements summed within
        conversations (Obuchowski 1997, Nonparametric analysis of clustered ROC curve data,
        Biometrics 53).
    """
    of_a = np.asarray(is_a, dtype=bool)
    up, down = np.sort(difference[of_a]), np.sort(difference[~of_a])
    if not len(up) or not len(down):
        return Estimate.undefined(ONE_WINNER if len(of_a) else NO_DECISIVE)
    placement = np.empty(len(of_a))
    placement[of_a] = _share_below(down, difference[of_a])
    placement[~of_a] = 1.0 - _share_below(up, difference[~of_a])
    area = float(placement[of_a].mean())
    influence = (placement - area) / np.where(of_a, len(up), len(down))
    _, cluster = np.unique(np.asarray(conversation), return_inverse=True)
    sums = np.bincount(cluster, influence)
    groups = len(sums)
    if groups < 2:
        return Estimate(area, reason=ONE_CLUSTER)
    variance = groups / (groups - 1) * float(np.square(sums).sum())
    alone = area * (1 - area) / variance if variance > 0 else float(groups)
    return Estimate(area, ci=wilson(area, alone, float(stdtrit(groups - 1, 0.5 + level / 2))))


def _share_below(others: FloatArray, values: FloatArray) -> FloatArray:
    """Of the sorted others, those that are equal as half."""
    below = np.searchsorted(others, values, "left") + np.searchsorted(others, values, "right")
    return np.asarray(below / (2 * len(others)))


def _calibrated(apart: FloatArray, verdict: FloatArray) -> tuple[float, float]:
    """(share of votes with the metric's verdict, threshold): the smallest of the best."""
    size = np.abs(apart)
    order = np.argsort(size, kind="stable")
    right = (np.sign(apart) == verdict) & (verdict != 0)
    # Up to and with each vote all are called ties, those after it are not
    hits = np.cumsum((verdict == 0)[order]) + right.sum() - np.cumsum(right[order])
    last = np.append(np.diff(size[order]) > 0, True)
    thresholds, counts = size[order][last], hits[last]
    if thresholds[0] > 0:
        thresholds = np.concatenate(([0.0], thresholds))
        counts = np.concatenate(([right.sum()], counts))
    best = int(np.argmax(counts))
    return float(counts[best] / len(apart)), float(thresholds[best])


@dataclass(frozen=True)
class AccuracyTests:
    """Pairs (i, j) with i < j in the order of ``numpy.triu_indices``; NaN where a pair has no
    votes that both scored, in two conversations or more."""

    difference: FloatArray
    p: FloatArray
    p_holm: FloatArray

    def matrix(self, metrics: int) -> FloatArray:
        """(metrics, metrics) Holm-adjusted p, symmetric, NaN on the diagonal."""
        found = np.full((metrics, metrics), np.nan)
        first, second = np.triu_indices(metrics, 1)
        found[first, second] = found[second, first] = self.p_holm
        return found


def compare_accuracies(
    differences: Sequence[ArrayLike], won: ArrayLike, conversation: ArrayLike
) -> AccuracyTests:
    """Whether two metrics are right on decisive votes equally often, for each pair of metrics.

    Args:
        differences: M lists of (n,) score differences, as in ``metric_on_pairs``.
        won: (n,) the share of the vote that A won.
        conversation: (n,) number of each vote's conversation.

    Returns:
        Difference of accuracies (ties of a metric as half right) on the votes that both scored;
        two-sided p of Student's t with G − 1 degrees of freedom, of the difference over the error
        that sums within the G conversations; Holm's correction for the pairs.
    """
    verdict = np.sign(np.asarray(won, dtype=np.float64) - 0.5)
    decisive = verdict != 0
    _, place = np.unique(np.asarray(conversation)[decisive], return_inverse=True)
    right = np.array(
        [
            (np.sign(np.asarray(one, dtype=np.float64)[decisive]) * verdict[decisive] + 1) / 2
            for one in differences
        ]
    ).reshape(len(differences), int(decisive.sum()))
    first, second = np.triu_indices(len(differences), 1)
    tests = [
        _paired(right[one] - right[other], place)
        for one, other in zip(first.tolist(), second.tolist(), strict=True)
    ]
    found = np.array(tests, dtype=np.float64).reshape(-1, 2)
    return AccuracyTests(found[:, 0], found[:, 1], holm(found[:, 1]))


def _paired(apart: FloatArray, place: IntArray) -> tuple[float, float]:
    """(mean, p) of differences; NaN for one that does not exist."""
    both = np.isfinite(apart)
    if not both.any():
        return np.nan, np.nan
    mean = float(apart[both].mean())
    count = np.bincount(place[both])
    sums = np.bincount(place[both], apart[both] - mean)[count > 0]
    groups = len(sums)
    if groups < 2:
        return mean, np.nan
    error = float(np.sqrt(groups / (groups - 1) * np.square(sums).sum()) / both.sum())
    if error == 0:
        return mean, 1.0 if mean == 0 else np.nan
    return mean, float(2 * stdtr(groups - 1, -abs(mean) / error))
