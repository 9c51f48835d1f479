"""How many dialogues, or how many ratings of each response, would tell two systems apart.

Where two systems are rated on the same dialogues, what counts is how their difference varies from
dialogue to dialogue. Its variance has two parts: what differs between dialogues, and what raters
and chance add, which more ratings make smaller:

    Var(mean difference of D dialogues with k ratings an item) = (δ + ρ / k) / D,

with δ + ρ/k seen in the data and ρ from the spread of raters about an item's mean. The number of
dialogues is the smallest D for which a two-sided paired t test at the level has the power (Cohen
1988, Statistical Power Analysis for the Behavioral Sciences, chapter 2): the noncentral t with D −
1 degrees of freedom. The number of ratings is the smallest k that does with today's dialogues;
where δ alone is too much, no number of ratings is enough.

Where each system has dialogues of its own (``Design``), δ + ρ/k is the sum of both systems'
variances over dialogues, D counts the dialogues of each, and the test is Welch's: its degrees of
freedom are (D − 1)(v₁ + v₂)² / (v₁² + v₂²).

The difference seen is taken as the true one. Where chance made it larger than it is, more are
needed; so the answer is an order of size for planning, not a promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from common.correlation.identical import agree_to_the_digit, why_no_spread
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.design import Design

POWER, LEVEL = 0.80, 0.05
MOST_DIALOGUES, MOST_RATINGS = 100_000, 1000
LEAST_DIALOGUES = 3
"""In the data: below, nothing is known of how dialogues vary."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a t test over dialogues, paired or not, would need to tell two systems apart."""

    difference: float | None
    """Mean of the first − mean of the second, over the dialogues of both; unpaired, over those of
    each."""
    dialogues: int
    """Behind it; unpaired, so many of each system would say as much as today's."""
    ratings: float | None
    """An item's ratings today, on average; None where it is not known."""
    dialogues_needed: int | None
    """In all, with as many ratings as today."""
    ratings_needed: int | None
    """An item, with as many dialogues as today."""
    reason: str = ""
    """Why one of the two is None."""
    is_paired: bool = True


def needed_to_separate(
    first: FloatArray,
    second: FloatArray,
    rater_variance: float | None = None,
    ratings: float | None = None,
    power: float = POWER,
    level: float = LEVEL,
) -> Needed:
    """Dialogues, or ratings per response, needed to separate two systems.

    Dialogues that both systems have are compared (paired t test); where they share too few
    (``Design.is_paired``), those of each (Welch's t test). The observed difference is taken as the
    true one.

    Args:
        first: (dialogues,) mean scores of the first system, NaN where there is none.
        second: (dialogues,) the same of the second system.
        rater_variance: ρ, how much one rating per item would add to the variance of a dialogue's
            difference; None where single ratings are not known.
        ratings: k, ratings per item today; None where single ratings are not known.
        power: probability of a significant result, in (0, 1).
        level: significance level of the two-sided test, in (0, 1).

    Returns:
        ``dialogues_needed`` is None, with a reason, with fewer than 3 dialogues (of both, or
        unpaired of each), where the means are equal, where the dialogues do not vary, and above
        100,000; ``ratings_needed`` also where single ratings are not known, or no number up to 1000
        is enough.
    """
    design = Design(np.isfinite(np.stack((first, second))))
    if design.present.any(axis=1).all() and not design.is_paired(0, 1):
        sides = [row[there] for row, there in zip((first, second), design.present, strict=True)]
        return _unpaired(sides, rater_variance, ratings, power, level)
    difference = (first - second)[np.isfinite(first) & np.isfinite(second)]
    count = len(difference)
    if count < LEAST_DIALOGUES:
        return Needed(
            float(difference.mean()) if count else None,
            count,
            ratings,
            None,
            None,
            f"at least {LEAST_DIALOGUES} dialogues with both systems are needed, there are {count}",
        )
    mean, variance = float(difference.mean()), float(difference.var(ddof=1))
    if abs(mean) < 1e-12:
        return Needed(mean, count, ratings, None, None, "the two systems have the same mean")
    if agree_to_the_digit(difference):
        return Needed(mean, count, ratings, None, None, why_no_spread(count))
    return _needed(mean, variance, count, rater_variance, ratings, power, level)


