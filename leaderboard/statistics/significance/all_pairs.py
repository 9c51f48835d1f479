"""The permutation test of every pair of metrics at once: what ``permutation_test`` finds one by
one.

All pairs see the same coins. Permutations go in blocks, and a pair that has seen enough swaps as
extreme as its own difference stops (Besag & Clifford 1991, Sequential Monte Carlo p-values): its p
is known well enough, and so the pairs that are clear get the many permutations which Holm's
correction for hundreds of pairs asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from common.correlation.pearson import pearson_estimate
from common.correlation.resampling import MAX_UNDEFINED_SHARE
from common.estimates import Estimate
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    IntArray,
    PlacedScores,
    system_sums,
)
from leaderboard.statistics.significance.permutation import (
    DECIMALS,
    ESTIMATE,
    ROUNDING,
    Coefficient,
    Coins,
    Swapped,
    standardised,
    toss,
)
from leaderboard.statistics.significance.swaps import SwappedItems, SwappedSystems

BLOCK = 1000
ENOUGH = 20
"""Swaps as extreme as the data, after which a pair stops: p is then known to about a fifth of
itself."""


@dataclass(frozen=True)
class PairTests:
    """One coefficient at one level. Pairs (i, j) with i < j in the order of
    ``numpy.triu_indices``."""

    alone: tuple[Estimate, ...]
    """Every metric's coefficient on all of its own scores; with the reason where it has none."""
    difference: FloatArray
    """(pairs,): coefficient of i − coefficient of j, on what both scored; NaN where one is
    undefined."""
    p: FloatArray
    """(pairs,) two-sided; NaN where there is none."""
    permutations: IntArray
    """(pairs,) how many the pair has seen; 0 where p comes from no permutation."""


@dataclass
class _Tally:
    """What is found, while it is being found."""

    metrics: int
    difference: FloatArray = field(init=False)
    p: FloatArray = field(init=False)
    permutations: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.difference, self.p = np.full((2, self.metrics, self.metrics), np.nan)
        self.permutations = np.zeros((self.metrics, self.metrics), dtype=np.int64)

    def tests(self, alone: Sequence[Estimate]) -> PairTests:
        upper = np.triu_indices(self.metrics, 1)
        return PairTests(
            tuple(alone), self.difference[upper], self.p[upper], self.permutations[upper]
        )


Differences = Callable[[Coins, IntArray, IntArray], Sequence[FloatArray]]
"""For some permutations and pairs of metrics: (permutations, pairs) for every coefficient that is
made together."""


def all_pairs_of_items(
    human: ArrayLike,
    metrics: ArrayLike,
    system: ArrayLike,
    dialogue: ArrayLike,
    permutations: int = 1000,
    seed: int = 0,
    swapped: Swapped = "both",
) -> PairTests:
    """Permutation tests of Pearson's r over items, for every pair of metrics.

    Items are responses, or dialogues of a system. Two metrics are compared on the items that both
    scored and that have a human score. Ranks of all items would have to be recomputed for every
    swap and pair: use ``permutation_test`` for the few pairs whose ρ or τ-b matters.

    Args:
        human: (n,) human scores, NaN where there is none.
        metrics: (m, n) metric scores, NaN where there is none.
        system: (n,) system numbers.
        dialogue: (n,) dialogue numbers.
        permutations: Most permutations of a pair; a pair with ``ENOUGH`` extreme swaps stops
            earlier.
        seed: The same seed gives the same p.
        swapped: What is swapped whole: systems, dialogues, or both.

    Returns:
        Tests of the m(m − 1)/2 pairs. Difference and p are NaN where one of the two coefficients is
        undefined (fewer than 3 common items, or a constant side); p also where more than 10 % of
        the swaps leave a constant score.
    """
    people, scores = (
        np.asarray(human, dtype=np.float64),
        np.atleast_2d(np.asarray(metrics, dtype=np.float64)),
    )
    rated = np.isfinite(people)
    indices = [np.asarray(numbers, dtype=np.int64) for numbers in (system, dialogue)]
    scored = np.isfinite(scores) & rated
    alone = [
        pearson_estimate(people[both], row[both]) for row, both in zip(scores, scored, strict=True)
    ]
    tally = _Tally(len(scores))
    for first, second, both in tied_pairs(scored, alone):
        numbers = [np.unique(one[both], return_inverse=True)[1].astype(np.int64) for one in indices]
        used = np.union1d(first, second)
        on_common = [standardised(scores[row][both]) for row in used]
        points = np.array(
            [pearson_estimate(people[both], row).value for row in on_common], dtype=np.float64
        )
        if not np.isfinite(points).any():
            continue
        swaps = SwappedItems(people[both], np.array(on_common), *numbers)
        coins = toss(swaps.systems, swaps.dialogues, permutations, seed, swapped)
        at = (np.searchsorted(used, first), np.searchsorted(used, second))
        _test([tally], [points], (first, second), at, _of_items(swaps), coins)
    return tally.tests(alone)


