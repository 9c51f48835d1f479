"""The permutation tests of ``permutation`` over items, for r, ρ and τ-b from the same swaps: many
swaps are ranked at once, so that a few hundred items are tested within a second."""

from __future__ import annotations

import numpy as np

from common.correlation import COEFFICIENTS
from common.correlation.resampling import MAX_UNDEFINED_SHARE
from common.estimates import Estimate
from leaderboard.statistics.permutation import ROUNDING, Swapped, standardised, toss
from leaderboard.statistics.placed_scores import FloatArray, IntArray
from leaderboard.statistics.rowwise import FixedScores, compiled_rows, correlate_rows, fixed_side

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
        name: _tested(float(observed[name][0]), np.concatenate(found[name]))
        for name in COEFFICIENTS
    }


def _differences(
    people: FixedScores, one: FloatArray, other: FloatArray, is_swapped: np.ndarray
) -> dict[str, FloatArray]:
    first = correlate_rows(people, compiled_rows(np.where(is_swapped, other, one)))
    second = correlate_rows(people, compiled_rows(np.where(is_swapped, one, other)))
    return {name: first[name] - second[name] for name in COEFFICIENTS}


def _tested(observed: float, differences: FloatArray) -> Estimate:
    if np.isnan(observed):
        return Estimate.undefined("one of the scores does not vary")
    defined = differences[~np.isnan(differences)]
    if len(defined) < (1.0 - MAX_UNDEFINED_SHARE) * len(differences):
        return Estimate(value=observed, reason="too many swaps leave a constant score: no p")
    extreme = int((np.abs(defined) >= abs(observed) - ROUNDING).sum())
    return Estimate(value=observed, p=(1 + extreme) / (1 + len(defined)))
