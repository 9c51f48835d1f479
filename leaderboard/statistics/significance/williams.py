"""Williams' test: do two metrics correlate differently with the same human scores?

Both correlations share the human side, so they depend on each other. Williams (1959), The
Comparison of Regression Variables; the form recommended by Steiger (1980), Tests for Comparing
Elements of a Correlation Matrix, equation 7; used for metrics since Graham & Baldwin (2014),
Testing for Significance of Increased Correlation with Human Judgment:

    t = (r₁ − r₂) · √( (n − 1)(1 + r₁₂) / (2 · (n − 1)/(n − 3) · D + r̄² · (1 − r₁₂)³) ),
    n − 3 degrees of freedom,
    D = 1 − r₁² − r₂² − r₁₂² + 2·r₁·r₂·r₁₂,  r̄ = (r₁ + r₂) / 2.

It takes the n pairs as independent draws. Turns of one dialogue and responses of one system are
not: there it rejects a true null hypothesis far too often. Use it over systems alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from common.correlation.pearson import pearson_estimate
from common.estimates import Estimate

LEAST_PAIRS = 4
"""n − 3 degrees of freedom must be positive."""
ONE_LINE = "the two metrics' scores lie on one line: there is no difference to test"


@dataclass(frozen=True, slots=True)
class WilliamsTest:
    """Result of Williams' test of two metrics' correlations with the same human scores."""

    difference: Estimate
    """r of the first metric with people minus r of the second, with the test's p; no interval."""
    t: float | None
    degrees_of_freedom: int
    between: float | None
    """r of the two metrics with each other."""


def williams_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    alternative: Literal["two-sided", "greater"] = "two-sided",
) -> WilliamsTest:
    """Williams' test of two metrics over systems, from scores.

    Args:
        human: (n,) scores of systems, NaN where there is none: such systems are left out.
        first: (n,) the first metric's scores of the same systems, as ``human``. Metrics whose low
            scores are good must be negated before.
        second: (n,) the second metric's.
        alternative: "greater" asks whether the first metric correlates better; "two-sided" whether
            they differ.

    Returns:
        Undefined, with the reason, below 4 systems, where a side is constant, where the two metrics
        differ by scale only, and where the correlations leave nothing to chance.

    The formula is Steiger's (1980), equation 7: see the module.
    """
    scores = np.array([human, first, second], dtype=np.float64)
    people, one, other = scores[:, np.isfinite(scores).all(axis=0)]
    n = len(people)
    if n < LEAST_PAIRS:
        return _undefined(
            f"Williams' test needs at least {LEAST_PAIRS} pairs of scores, there are {n}", n
        )
    first_r, second_r, between = (
        pearson_estimate(people, one),
        pearson_estimate(people, other),
        pearson_estimate(one, other),
    )
    if first_r.value is None or second_r.value is None or between.value is None:
        return _undefined(first_r.reason or second_r.reason or between.reason, n)
    return williams_of_correlations(first_r.value, second_r.value, between.value, n, alternative)


def williams_of_correlations(
    first: float,
    second: float,
    between: float,
    n: int,
    alternative: Literal["two-sided", "greater"] = "two-sided",
) -> WilliamsTest:
    """Williams' test of two dependent correlations, from the three coefficients.

    Args:
        first: r of the first metric with human scores, in [−1, 1].
        second: r of the second metric with human scores.
        between: r of the two metrics with each other.
        n: number of pairs of scores.
        alternative: as in ``williams_test``.

    Returns:
        Undefined, with the reason, with fewer than 4 pairs, where the metrics differ by scale only,
        and where the correlations leave nothing to chance.

    The formula is Steiger's (1980), equation 7: see the module.
    """
    if n < LEAST_PAIRS:
        return _undefined(
            f"Williams' test needs at least {LEAST_PAIRS} pairs of scores, there are {n}", n
        )
    if between > 1 - 1e-12:
        return _undefined(ONE_LINE, n)
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    mean = (first + second) / 2
    below = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3
    if below <= 0.0:
        return _undefined("the three correlations leave nothing to chance: there is no t", n)
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / below)
    p = 2 * float(stdtr(n - 3, -abs(t))) if alternative == "two-sided" else float(stdtr(n - 3, -t))
    return WilliamsTest(Estimate(value=first - second, p=min(p, 1.0)), t, n - 3, between)


def _undefined(reason: str, n: int) -> WilliamsTest:
    return WilliamsTest(Estimate.undefined(reason), None, max(n - 3, 0), None)