def all_pairs_of_systems(
    human: PlacedScores,
    metrics: PlacedScores,
    systems: int,
    system_scores: ArrayLike | None = None,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    permutations: int = 1000,
    seed: int = 0,
    swapped: Swapped = "both",
) -> dict[Coefficient, PairTests]:
    """Permutation tests of the r, ρ and τ-b of system means, for every pair of metrics.

    Two metrics are compared by their means over the responses that both scored, with or without a
    human score.

    Args:
        human: One list of item scores.
        metrics: m lists of item scores, with the same numbering of systems and dialogues.
        systems: Number of systems.
        system_scores: (m', systems) scores of metrics that exist per system only, NaN where
            undefined; they follow the m metrics. None: no such metrics.
        coefficients: Which coefficients to test.
        permutations: Most permutations of a pair; a pair with ``ENOUGH`` extreme swaps stops
            earlier.
        seed: The same seed gives the same p.
        swapped: What is swapped whole: systems, dialogues, or both. Where one of two metrics has
            scores of systems only, both are swapped as whole systems (PERM-SYS), and under
            "dialogues" they are not tested.

    Returns:
        Tests of the pairs of all m + m' metrics, by coefficient. Difference and p are NaN where a
        pair is not tested or one of its coefficients is undefined (fewer than 3 common systems, or
        a constant side); p also where more than 10 % of the swaps leave a constant score.
    """
    dialogues = np.unique(np.concatenate((human.dialogue, metrics.dialogue)))
    dialogue = np.searchsorted(dialogues, metrics.dialogue)
    people = system_sums(
        human.scores[0],
        human.system,
        np.searchsorted(dialogues, human.dialogue),
        systems,
        len(dialogues),
    ).means()
    fixed = (
        np.empty((0, systems))
        if system_scores is None
        else np.atleast_2d(np.asarray(system_scores, np.float64))
    )
    scored = np.isfinite(metrics.scores) & np.isfinite(people)[metrics.system]
    count = len(metrics.scores) + len(fixed)
    means = np.concatenate(
        [
            means_of(row, both, metrics.system, systems)
            for row, both in zip(metrics.scores, scored, strict=True)
        ]
        + [np.where(np.isfinite(row) & np.isfinite(people), row, np.nan)[None] for row in fixed]
        + [np.empty((0, systems))]
    )
    alone = [correlation_of_means(people, row, coefficients) for row in means]
    tallies = {name: _Tally(count) for name in coefficients}

    def compare(first: IntArray, second: IntArray, swaps: _Means, how: Swapped) -> None:
        used = np.union1d(first, second)
        at = (np.searchsorted(used, first), np.searchsorted(used, second))
        coins = toss(swaps.of.systems, swaps.of.dialogues, permutations, seed, how)
        points = [correlation_of_means(swaps.people, row, coefficients) for row in swaps.means]
        for names in (["pearson"], ["spearman", "kendall"]):
            wanted: list[Coefficient] = [name for name in coefficients if name in names]
            if not wanted:
                continue
            values = [
                np.array([point[name].value for point in points], dtype=np.float64)
                for name in wanted
            ]
            found = [tallies[name] for name in wanted]
            _test(found, values, (first, second), at, _differences(swaps.of, wanted), coins)

    defined = [estimates[coefficients[0]] for estimates in alone]
    for first, second, both in tied_pairs(scored, defined[: len(metrics.scores)]):
        used = np.union1d(first, second)
        swaps = _swapped_means(metrics.scores[used], both, metrics.system, dialogue, people)
        if swaps is not None:
            compare(first, second, swaps, swapped)
    if swapped != "dialogues" and len(fixed):
        there = np.isfinite(means)
        for first, second, both in tied_pairs(there, defined):
            with_fixed = (first >= len(metrics.scores)) | (second >= len(metrics.scores))
            used = np.union1d(first[with_fixed], second[with_fixed])
            if len(used) and both.sum() > 2:
                swaps = _swapped_means(
                    means[used], both, np.arange(systems), np.zeros(systems, dtype=np.int64), people
                )
                if swaps is not None:
                    compare(first[with_fixed], second[with_fixed], swaps, "systems")
    return {name: tallies[name].tests([one[name] for one in alone]) for name in coefficients}


def correlation_of_means(
    people: FloatArray,
    means: FloatArray,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
) -> dict[Coefficient, Estimate]:
    """Correlations of system means, over the systems that have both.

    Args:
        people: (systems,) mean human scores, NaN where there is none.
        means: (systems,) mean scores of one metric, NaN where there is none.
        coefficients: Which coefficients to compute.

    Returns:
        Each coefficient in [-1, 1] with its two-sided p, without an interval; undefined with fewer
        than 3 systems or where a side is constant.
    """
    both = np.isfinite(people) & np.isfinite(means)
    return {name: ESTIMATE[name](people[both], means[both]) for name in coefficients}


