"""Tie-calibrated pairwise accuracy: does the metric order two responses, or see that they are
equal, as people do?

Deutsch, Foster & Freitag (2023), Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy
and Tie Calibration. acc_eq = (pairs ordered as people order them + pairs tied for both) / all
pairs. A metric with a fine scale never ties and would lose every pair that people tie; so two of
its scores count as tied where they differ by at most ε, and ε is the one that maximises acc_eq on
these data. Pairs are made within groups (the responses of all systems to one turn: the paper's
"group by item") and the accuracies of groups averaged; or among all responses.

ε is fitted on what it is measured on, as in the paper, so that a metric with much to gain from ties
gains a little too much; the interval holds ε fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from common.correlation.identical import (
    IDENTICAL_DIALOGUES,
    agree_to_the_digit,
    identical_dialogues,
)
from common.estimates import Estimate, Undefined
from leaderboard.statistics.bounded import interval_of_identical
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

MOST_PAIRS = 2_000_000
"""More are drawn at random, with the seed: the share of a drawn million is known to a
thousandth."""


@dataclass(frozen=True, slots=True)
class TieCalibrated:
    """A metric's accuracy with the ε that maximises it."""

    accuracy: Estimate
    """In [0, 1]; the interval over dialogues, where they are given."""
    epsilon: float | None
    """Scores that differ by at most this count as tied."""
    groups: int
    pairs: int
    """Behind the accuracy; drawn at random where there are more than ``MOST_PAIRS``."""


def tie_calibrated_accuracies(
    human: ArrayLike,
    metrics: ArrayLike,
    group: ArrayLike | None = None,
    dialogue: ArrayLike | None = None,
    higher_is_better: list[bool] | None = None,
    seed: int = 0,
) -> list[TieCalibrated]:
    """Tie-calibrated pairwise accuracy of every metric.

    Groups without a pair are left out.

    Args:
        human: (n,) scores, NaN where there is none.
        metrics: (m, n) scores, NaN where there is none.
        group: (n,) numbers, pairs are made within one; None: all responses are one group.
        dialogue: (n,) numbers, for a 95 % interval over dialogues; each group must lie in one.
            None, or without ``group``: no interval.
        higher_is_better: for each metric; None: for all.
        seed: of the pairs that are drawn where there are more than ``MOST_PAIRS``.

    Returns:
        One entry per metric, the mean over groups in [0, 1]. Undefined, with 0 pairs, where no two
        responses of a group have both scores, no two metric scores of a group differ, or no two
        human scores do. Without an interval with fewer than 2 dialogues, or fewer than 10 of the
        same accuracy.

    Raises:
        ValueError: a group lies in several dialogues.

    acc_eq of Deutsch, Foster & Freitag (2023). The interval is the mean over groups ± t with
    dialogues − 1 degrees of freedom, as that of a ratio of sums over dialogues, cut at 0 and 1,
    with ε held fixed.
    """
    people = np.asarray(human, dtype=np.float64)
    rows = np.atleast_2d(np.asarray(metrics, dtype=np.float64))
    groups = (
        np.zeros(len(people), dtype=np.int64)
        if group is None
        else np.asarray(group, dtype=np.int64)
    )
    rated = np.flatnonzero(np.isfinite(people))
    pairs = _Pairs.within(people, rated, groups, seed)
    of_dialogue = (
        None
        if dialogue is None or group is None
        else _dialogue_of_group(groups, np.asarray(dialogue))
    )
    directions = [True] * len(rows) if higher_is_better is None else higher_is_better
    return [
        _calibrated(pairs, row if better else -row, of_dialogue)
        for row, better in zip(rows, directions, strict=True)
    ]


