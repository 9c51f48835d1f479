"""Is one metric's correlation with people larger than another's, beyond what chance swaps of the two would give?

PERM-BOTH of Deutsch, Dror & Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
Methods: under the null hypothesis the two metrics are exchangeable, so each response's pair of (standardised) scores
is swapped with chance ½, for every system and input by itself, and the difference is computed again. This speaks of
other systems and other inputs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotations.correlation import correlation_estimates
from annotations.correlation.bootstrap import MAX_UNDEFINED_SHARE
from annotations.correlation.kendall import kendall_between, kendall_side
from annotations.correlation.pearson import pearson_between, pearson_side
from annotations.correlation.spearman import spearman_between, spearman_side
from annotations.estimates import Estimate
from leaderboard.statistics.placed_scores import FloatArray, IntArray, settled, system_sums
from leaderboard.statistics.rowwise import correlate_rows, fixed_side, prepared_rows

Coefficient = Literal["pearson", "spearman", "kendall"]
Alternative = Literal["two-sided", "greater"]
SWAPS_AT_ONCE = 2_000_000
"""How many coins are tossed at a time; bounds the memory."""
ROUNDING = 1e-12
"""Differences closer than this are equal: the same swap summed in another order must not count as smaller."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    first: Estimate
    """Correlation of the first metric with people."""
    second: Estimate
    difference: Estimate
    """first − second, with the test's p."""
    permutations: int
    seed: int


def permutation_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    system: ArrayLike,
    level: Literal["system", "item"] = "system",
    coefficient: Coefficient = "pearson",
    alternative: Alternative = "two-sided",
    permutations: int = 1000,
    seed: int = 0,
) -> PermutationTest:
    """``human``, ``first``, ``second``, ``system``: (n,) over the same responses, NaN where there is no score.

    ``level`` "system" correlates system means, "item" the n scores themselves (turn level; or dialogue level, given
    dialogue means). Responses that one of the three has not scored are dropped. "greater" asks whether the first
    metric is better, as the paper does; "two-sided" whether they differ. p = (1 + swaps at least as extreme) /
    (1 + swaps) (Phipson & Smyth 2010), so it is never 0. Metrics whose low scores are good must be negated before.
    """
    scores = np.array([human, first, second], dtype=np.float64)
    complete = np.isfinite(scores).all(axis=0)
    human_scores, one, other = scores[:, complete]
    systems = np.unique(np.asarray(system)[complete], return_inverse=True)[1].astype(np.int64)
    one, other = _standardised(one), _standardised(other)
    correlate = _system_correlations if level == "system" else _item_correlations
    points = [_point(human_scores, metric, systems, level, coefficient) for metric in (one, other)]
    if points[0].value is None or points[1].value is None:
        reason = next(point.reason for point in points if not point.is_defined)
        return PermutationTest(points[0], points[1], Estimate.undefined(reason), permutations, seed)
    observed = points[0].value - points[1].value
    swapped = correlate(human_scores, one, other, systems, coefficient, permutations, np.random.default_rng(seed))
    difference = _tested(observed, swapped, alternative)
    return PermutationTest(points[0], points[1], difference, permutations, seed)


def _tested(observed: float, swapped: FloatArray, alternative: Alternative) -> Estimate:
    defined = swapped[~np.isnan(swapped)]
    if len(defined) < (1.0 - MAX_UNDEFINED_SHARE) * len(swapped):
        return Estimate(value=observed, reason="too many swaps leave a constant score: no p")
    if alternative == "two-sided":
        extreme = int((np.abs(defined) >= abs(observed) - ROUNDING).sum())
    else:
        extreme = int((defined >= observed - ROUNDING).sum())
    return Estimate(value=observed, p=(1 + extreme) / (1 + len(defined)))


def _point(human: FloatArray, metric: FloatArray, system: IntArray, level: str, coefficient: Coefficient) -> Estimate:
    if level == "system":
        human, metric = _system_means(human, system), _system_means(metric, system)
    return correlation_estimates(human, metric, np.zeros(len(human), dtype=np.int64))[coefficient]


def _system_means(scores: FloatArray, system: IntArray) -> FloatArray:
    systems = int(system.max()) + 1 if len(system) else 0
    return system_sums(scores, system, np.zeros_like(system), systems, 1).means()


def _standardised(scores: FloatArray) -> FloatArray:
    """Mean 0, standard deviation 1, so that swapping scores of different scales means something."""
    spread = scores.std() if len(scores) else 0.0
    if not len(scores) or scores.min() == scores.max():
        return np.zeros_like(scores)
    standardised: FloatArray = (scores - scores.mean()) / spread
    return standardised


def _coin_tosses(n: int, permutations: int, random: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Batches (some permutations, n), true where the two scores of a response change places."""
    at_once = max(1, min(permutations, SWAPS_AT_ONCE // max(n, 1)))
    for start in range(0, permutations, at_once):
        rows = min(at_once, permutations - start)
        bits = np.frombuffer(random.bytes(rows * ((n + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=n).view(np.bool_)


def _system_correlations(
    human: FloatArray,
    one: FloatArray,
    other: FloatArray,
    system: IntArray,
    coefficient: Coefficient,
    permutations: int,
    random: np.random.Generator,
) -> FloatArray:
    """(permutations,) differences of the system-level correlations after swapping."""
    by_system = np.argsort(system, kind="stable")
    one, other, system = one[by_system], other[by_system], system[by_system]
    first_item = np.flatnonzero(np.diff(system, prepend=-1))
    size = np.bincount(system)
    means = _system_means(human[by_system], system)[None, :]
    gain = other - one
    base, sum_of_both = np.add.reduceat(one, first_item), np.add.reduceat(one + other, first_item)
    human_side = fixed_side(means)
    differences = []
    for tosses in _coin_tosses(len(one), permutations, random):
        swapped_one = base + np.add.reduceat(np.where(tosses, gain, 0.0), first_item, axis=1)
        pair = [prepared_rows(settled(total / size)) for total in (swapped_one, sum_of_both - swapped_one)]
        first, second = (correlate_rows(human_side, rows)[coefficient] for rows in pair)
        differences.append(first - second)
    return np.concatenate(differences)


def _item_correlations(
    human: FloatArray,
    one: FloatArray,
    other: FloatArray,
    system: IntArray,  # noqa: ARG001 - the items of all systems stand in one list
    coefficient: Coefficient,
    permutations: int,
    random: np.random.Generator,
) -> FloatArray:
    """(permutations,) differences of the correlations over all items after swapping."""
    correlation_with_people = _fast_correlation(human, coefficient)
    differences = [
        correlation_with_people(np.where(tossed, other, one)) - correlation_with_people(np.where(tossed, one, other))
        for tosses in _coin_tosses(len(one), permutations, random)
        for tossed in tosses
    ]
    return np.array(differences)


def _fast_correlation(human: FloatArray, coefficient: Coefficient) -> Callable[[FloatArray], float]:
    """The coefficient with the human side prepared once: one cluster drawn once is the data itself."""
    cluster, once = np.zeros(len(human), dtype=np.int64), np.ones((1, 1))
    if coefficient == "pearson":
        pearson_human = pearson_side(human, cluster, once)
        return lambda metric: float(pearson_between(pearson_human, pearson_side(metric, cluster, once))[0])
    if coefficient == "spearman":
        spearman_human = spearman_side(human, cluster, once)
        return lambda metric: float(spearman_between(spearman_human, spearman_side(metric, cluster, once))[0])
    kendall_human = kendall_side(human, cluster, once)
    return lambda metric: float(kendall_between(kendall_human, kendall_side(metric, cluster, once))[0])