def _unpaired(
    sides: list[FloatArray],
    rater_variance: float | None,
    ratings: float | None,
    power: float,
    level: float,
) -> Needed:
    """``sides``: (dialogues,) of each system, without NaN."""
    mean = float(sides[0].mean() - sides[1].mean())
    fewest = min(len(side) for side in sides)
    if fewest < LEAST_DIALOGUES:
        reason = f"at least {LEAST_DIALOGUES} dialogues of each system are needed, one has {fewest}"
        return Needed(mean, fewest, ratings, None, None, reason, is_paired=False)
    if abs(mean) < 1e-12:
        return Needed(
            mean, fewest, ratings, None, None, "the two systems have the same mean", is_paired=False
        )
    if identical := [len(side) for side in sides if agree_to_the_digit(side)]:
        return Needed(
            mean, fewest, ratings, None, None, why_no_spread(min(identical)), is_paired=False
        )
    variances = [float(side.var(ddof=1)) for side in sides]
    total = sum(variances)
    # So many dialogues of each would leave the variance that today's leave.
    today = total / sum(
        variance / len(side) for variance, side in zip(variances, sides, strict=True)
    )
    spread = total**2 / sum(variance**2 for variance in variances)
    found = _needed(
        mean, total, max(2, round(today)), rater_variance, ratings, power, level, spread
    )
    return replace(found, is_paired=False)


def _needed(
    mean: float,
    variance: float,
    count: int,
    rater_variance: float | None,
    ratings: float | None,
    power: float,
    level: float,
    spread: float = 1.0,
) -> Needed:
    dialogues_needed = dialogues_for(mean, variance, power, level, spread)
    reasons = []
    if dialogues_needed is None:
        reasons.append(f"more than {MOST_DIALOGUES:,} dialogues")
    ratings_needed = None
    if rater_variance is None or ratings is None:
        reasons.append(
            "ratings are not known one by one, so nothing says what more of them would bring"
        )
    else:
        between = max(0.0, variance - rater_variance / ratings)
        ratings_needed = ratings_for(mean, between, rater_variance, count, power, level, spread)
        if ratings_needed is None:
            reasons.append(
                f"no number of ratings is enough with {count} dialogues: these differ too much"
            )
    return Needed(mean, count, ratings, dialogues_needed, ratings_needed, "; ".join(reasons))


def dialogues_for(
    difference: float,
    variance: float,
    power: float = POWER,
    level: float = LEVEL,
    spread: float = 1.0,
) -> int | None:
    """Smallest number of dialogues with which a two-sided t test has the power.

    Args:
        difference: of the two systems' means.
        variance: of the difference in one dialogue; unpaired, the sum of both systems' variances
            over dialogues.
        power: target, in (0, 1).
        level: significance level, in (0, 1).
        spread: see ``power_of``.

    Returns:
        At least 2; None above ``MOST_DIALOGUES``.
    """
    return _smallest(
        lambda count: power_of(difference, variance / count, count, level, spread) >= power,
        2,
        MOST_DIALOGUES,
    )


def ratings_for(
    difference: float,
    between: float,
    of_raters: float,
    dialogues: int,
    power: float = POWER,
    level: float = LEVEL,
    spread: float = 1.0,
) -> int | None:
    """Smallest number of ratings per item with which a two-sided t test has the power.

    The variance of the difference in one dialogue with k ratings per item is ``between`` +
    ``of_raters`` / k.

    Args:
        difference: of the two systems' means.
        between: the part of that variance that more ratings do not reduce.
        of_raters: the part that one rating per item would add.
        dialogues: how many there are.
        power: target, in (0, 1).
        level: significance level, in (0, 1).
        spread: see ``power_of``.

    Returns:
        At least 1; None above ``MOST_RATINGS``.
    """

    def is_enough(ratings: int) -> bool:
        variance = (between + of_raters / ratings) / dialogues
        return power_of(difference, variance, dialogues, level, spread) >= power

    return _smallest(is_enough, 1, MOST_RATINGS)


def power_of(
    difference: float,
    variance_of_mean: float,
    dialogues: int,
    level: float = LEVEL,
    spread: float = 1.0,
) -> float:
    """Power of a two-sided t test: the probability of a significant difference of two systems.

    Args:
        difference: the true difference of the means.
        variance_of_mean: variance of the observed mean difference.
        dialogues: at least 2; unpaired, those of each system.
        level: significance level, in (0, 1).
        spread: factor by which dialogues − 1 is multiplied for the degrees of freedom: 1 where the
            test is paired, up to 2 in Welch's.

    Returns:
        In [0, 1], from the noncentral t distribution (Cohen 1988, chapter 2), counting results in
        the direction of the difference only; 1 where ``variance_of_mean`` is 0 or less.
    """
    if variance_of_mean <= 0.0:
        return 1.0
    freedom = spread * (dialogues - 1)
    bound = float(stdtrit(freedom, 1 - level / 2))
    shift = abs(difference) / math.sqrt(variance_of_mean)
    if shift > 1e3:
        return 1.0
    from scipy import stats  # takes a second to load: who computes no power does without

    upper = float(stats.nct.sf(bound, freedom, shift))
    return upper if math.isfinite(upper) else float(stats.norm.sf(bound - shift))


def _smallest(is_enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """By halving: enough stays enough."""
    if not is_enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low