@dataclass(frozen=True)
class _Pairs:
    first: IntArray
    second: IntArray
    group: IntArray
    human_sign: NDArray[np.int8]

    @classmethod
    def within(cls, people: FloatArray, rated: IntArray, group: IntArray, seed: int) -> _Pairs:
        """Every pair of rated items of one group, once; drawn where they are too many."""
        order = rated[np.argsort(group[rated], kind="stable")]
        _, start, size = np.unique(group[order], return_index=True, return_counts=True)
        total = int((size * (size - 1) // 2).sum())
        if total > MOST_PAIRS:
            one, other = _sampled_pairs(start, size, MOST_PAIRS, seed)
        else:
            indices = [
                np.array(np.triu_indices(count, 1)) + begin
                for begin, count in zip(start, size, strict=True)
            ]
            one, other = (
                np.concatenate(indices, axis=1) if indices else np.empty((2, 0), dtype=np.int64)
            )
        first, second = order[one], order[other]
        sign = np.sign(people[first] - people[second]).astype(np.int8)
        return cls(first, second, group[first], sign)


def _sampled_pairs(
    start: IntArray, size: IntArray, pairs: int, seed: int
) -> tuple[IntArray, IntArray]:
    """Each group by its share of the pairs; two different items of it, each pair with the same
    chance."""
    random = np.random.default_rng(seed)
    share = size * (size - 1) / (size * (size - 1)).sum()
    drawn = random.choice(len(size), pairs, p=share)
    one = random.integers(0, size[drawn])
    other = random.integers(0, size[drawn] - 1)
    other += other >= one
    return start[drawn] + one, start[drawn] + other


def _calibrated(
    pairs: _Pairs, metric: FloatArray, of_dialogue: dict[int, int] | None
) -> TieCalibrated:
    difference = metric[pairs.first] - metric[pairs.second]
    both = np.isfinite(difference)
    if not both.any():
        return TieCalibrated(
            Estimate.undefined("no two responses of a group have both scores"), None, 0, 0
        )
    if not difference[both].any():
        return TieCalibrated(Estimate.undefined("all metric scores are equal"), None, 0, 0)
    difference, sign = difference[both], pairs.human_sign[both]
    if not sign.any():
        return TieCalibrated(
            Estimate.undefined("no two human scores of a group differ"), None, 0, 0
        )
    tied = sign == 0
    groups, index = np.unique(pairs.group[both], return_inverse=True)
    weight = 1.0 / np.bincount(index)
    gap = np.abs(difference)
    agreeing = (difference > 0) == (sign > 0)
    agreeing &= ~tied & (difference != 0)
    epsilon = _best_epsilon(gap[agreeing], weight[index[agreeing]], gap[tied], weight[index[tied]])
    right = np.where(tied, gap <= epsilon, agreeing & (gap > epsilon))
    of_group = np.bincount(index, weights=right) * weight
    dialogue = (
        None if of_dialogue is None else np.array([of_dialogue[int(number)] for number in groups])
    )
    return TieCalibrated(_estimate(of_group, dialogue), float(epsilon), len(groups), len(gap))


def _best_epsilon(
    agreeing: FloatArray, agreeing_weight: FloatArray, tied: FloatArray, tied_weight: FloatArray
) -> float:
    """The smallest ε with the highest accuracy. It rises only where a pair that people tie becomes
    tied, so ε is 0 or the gap of such a pair."""
    by_gap = np.argsort(tied)
    candidates = np.concatenate(([0.0], tied[by_gap]))
    gained = np.concatenate(([0.0], np.cumsum(tied_weight[by_gap])))
    # All pairs of one gap become tied together: the gain is that of the last of them.
    gained = gained[np.searchsorted(candidates, candidates, side="right") - 1]
    by_gap = np.argsort(agreeing)
    lost = np.concatenate(([0.0], np.cumsum(agreeing_weight[by_gap])))
    lost_at = lost[np.searchsorted(agreeing[by_gap], candidates, side="right")]
    net = gained - lost_at
    best = np.flatnonzero(net >= net.max() - 1e-9)[0]
    return float(candidates[best])


def _estimate(of_group: FloatArray, dialogue: NDArray[np.int64] | None) -> Estimate:
    """The mean over groups; its interval as that of a ratio of sums over dialogues (Cochran 1977,
    chapter 6)."""
    value = float(of_group.mean())
    if dialogue is None:
        return Estimate(value=value)
    _, place = np.unique(dialogue, return_inverse=True)
    clusters = int(place.max()) + 1
    if clusters < 2:
        return Estimate(value=value, reason="an interval over dialogues needs at least 2 dialogues")
    size = np.bincount(place)
    total = np.bincount(place, weights=of_group)
    if identical_dialogues(total / size, clusters):
        return Estimate(value=value, reason=IDENTICAL_DIALOGUES)
    if agree_to_the_digit(total / size):
        interval = interval_of_identical(value, clusters, (0.0, 1.0))
        assert not isinstance(interval, Undefined)  # an accuracy lies between its ends
        return Estimate(value=value, ci=interval)
    residual = total - value * size
    error = float(np.sqrt(clusters / (clusters - 1) * (residual**2).sum())) / size.sum()
    reach = float(stdtrit(clusters - 1, 0.975)) * error
    return Estimate(
        value=value, ci=(float(max(0.0, value - reach)), float(min(1.0, value + reach)))
    )


def _dialogue_of_group(group: IntArray, dialogue: NDArray[np.int64]) -> dict[int, int]:
    numbers, first = np.unique(group, return_index=True)
    found = dialogue[first]
    if not np.array_equal(found[np.searchsorted(numbers, group)], dialogue):
        raise ValueError("a group of responses must lie in one dialogue")
    return {int(number): int(one) for number, one in zip(numbers, found, strict=True)}