def means_of(
    scores: FloatArray, both: NDArray[np.bool_], system: IntArray, systems: int
) -> FloatArray:
    """System means of one metric over some of its responses.

    Args:
        scores: (n,) scores; NaN is left out.
        both: (n,) which responses count, e.g. those that both metrics of a pair scored.
        system: (n,) system numbers from 0.
        systems: Number of systems.

    Returns:
        (1, systems) means; NaN where none of a system's responses counts.
    """
    return system_sums(
        scores[both], system[both], np.zeros(int(both.sum()), np.int64), systems, 1
    ).means()[None]


@dataclass(frozen=True)
class _Means:
    people: FloatArray
    means: FloatArray
    of: SwappedSystems


def _swapped_means(
    scores: FloatArray,
    both: NDArray[np.bool_],
    system: IntArray,
    dialogue: IntArray,
    people: FloatArray,
) -> _Means | None:
    """``scores``: (m, n). None where there are fewer than 3 systems to correlate."""
    retained, of_system = np.unique(system[both], return_inverse=True)
    if len(retained) < 3:
        return None
    present, of_dialogue = np.unique(dialogue[both], return_inverse=True)
    rows = [standardised(row[both], of_system) for row in scores]
    sums = [system_sums(row, of_system, of_dialogue, len(retained), len(present)) for row in rows]
    means = np.round(np.array([one.means() for one in sums]), DECIMALS)
    total, size = np.array([one.total for one in sums]), sums[0].count.sum(axis=1)
    return _Means(people[retained], means, SwappedSystems(people[retained], total, size))


def _of_items(of: SwappedItems) -> Differences:
    return lambda coins, first, second: [of.differences(coins, first, second)]


def _differences(of: SwappedSystems, wanted: Sequence[Coefficient]) -> Differences:
    if "pearson" in wanted:
        return lambda coins, first, second: [of.pearson(coins, first, second)]
    indices = [0 if name == "spearman" else 1 for name in wanted]

    def ranked(coins: Coins, first: IntArray, second: IntArray) -> Sequence[FloatArray]:
        found = of.ranks(coins, first, second)
        return [found[index] for index in indices]

    return ranked


def tied_pairs(
    scored: NDArray[np.bool_], alone: Sequence[Estimate]
) -> list[tuple[IntArray, IntArray, NDArray[np.bool_]]]:
    """Pairs of metrics that have a coefficient, grouped by what both metrics scored.

    Args:
        scored: (m, n) whether each metric scored each response (or system).
        alone: m coefficients, each on all of the metric's own scores. Metrics without one are left
            out.

    Returns:
        One (first, second, both) per group: (pairs,) and (pairs,) rows, first < second, and (n,)
        what both metrics of every pair in the group scored.
    """
    rows: dict[bytes, list[int]] = {}
    for row, (places, estimate) in enumerate(zip(scored, alone, strict=True)):
        if estimate.is_defined:
            rows.setdefault(places.tobytes(), []).append(row)
    groups = []
    for one, other in combinations_with_replacement(list(rows.values()), 2):
        pairs = np.array(
            [(min(i, j), max(i, j)) for i in one for j in other if one is not other or i < j]
        )
        if len(pairs):
            groups.append((pairs[:, 0], pairs[:, 1], scored[one[0]] & scored[other[0]]))
    return groups


def _test(
    tallies: Sequence[_Tally],
    points: Sequence[FloatArray],
    pairs: tuple[IntArray, IntArray],
    at: tuple[IntArray, IntArray],
    differences: Differences,
    coins: Coins,
) -> None:
    """Fills in the tallies. ``points``: each metric's coefficient, for every tally; ``at``: where
    the metrics of ``pairs`` stand there."""
    observed = np.array([values[at[0]] - values[at[1]] for values in points])
    extreme, defined = np.zeros((2, *observed.shape))
    seen = np.zeros(observed.shape, dtype=np.int64)
    permutations = len(coins.systems)
    for start in range(0, permutations, BLOCK):
        running = np.isfinite(observed) & (extreme < ENOUGH)
        now = np.flatnonzero(running.any(axis=0))
        if not len(now):
            break
        part = slice(start, start + BLOCK)
        block = Coins(coins.systems[part], coins.dialogues[part])
        for row, found in enumerate(differences(block, at[0][now], at[1][now])):
            counted = running[row, now]
            is_extreme = np.abs(found) >= np.abs(observed[row, now]) - ROUNDING
            extreme[row, now] += np.where(counted, is_extreme.sum(axis=0), 0)
            defined[row, now] += np.where(counted, (~np.isnan(found)).sum(axis=0), 0)
            seen[row, now] += np.where(counted, len(found), 0)
    enough = defined >= (1.0 - MAX_UNDEFINED_SHARE) * np.maximum(seen, 1)
    p = np.where(enough & np.isfinite(observed), (1 + extreme) / (1 + defined), np.nan)
    for tally, differ, value, count in zip(tallies, observed, p, seen, strict=True):
        tally.difference[pairs], tally.p[pairs], tally.permutations[pairs] = differ, value, count
