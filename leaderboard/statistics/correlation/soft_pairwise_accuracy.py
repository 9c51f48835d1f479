"""Soft pairwise accuracy: is the metric as sure as people are that one system is better than
another?

Thompson, Mathur, Deutsch & Khayrallah (2024), Improving Statistical Significance in Human
Evaluation of Automatic Metrics via Soft Pairwise Accuracy: for every pair of systems the one-sided
p that the first is better is made from people's scores and from the metric's; SPA = 1 − mean
|p_people − p_metric|. It is 1 where the metric is as sure as people on every pair, and, unlike
pairwise accuracy, a coin toss between two equal systems costs a metric nothing.

p: paired permutation test over dialogues. In a permutation the two systems exchange all they scored
in a dialogue with chance ½; p is the share of permutations whose difference is at least the one
observed. The paper's segments are dialogues here, since turns of one dialogue are not independent,
and a segment's score is the mean over its turns. Of two systems with dialogues of their own
(``Design``) the test is unpaired: the labels of the two are permuted over all their dialogues.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, PlacedScores, system_sums
from leaderboard.statistics.design import Design

ROUNDING = 1e-10
PAIRS_AT_ONCE = 4096
NO_DIALOGUES = (
    "the metric has no scores below system level, so nothing says how sure it is of a pair of "
    "systems"
)


def soft_pairwise_accuracies(
    human: PlacedScores,
    metrics: PlacedScores,
    systems: int,
    higher_is_better: list[bool] | None = None,
    permutations: int = 1000,
    seed: int = 0,
) -> list[Estimate]:
    """Soft pairwise accuracy (SPA) of every metric.

    A pair of systems is compared on the dialogues in which both have both kinds of scores; where
    they share too few (``Design.is_paired``), on those of each, if these are two or more.

    Args:
        human: one list of scores.
        metrics: one list per metric.
        systems: number of systems.
        higher_is_better: for each metric; None: for all.
        permutations: of the test of each pair, at least 1.
        seed: of the permutations, which all metrics share.

    Returns:
        One SPA in [0, 1] per metric, without interval and p. Undefined where fewer than 2
        dialogues, or no pair, are left, and where human or metric scores are constant.

    SPA = 1 − mean |p_human − p_metric| over pairs of systems (Thompson, Mathur, Deutsch &
    Khayrallah 2024), with dialogues in the place of the paper's segments.
    """
    dialogues = np.unique(np.concatenate((human.dialogue, metrics.dialogue)))
    people = _grid(human, 0, systems, dialogues)
    directions = [True] * len(metrics.scores) if higher_is_better is None else higher_is_better
    coins = (
        np.random.default_rng(seed).integers(0, 2, (max(len(dialogues), 1), permutations)) * 2.0
        - 1.0
    )
    known: dict[bytes, FloatArray] = {}

    def accuracy(row: int) -> Estimate:
        grid = _grid(metrics, row, systems, dialogues) * (1.0 if directions[row] else -1.0)
        both = np.isfinite(grid) & np.isfinite(people)
        if reason := _why_undefined(people[both], grid[both], both):
            return Estimate.undefined(reason)
        key = both.tobytes()
        if key not in known:
            known[key] = better_p(np.where(both, people, np.nan), coins, seed)
        of_metric = better_p(np.where(both, grid, np.nan), coins, seed)
        return Estimate(value=float(1.0 - np.nanmean(np.abs(known[key] - of_metric))))

    return [accuracy(row) for row in range(len(metrics.scores))]


def better_p(grid: FloatArray, coins: NDArray[np.floating[Any]], seed: int = 0) -> FloatArray:
    """One-sided p of every pair of systems that the first is better than the second.

    Args:
        grid: (systems, dialogues), NaN where there is no score.
        coins: (dialogues, permutations) of ±1: whether a pair exchanges its scores in a dialogue.
        seed: of the labels that unpaired tests permute, as often.

    Returns:
        (pairs,) of systems i < j in the order of ``numpy.triu_indices``: the share of permutations
        whose difference is at least the one observed. NaN where the two systems share too few
        dialogues and one has fewer than two.
    """
    design = Design(np.isfinite(grid))
    first, second = np.triu_indices(len(grid), 1)
    p = np.full(len(first), np.nan)
    scale = np.nanmax(np.abs(grid)) or 1.0
    for start in range(0, len(first), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        difference = (grid[first[part]] - grid[second[part]]) / scale
        shared = np.isfinite(difference).any(axis=1)
        difference = np.where(np.isfinite(difference), difference, 0.0)
        swapped = difference @ coins
        at_least = (swapped >= difference.sum(axis=1, keepdims=True) - ROUNDING).mean(axis=1)
        p[part] = np.where(shared, at_least, np.nan)
    if design.kind == "crossed":
        return p
    labels: dict[tuple[int, int], FloatArray] = {}
    for pair, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if not design.is_paired(one, other):
            scores, others = (row[np.isfinite(row)] / scale for row in grid[[one, other]])
            p[pair] = _unpaired_p(scores, others, coins, seed, labels)
    return p


def _unpaired_p(
    first: FloatArray,
    second: FloatArray,
    coins: NDArray[np.floating[Any]],
    seed: int,
    labels: dict[tuple[int, int], FloatArray],
) -> float:
    """``labels``: the permuted weights of both systems' dialogues, by how many each has: made once
    for all pairs."""
    sizes = len(first), len(second)
    if min(sizes) < 2:
        return float("nan")
    if sizes not in labels:
        weights = np.repeat([1 / sizes[0], -1 / sizes[1]], sizes)
        labels[sizes] = (
            np.random.default_rng(seed).permuted(np.tile(weights, (coins.shape[1], 1)), axis=1).T
        )
    swapped = np.concatenate((first, second)) @ labels[sizes]
    return float((swapped >= first.mean() - second.mean() - ROUNDING).mean())


def _grid(placed: PlacedScores, row: int, systems: int, dialogues: np.ndarray) -> FloatArray:
    dialogue = np.searchsorted(dialogues, placed.dialogue)
    return system_sums(
        placed.scores[row], placed.system, dialogue, systems, len(dialogues)
    ).dialogue_means()


def _why_undefined(people: FloatArray, metric: FloatArray, both: np.ndarray) -> str:
    if both.any(axis=0).sum() < 2:
        return (
            "a test over dialogues needs at least 2 dialogues with both scores, there are "
            f"{both.any(axis=0).sum()}"
        )
    shared = both.astype(np.int64) @ both.T.astype(np.int64)
    if (shared > 0).sum() - both.any(axis=1).sum() < 2 and (np.diag(shared) > 1).sum() < 2:
        return "no two systems have both scores in the same dialogue, or in two dialogues each"
    if people.min() == people.max():
        return "all human scores are equal"
    if metric.min() == metric.max():
        return "all metric scores are equal"
    return ""
