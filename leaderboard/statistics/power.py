"""How many dialogues, or how many ratings of each response, would tell two systems apart.

Two systems are rated on the same dialogues, so what counts is how their difference varies from dialogue to dialogue.
Its variance has two parts: what differs between dialogues, and what raters and chance add, which more ratings make
smaller:

    Var(mean difference of D dialogues with k ratings an item) = (δ + ρ / k) / D,

with δ + ρ/k seen in the data and ρ from the spread of raters about an item's mean. The number of dialogues is the
smallest D for which a two-sided paired t test at the level has the power (Cohen 1988, Statistical Power Analysis for
the Behavioral Sciences, chapter 2): the noncentral t with D − 1 degrees of freedom. The number of ratings is the
smallest k that does with today's dialogues; where δ alone is too much, no number of ratings is enough.

The difference seen is taken as the true one. Where chance made it larger than it is, more are needed; so the answer is
an order of size for planning, not a promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from annotations.correlation.alike import ALIKE_BY_CHANCE, alike_by_chance
from leaderboard.statistics.placed_scores import FloatArray

POWER, LEVEL = 0.80, 0.05
MOST_DIALOGUES, MOST_RATINGS = 100_000, 1000
LEAST_DIALOGUES = 3
"""In the data: below, nothing is known of how dialogues vary."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a paired t test over dialogues would need to tell two systems apart."""

    difference: float | None
    """Mean of the first − mean of the second, over the dialogues of both."""
    dialogues: int
    """Behind it."""
    ratings: float | None
    """An item's ratings today, on average; None where it is not known."""
    dialogues_needed: int | None
    """In all, with as many ratings as today."""
    ratings_needed: int | None
    """An item, with as many dialogues as today."""
    reason: str = ""
    """Why one of the two is None."""


def needed_to_separate(
    first: FloatArray,
    second: FloatArray,
    rater_variance: float | None = None,
    ratings: float | None = None,
    power: float = POWER,
    level: float = LEVEL,
) -> Needed:
    """``first``, ``second``: (dialogues,) mean scores of the two systems, NaN where there is none: dialogues that both
    have are compared. ``rater_variance``: ρ, how much one rating an item would add to the variance of a dialogue's
    difference; ``ratings``: k, how many an item has. None where the ratings are not known one by one."""
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
    if alike_by_chance(difference, count):
        return Needed(mean, count, ratings, None, None, ALIKE_BY_CHANCE)
    dialogues_needed = dialogues_for(mean, variance, power, level)
    reasons = []
    if dialogues_needed is None:
        reasons.append(f"more than {MOST_DIALOGUES:,} dialogues")
    ratings_needed = None
    if rater_variance is None or ratings is None:
        reasons.append("ratings are not known one by one, so nothing says what more of them would bring")
    else:
        between = max(0.0, variance - rater_variance / ratings)
        ratings_needed = ratings_for(mean, between, rater_variance, count, power, level)
        if ratings_needed is None:
            reasons.append(f"no number of ratings is enough with {count} dialogues: these differ too much")
    return Needed(mean, count, ratings, dialogues_needed, ratings_needed, "; ".join(reasons))


def dialogues_for(difference: float, variance: float, power: float = POWER, level: float = LEVEL) -> int | None:
    """The smallest number of dialogues, at least 2, with the power; None above ``MOST_DIALOGUES``. ``variance``: of the
    difference in one dialogue."""
    return _smallest(lambda count: power_of(difference, variance / count, count, level) >= power, 2, MOST_DIALOGUES)


def ratings_for(
    difference: float, between: float, of_raters: float, dialogues: int, power: float = POWER, level: float = LEVEL
) -> int | None:
    """The smallest number of ratings an item with the power; ``between`` + ``of_raters`` / k is the variance of the
    difference in one dialogue."""

    def is_enough(ratings: int) -> bool:
        return power_of(difference, (between + of_raters / ratings) / dialogues, dialogues, level) >= power

    return _smallest(is_enough, 1, MOST_RATINGS)


def power_of(difference: float, variance_of_mean: float, dialogues: int, level: float = LEVEL) -> float:
    """The chance that a two-sided paired t test tells the two apart."""
    if variance_of_mean <= 0.0:
        return 1.0
    freedom = dialogues - 1
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
