"""Permutation tests: is one metric's correlation with people larger than another's, beyond what
chance swaps of the two would give?

PERM-SYS, PERM-INPUT and PERM-BOTH of Deutsch, Dror & Roth (2021), A Statistical Analysis of
Summarization Evaluation Metrics Using Resampling Methods: under the null hypothesis the two metrics
are exchangeable. The two (standardised) scores change places in all responses of a system with
chance ½ (PERM-SYS), or in all responses to an input with chance ½ (PERM-INPUT), or first the one
and then the other (PERM-BOTH), and the difference of the correlations is computed again. Under
PERM-BOTH a response is thus swapped where one of its system and its input is, but not both.
Swapping whole systems keeps what their responses share, so that test speaks of other systems and
the same inputs; swapping whole inputs, of other inputs and the same systems; both, of other systems
and other inputs at once.

What is correlated is what is standardised. The paper standardises responses at system level, too,
where two metrics with unlike noise within systems are then swapped on unlike scales
(``standardised``).

``swap_tests`` gives the tests over items for r, ρ and τ-b from the same swaps: many swaps are
ranked at once, so that a few hundred items are tested within a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from common.correlation import COEFFICIENTS
from common.correlation.kendall import kendall_between, kendall_estimate, kendall_scores
from common.correlation.pearson import pearson_between, pearson_estimate, pearson_scores
from common.correlation.resampling import MAX_UNDEFINED_SHARE
from common.correlation.spearman import spearman_between, spearman_estimate, spearman_scores
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, system_sums
from leaderboard.statistics.correlation.rowwise import (
    FixedScores,
    compiled_rows,
    correlate_rows,
    fixed_side,
)

Coefficient = Literal["pearson", "spearman", "kendall"]
Alternative = Literal["two-sided", "greater"]
Swapped = Literal["systems", "dialogues", "both"]
NAMES: dict[Swapped, str] = {"systems": "PERM-SYS", "dialogues": "PERM-INPUT", "both": "PERM-BOTH"}
"""What is swapped whole, and what the paper calls the test."""
ROUNDING = 1e-10
"""Differences closer than this are equal: the same swap summed in another order must not count as
smaller."""
DECIMALS = 11
"""Of swapped system means, whose standard deviation is 1: equal means must tie when they are
ranked."""
MIN_SPREAD = 1e-14
"""Of scores of 1 at most: a smaller standard deviation is rounding."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Two metrics' correlations with human scores, their difference, and how it was tested."""

    first: Estimate
    """Correlation of the first metric with people."""
    second: Estimate
    difference: Estimate
    """first − second, with the test's p."""
    permutations: int
    seed: int
    swapped: Swapped = "both"


def permutation_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    system: ArrayLike,
    dialogue: ArrayLike,
    level: Literal["system", "item"] = "system",
    coefficient: Coefficient = "pearson",
    alternative: Alternative = "two-sided",
    permutations: int = 1000,
    seed: int = 0,
    swapped: Swapped = "both",
) -> PermutationTest:
    """Permutation test of the difference between two metrics' correlations with human scores.

    Args:
        human: (n,) human scores, NaN where there is none.
        first: (n,) scores of the first metric for the same responses, NaN where there is none.
            Negate metrics whose low scores are good.
        second: (n,) scores of the second metric, likewise. Responses without one of the three
            scores are dropped.
        system: (n,) system numbers.
        dialogue: (n,) dialogue numbers. The inputs that are swapped whole are dialogues, since
            turns of one dialogue are not independent.
        level: "system" correlates system means, "item" the n scores themselves (turn level; or
            dialogue level, given dialogue means).
        coefficient: The coefficient to test.
        alternative: "greater" asks whether the first metric is better, as the paper does;
            "two-sided" whether they differ.
        permutations: Number of random swaps.
        seed: The same seed gives the same p.
        swapped: What is swapped whole: systems, dialogues, or both. With G of them there are 2^G
            swaps at most, so p is never far below 2^(1−G).

    Returns:
        Both correlations in [-1, 1] and their difference in [-2, 2], with the test's p in (0, 1],
        never 0. The difference is undefined where a correlation is (fewer than 3 items or systems,
        or a constant side), and has no p where more than 10 % of the swaps leave a constant score.

    Equation: p = (1 + swaps at least as extreme) / (1 + swaps) (Phipson & Smyth 2010). Tests:
    Deutsch, Dror & Roth (2021); what is correlated is what is standardised, which departs from the
    paper at system level (``standardised``).
    """
    scores = np.array([human, first, second], dtype=np.float64)
    complete = np.isfinite(scores).all(axis=0)
    human_scores, one, other = scores[:, complete]
    systems, dialogues = (
        np.unique(np.asarray(numbers)[complete], return_inverse=True)[1].astype(np.int64)
        for numbers in (system, dialogue)
    )
    of_system = systems if level == "system" else None
    one, other = standardised(one, of_system), standardised(other, of_system)
    points = [_point(human_scores, metric, systems, level, coefficient) for metric in (one, other)]
    if points[0].value is None or points[1].value is None:
        reason = next(point.reason for point in points if not point.is_defined)
        return PermutationTest(
            points[0], points[1], Estimate.undefined(reason), permutations, seed, swapped
        )
    observed = points[0].value - points[1].value
    coins = toss(int(systems.max()) + 1, int(dialogues.max()) + 1, permutations, seed, swapped)
    correlate = _system_differences if level == "system" else _item_differences
    differences = correlate(human_scores, one, other, systems, dialogues, coefficient, coins)
    difference = _tested(observed, differences, alternative)
    return PermutationTest(points[0], points[1], difference, permutations, seed, swapped)


