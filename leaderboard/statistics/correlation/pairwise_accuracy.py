"""Pairwise accuracy: in how many pairs of systems the metric prefers the system that people prefer.

Kocmi et al. (2021), To Ship or Not to Ship: accuracy = pairs with sign(metric Δ) = sign(human Δ) /
all pairs. Pairs that tie for people have no right answer and are left out; a metric that ties where
people do not is wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from common.correlation import cluster_resamples, with_interval
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, PlacedScores, system_sums
from leaderboard.statistics.design import Design


def pairwise_accuracy(
    human_means: ArrayLike, metric_means: ArrayLike, higher_is_better: bool = True
) -> Estimate:
    """Pairwise accuracy: share of system pairs that the metric orders as the human scores do.

    Args:
        human_means: (systems,) mean human scores, NaN where a system has none.
        metric_means: (systems,) mean metric scores, NaN where a system has none.
        higher_is_better: Whether high metric scores are good.

    Returns:
        Accuracy in [0, 1], over the pairs that do not tie in the human scores; a metric's tie is
        wrong. No interval, no p. Undefined with fewer than 2 systems that have both means, or where
        all human means are equal.

    Raises:
        ValueError: The two are not lists of one length.

    Equation: pairs with sign(metric Δ) = sign(human Δ) / all pairs (Kocmi et al. 2021). The paper's
    "all pairs" are here the pairs that do not tie in the human scores.
    """
    human = np.asarray(human_means, dtype=np.float64)
    metric = np.asarray(metric_means, dtype=np.float64) * (1.0 if higher_is_better else -1.0)
    if human.shape != metric.shape or human.ndim != 1:
        raise ValueError(
            f"need one mean per system on both sides, got shapes {human.shape} and {metric.shape}"
        )
    both = np.isfinite(human) & np.isfinite(metric)
    if both.sum() < 2:
        return Estimate.undefined(
            f"pairs of systems need at least 2 systems with both scores, there are {both.sum()}"
        )
    accuracy = _accuracies(human[None, both], metric[None, both])[0]
    if np.isnan(accuracy):
        return Estimate.undefined("all human scores are equal")
    return Estimate(value=float(accuracy))


def pairwise_accuracy_over_dialogues(
    human: PlacedScores,
    metric: PlacedScores,
    systems: int,
    higher_is_better: bool = True,
    resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Pairwise accuracy of system means, with an interval over dialogues.

    Args:
        human: One list of item scores.
        metric: One list of item scores, with the same numbering of systems and dialogues.
        systems: Number of systems.
        higher_is_better: Whether high metric scores are good.
        resamples: Bootstrap draws of dialogues, at least 1.
        seed: The same seed gives the same draws.

    Returns:
        Accuracy in [0, 1] as ``pairwise_accuracy`` has it, with a 95 % interval (percentile
        bootstrap), no p. No interval, with its reason, with fewer than 2 dialogues that have human
        scores, where fewer than 10 dialogues give the same value in every draw, or where more than
        10 % of the draws are undefined.

    Raises:
        ValueError: ``resamples`` is below 1.
    """
    dialogues = np.unique(np.concatenate((human.dialogue, metric.dialogue)))
    human_sums, metric_sums = (
        system_sums(
            one.scores[0],
            one.system,
            np.searchsorted(dialogues, one.dialogue),
            systems,
            len(dialogues),
        )
        for one in (human, metric)
    )
    human_means, metric_means = human_sums.means(), metric_sums.means()
    point = pairwise_accuracy(human_means, metric_means, higher_is_better)
    if not point.is_defined:
        return point
    both = np.isfinite(human_means) & np.isfinite(metric_means)
    strata = Design((human_sums.count + metric_sums.count > 0)[both]).strata
    weights = cluster_resamples(len(dialogues), resamples, seed, strata).astype(np.float64)
    direction = 1.0 if higher_is_better else -1.0
    replicates = _accuracies(
        human_sums.resampled_means(weights)[:, both],
        direction * metric_sums.resampled_means(weights)[:, both],
    )
    return with_interval(point, replicates, int((human_sums.count.sum(axis=0) > 0).sum()))


def _accuracies(human: FloatArray, metric: FloatArray) -> FloatArray:
    """(rows, systems) twice → (rows,); NaN where people tie on all pairs or a mean is missing."""
    agreeing, decided = np.zeros(len(human)), np.zeros(len(human))
    for i in range(human.shape[1] - 1):
        human_sign = np.sign(human[:, i : i + 1] - human[:, i + 1 :])
        metric_sign = np.sign(metric[:, i : i + 1] - metric[:, i + 1 :])
        agreeing += ((human_sign == metric_sign) & (human_sign != 0)).sum(axis=1)
        decided += (human_sign != 0).sum(axis=1)
    complete = ~(np.isnan(human) | np.isnan(metric)).any(axis=1)
    return np.where((decided > 0) & complete, agreeing / np.maximum(decided, 1.0), np.nan)
