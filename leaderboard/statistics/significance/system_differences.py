"""The difference of two systems' means with its interval and p, paired where they share dialogues,
else unpaired.

Items of one dialogue are not independent (the same context, the same raters), so the dialogue is
the cluster. Paired: the items are those that both systems have a score of; a permutation test
exchanges the two in whole dialogues, and items say who wins how often. Unpaired, where ``Design``
finds too few shared dialogues: all items of either system, Welch's t test (1947) over the dialogues
of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from common.correlation.identical import (
    IDENTICAL_DIALOGUES,
    NO_ENDS,
    agree_to_the_digit,
    identical_dialogues,
)
from common.correlation.scores import round_off
from common.estimates import Estimate, Undefined
from leaderboard.statistics.bounded import (
    UNBOUNDED,
    Bounds,
    bounds_of_difference,
    cut_to,
    interval_of_identical,
    interval_within,
)
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.design import Design

EXACT_UP_TO = 12
"""With so many dialogues or fewer all 2^G ways to change sides are counted, and nothing is
drawn."""
PERMUTATIONS = 10_000
COINS_AT_ONCE = 2_000_000
TOO_LARGE = "the scores are too large to be reckoned with"


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """``difference``: of the two means, ``first`` − ``second``, with its interval and p. ``wins``,
    ``losses``: of the first system. ``permutations``: how many ways of changing sides p rests on;
    ``is_exact``: all there are. Unpaired, no item is won or lost and nothing changes sides: these
    are 0. ``items``, ``dialogues``: behind the difference, of both systems together;
    ``first_dialogues``, ``second_dialogues``: of each."""

    difference: Estimate
    first: Estimate
    second: Estimate
    wins: int
    ties: int
    losses: int
    items: int
    dialogues: int
    first_dialogues: int
    second_dialogues: int
    permutations: int
    is_exact: bool
    is_paired: bool


def compare_systems(
    first: FloatArray,
    second: FloatArray,
    dialogue: IntArray,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    level: float = 0.95,
    bounds: Bounds = UNBOUNDED,
) -> SystemDifference:
    """Difference of two systems' mean scores, with its interval and p.

    Paired where the systems share enough dialogues (``Design.is_paired``): over the items that both
    have a score of. Else unpaired: over all items of either.

    Args:
        first: (n,) scores of the first system, NaN where there is none.
        second: (n,) scores of the second system on the same items, NaN where there is none.
        dialogue: (n,) numbers from 0.
        permutations: drawn for p, where there are more than ``EXACT_UP_TO`` dialogues.
        seed: of the permutations.
        level: confidence level, in (0, 1).
        bounds: lowest and highest possible score, None for an open end.

    Returns:
        Means and their difference, first − second, in the unit of the scores. The systems' own
        means have intervals within ``bounds`` (``interval_within``, ``interval_of_identical``). The
        difference is undefined where one of the systems has no score, or scores are too large. It
        has no interval with fewer than 2 dialogues (unpaired, of either system); where, paired, all
        dialogues have the same difference; where, unpaired, fewer than ten dialogues of a system
        have one mean, or both systems' dialogues do not vary. p is missing with fewer than 2
        dialogues, and unpaired wherever the interval is.

    Paired: the interval is the cluster-robust one, mean ± t_{G−1} · s, with s² = G / (G − 1) · Σ_g
    (Σ_{i in g} (d_i − d̄))² / n² over G dialogues (Liang & Zeger 1986; with as many items in every
    dialogue it is the paired t interval over dialogue means), cut where no difference of scores
    within ``bounds`` can lie. The test exchanges the two systems in whole dialogues (Fisher's
    randomisation test on pairs: Noreen 1989, chapter 2), two-sided on |Σ d|; p = (1 + as extreme) /
    (1 + draws) where drawn, and the share of all 2^G where counted.

    Unpaired: d̄ ± t · s, s² = Σ_g (c₁ · a_g − c₂ · b_g)², where a_g is the sum over the first
    system's items in dialogue g of (score − mean) / n₁, b_g that of the second, and c² = G / (G −
    1) for the G dialogues of each; Welch's and Satterthwaite's degrees of freedom. p is of the same
    t, so that it never contradicts the interval, which is cut as that of pairs is.
    """
    scored = np.isfinite(first), np.isfinite(second)
    shared = scored[0] & scored[1]
    places = [(np.full(int(one.sum()), number), dialogue[one]) for number, one in enumerate(scored)]
    design = Design.of(places, 2, int(dialogue.max(initial=0)) + 1)
    if not (shared.any() and design.is_paired(0, 1)) and all(one.any() for one in scored):
        return _unpaired(first, second, dialogue, level, bounds)
    unit = _unit(first[shared], second[shared])
    gap = round_off(first[shared] / unit) - round_off(second[shared] / unit)
    names, group = np.unique(dialogue[shared], return_inverse=True)
    dialogues = len(names)
    wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
    means = [_mean(side[shared] / unit, group, level, unit, bounds) for side in (first, second)]
    difference = cut_to(_mean(gap, group, level, unit), bounds_of_difference(bounds))
    tested = 0
    if difference.ci is not None or difference.reason in (IDENTICAL_DIALOGUES, NO_ENDS):
        p, tested = _sign_flip_p(
            np.bincount(group, weights=gap).astype(np.float64), permutations, seed
        )
        difference = replace(difference, p=p)
    return SystemDifference(
        difference=difference,
        first=means[0],
        second=means[1],
        wins=wins,
        ties=len(gap) - wins - losses,
        losses=losses,
        items=len(gap),
        dialogues=dialogues,
        first_dialogues=dialogues,
        second_dialogues=dialogues,
        permutations=tested,
        is_exact=dialogues <= EXACT_UP_TO,
        is_paired=True,
    )


def _unpaired(
    first: FloatArray, second: FloatArray, dialogue: IntArray, level: float, bounds: Bounds
) -> SystemDifference:
    unit = _unit(*(side[np.isfinite(side)] for side in (first, second)))
    means, strayed, dialogues, tied = [], [], [], False
    for side in (first, second):
        scored = np.isfinite(side)
        values = side[scored] / unit
        group = np.unique(dialogue[scored], return_inverse=True)[1]
        means.append(_mean(values, group, level, unit, bounds))
        dialogues.append(int(group.max()) + 1)
        tied = tied or identical_dialogues(
            np.bincount(group, weights=values) / np.bincount(group), dialogues[-1]
        )
        of_dialogue = np.bincount(
            dialogue[scored],
            weights=(values - values.mean()) / len(values),
            minlength=int(dialogue.max()) + 1,
        )
        strayed.append(of_dialogue * np.sqrt(dialogues[-1] / max(dialogues[-1] - 1, 1)))
    return SystemDifference(
        difference=cut_to(
            _welch(means, strayed, dialogues, unit, level, tied), bounds_of_difference(bounds)
        ),
        first=means[0],
        second=means[1],
        wins=0,
        ties=0,
        losses=0,
        items=int(np.isfinite(first).sum() + np.isfinite(second).sum()),
        dialogues=len(np.unique(dialogue[np.isfinite(first) | np.isfinite(second)])),
        first_dialogues=dialogues[0],
        second_dialogues=dialogues[1],
        permutations=0,
        is_exact=False,
        is_paired=False,
    )


def _welch(
    means: list[Estimate],
    strayed: list[FloatArray],
    dialogues: list[int],
    unit: float,
    level: float,
    tied: bool,
) -> Estimate:
    """``strayed``: of each system, what each dialogue's scores move its mean, in units of
    ``unit``."""
    one, other = (mean.value for mean in means)
    if one is None or other is None:
        return Estimate.undefined(TOO_LARGE)
    gap = float(round_off(np.array([one / unit]))[0] - round_off(np.array([other / unit]))[0])
    if min(dialogues) < 2:
        return Estimate(
            gap * unit,
            reason="an interval over dialogues needs at least 2 dialogues of either system",
        )
    if tied:
        return Estimate(gap * unit, reason=IDENTICAL_DIALOGUES)
    of_each = [float((side**2).sum()) for side in strayed]
    error = float(np.sqrt(((strayed[0] - strayed[1]) ** 2).sum()))
    if error <= 0.0:
        return Estimate(gap * unit, reason=NO_ENDS)
    parts = sum(
        variance**2 / (count - 1) for variance, count in zip(of_each, dialogues, strict=True)
    )
    freedom = sum(of_each) ** 2 / parts
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    low, high = (gap - half) * unit, (gap + half) * unit
    if not np.isfinite([low, high]).all():
        return Estimate(gap * unit, reason=TOO_LARGE)
    return Estimate(gap * unit, (low, high), p=float(2.0 * stdtr(freedom, -abs(gap) / error)))


def _unit(*sides: FloatArray) -> float:
    """The power of two below the largest score. In this unit no square of a difference is too large
    or too small for a number, and what is a tie does not depend on the scale of the scores."""
    largest = max(float(np.abs(side).max(initial=0.0)) for side in sides)
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def _mean(
    values: FloatArray, group: IntArray, level: float, unit: float, bounds: Bounds = UNBOUNDED
) -> Estimate:
    """``values`` in units of ``unit``; the estimate is in the scores' own."""
    n = len(values)
    if not n:
        return Estimate.undefined("no item has a score of both systems")
    mean = float(round_off(np.array([values.mean()]))[0]) * unit
    if not np.isfinite(mean):
        return Estimate.undefined(TOO_LARGE)
    groups = int(group.max()) + 1
    if groups < 2:
        return Estimate(
            mean,
            reason="an interval over dialogues needs at least 2 dialogues with scores of both "
            "systems",
        )
    of_dialogues = np.bincount(group, weights=values) / np.bincount(group)
    if identical_dialogues(of_dialogues, groups):
        return Estimate(mean, reason=IDENTICAL_DIALOGUES)
    if agree_to_the_digit(of_dialogues):
        found = interval_of_identical(mean, groups, bounds, level)
        return (
            Estimate(mean, reason=found.reason)
            if isinstance(found, Undefined)
            else Estimate(mean, found)
        )
    strayed = np.bincount(group, weights=values - values.mean())
    deviation = float(np.sqrt(groups / (groups - 1) * (strayed**2).sum())) / n
    half = float(stdtrit(groups - 1, (1 + level) / 2)) * deviation * unit
    if not np.isfinite([mean - half, mean + half]).all():
        return Estimate(mean, reason=TOO_LARGE)
    return Estimate(
        mean, interval_within(mean, (mean - half, mean + half), bounds, groups - 1, level)
    )


def _sign_flip_p(totals: FloatArray, permutations: int, seed: int) -> tuple[float, int]:
    """``totals``: (dialogues,) Σ d of each. Returns (p, permutations)."""
    dialogues = len(totals)
    # Sums in another order differ in the last bit; without this, a tie would not count as one.
    limit = abs(totals.sum()) - 1e-9 * float(np.abs(totals).sum())
    if dialogues <= EXACT_UP_TO:
        coins = (np.arange(2**dialogues)[:, np.newaxis] >> np.arange(dialogues)) & 1
        return _extreme(coins, totals, limit) / len(coins), len(coins)
    random = np.random.default_rng(seed)
    at_once = max(1, COINS_AT_ONCE // dialogues)
    extreme = sum(
        _extreme(
            random.integers(0, 2, (min(at_once, permutations - done), dialogues)), totals, limit
        )
        for done in range(0, permutations, at_once)
    )
    return (1 + extreme) / (1 + permutations), permutations


def _extreme(coins: IntArray, totals: FloatArray, limit: float) -> int:
    return int((np.abs((1.0 - 2.0 * coins) @ totals) >= limit).sum())