def _tested(observed: float, differences: FloatArray, alternative: Alternative) -> Estimate:
    if np.isnan(observed):
        return Estimate.undefined("one of the scores does not vary")
    defined = differences[~np.isnan(differences)]
    if len(defined) < (1.0 - MAX_UNDEFINED_SHARE) * len(differences):
        return Estimate(value=observed, reason="too many swaps leave a constant score: no p")
    if alternative == "two-sided":
        extreme = int((np.abs(defined) >= abs(observed) - ROUNDING).sum())
    else:
        extreme = int((defined >= observed - ROUNDING).sum())
    return Estimate(value=observed, p=(1 + extreme) / (1 + len(defined)))


ESTIMATE: dict[Coefficient, Callable[[FloatArray, FloatArray], Estimate]] = {
    "pearson": pearson_estimate,
    "spearman": spearman_estimate,
    "kendall": kendall_estimate,
}


def _point(
    human: FloatArray, metric: FloatArray, system: IntArray, level: str, coefficient: Coefficient
) -> Estimate:
    if level == "system":
        human, metric = (
            _system_means(human, system),
            np.round(_system_means(metric, system), DECIMALS),
        )
    return ESTIMATE[coefficient](human, metric)


def _system_means(scores: FloatArray, system: IntArray) -> FloatArray:
    systems = int(system.max()) + 1 if len(system) else 0
    return system_sums(scores, system, np.zeros_like(system), systems, 1).means()


def standardised(scores: FloatArray, system: IntArray | None = None) -> FloatArray:
    """Scores on a common scale, so that swapping those of two metrics means something.

    Args:
        scores: (n,), finite.
        system: (n,) numbers from 0, where system means are correlated. Then the *means* get mean 0
            and standard deviation 1. To standardise the responses instead would leave the means of
            a metric with more noise within systems on a narrower scale than the other's: under
            PERM-SYS most swaps would then look extreme, and no real difference would stand out.

    Returns:
        (n,); all 0 where what is standardised does not vary beyond rounding.
    """
    if not len(scores) or scores.min() == scores.max():
        return np.zeros_like(scores)
    scores = scores / np.abs(scores).max()  # squares of huge scores would be infinite, of tiny 0
    compared = scores if system is None else _system_means(scores, system)
    centred: FloatArray = scores - compared.mean()
    spread = compared.std()
    return np.asarray(centred / spread) if spread > MIN_SPREAD else np.zeros_like(scores)


@dataclass(frozen=True)
class Coins:
    """Which systems and which dialogues change places, 1.0 or 0.0."""

    systems: FloatArray
    """(permutations, systems)"""
    dialogues: FloatArray
    """(permutations, dialogues)"""


def toss(
    systems: int, dialogues: int, permutations: int, seed: int, swapped: Swapped = "both"
) -> Coins:
    """Random swaps: which systems and which dialogues change places in each permutation.

    Args:
        systems: Number of systems.
        dialogues: Number of dialogues.
        permutations: Number of permutations.
        seed: The same seed gives the same coins.
        swapped: What is swapped whole. The coins of what is not are all 0.

    Returns:
        (permutations, systems) and (permutations, dialogues) fair coins, 1.0 or 0.0.
    """
    random = np.random.default_rng(seed)

    def fair(count: int, is_swapped: bool) -> FloatArray:
        if not is_swapped:
            return np.zeros((permutations, count))
        return random.integers(0, 2, (permutations, count)).astype(np.float64)

    return Coins(fair(systems, swapped != "dialogues"), fair(dialogues, swapped != "systems"))


def _system_differences(
    human: FloatArray,
    one: FloatArray,
    other: FloatArray,
    system: IntArray,
    dialogue: IntArray,
    coefficient: Coefficient,
    coins: Coins,
) -> FloatArray:
    """(permutations,) differences of the system-level correlations after swapping."""
    systems, dialogues = coins.systems.shape[1], coins.dialogues.shape[1]
    gain = system_sums(other - one, system, dialogue, systems, dialogues).total
    own, both = (np.bincount(system, weights=scores) for scores in (one, one + other))
    # A cell is swapped where s ≠ d, and for coins s ≠ d is s + (1 − 2s)·d: one matrix product for
    # all permutations.
    swapped_gain = coins.systems * gain.sum(axis=1) + (1.0 - 2.0 * coins.systems) * (
        coins.dialogues @ gain.T
    )
    size = np.bincount(system)
    human_side = fixed_side(_system_means(human, system)[None, :])
    first, second = (
        correlate_rows(human_side, compiled_rows(np.round(total / size, DECIMALS)))[coefficient]
        for total in (own + swapped_gain, both - own - swapped_gain)
    )
    return first - second


def _item_differences(
    human: FloatArray,
    one: FloatArray,
    other: FloatArray,
    system: IntArray,
    dialogue: IntArray,
    coefficient: Coefficient,
    coins: Coins,
) -> FloatArray:
    """(permutations,) differences of the correlations over all items after swapping."""
    with_people = _fast_correlation(human, coefficient)
    differences = []
    for systems_swapped, dialogues_swapped in zip(coins.systems, coins.dialogues, strict=True):
        swapped = systems_swapped[system] != dialogues_swapped[dialogue]
        differences.append(
            with_people(np.where(swapped, other, one)) - with_people(np.where(swapped, one, other))
        )
    return np.array(differences)


def _fast_correlation(human: FloatArray, coefficient: Coefficient) -> Callable[[FloatArray], float]:
    """The coefficient with the human side prepared once: one cluster drawn once is the data
    itself."""
    cluster, once = np.zeros(len(human), dtype=np.int64), np.ones((1, 1))
    if coefficient == "pearson":
        pearson_human = pearson_scores(human, cluster, once)
        return lambda metric: float(
            pearson_between(pearson_human, pearson_scores(metric, cluster, once))[0]
        )
    if coefficient == "spearman":
        spearman_human = spearman_scores(human, cluster, once)
        return lambda metric: float(
            spearman_between(spearman_human, spearman_scores(metric, cluster, once))[0]
        )
    kendall_human = kendall_scores(human, cluster, once)
    return lambda metric: float(
        kendall_between(kendall_human, kendall_scores(metric, cluster, once))[0]
    )


SWAPS_AT_ONCE = 200_000
"""Scores in memory: so many rows of items are ranked at a time."""


def swap_tests(
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    system: IntArray,
    dialogue: IntArray,
    swapped: Swapped = "both",
    permutations: int = 1000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Permutation tests of two metrics' correlations over items, for r, ρ and τ-b.

    Args:
        human: (n,) human scores, finite.
        first: (n,) scores of the first metric, finite.
        second: (n,) scores of the second metric, finite.
        system: (n,) system numbers.
        dialogue: (n,) dialogue numbers.
        swapped: What is swapped whole: systems, dialogues, or both.
        permutations: Number of random swaps.
        seed: The same seed gives the same p.

    Returns:
        By coefficient ("pearson", "spearman", "kendall"): first − second, in [-2, 2], with its
        two-sided p, the same as ``permutation_test`` gives at level "item" with this seed.
        Undefined where a side is constant; without p where more than 10 % of the swaps leave a
        constant score.
    """
    one, other = standardised(first), standardised(second)
    systems, dialogues = (
        np.unique(numbers, return_inverse=True)[1] for numbers in (system, dialogue)
    )
    coins = toss(int(systems.max()) + 1, int(dialogues.max()) + 1, permutations, seed, swapped)
    people = fixed_side(human[None, :])
    nothing = np.zeros((1, len(human)), dtype=bool)
    observed = _differences(people, one, other, nothing)
    rows = max(1, SWAPS_AT_ONCE // len(human))
    found: dict[str, list[FloatArray]] = {name: [] for name in COEFFICIENTS}
    for begin in range(0, permutations, rows):
        part = slice(begin, begin + rows)
        is_swapped = coins.systems[part][:, systems] != coins.dialogues[part][:, dialogues]
        for name, differences in _differences(people, one, other, is_swapped).items():
            found[name].append(differences)
    return {
        name: _tested(float(observed[name][0]), np.concatenate(found[name]), "two-sided")
        for name in COEFFICIENTS
    }


def _differences(
    people: FixedScores, one: FloatArray, other: FloatArray, is_swapped: np.ndarray
) -> dict[str, FloatArray]:
    first = correlate_rows(people, compiled_rows(np.where(is_swapped, other, one)))
    second = correlate_rows(people, compiled_rows(np.where(is_swapped, one, other)))
    return {name: first[name] - second[name] for name in COEFFICIENTS}
