"""How normal points are in each dimension: the test of Shapiro and Wilk (1965), all dimensions at
once.

W = (Σ aᵢ x₍ᵢ₎)² / Σ (xᵢ − x̄)², x₍ᵢ₎ the values in order. The weights and the p-value are Royston's
approximation (1995, Applied Statistics 44(4), algorithm AS R94), good for 3 to 5,000 values. FBD
takes its points as Gaussian; the paper (Xiang et al., 2021, Table 4) looks at this test to see how
far that holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]

FEWEST = 3
"""Values that the test needs."""
MOST = 5000
"""Values up to which p is known to be good."""
LEVEL = 0.05
"""A dimension with a smaller p is taken as not normal."""

# Polynomials of AS R94, lowest power first: of 1/√n for the two outermost weights, of n (up to 11
# values) or ln n (from 12) for the mean and the logarithm of the standard deviation of the
# transformed W.
_LAST_WEIGHT = (0.0, 0.221157, -0.147981, -2.071190, 4.434685, -2.706056)
_LAST_BUT_ONE = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
_SMALL_MEAN = (0.5440, -0.39978, 0.025054, -0.0006714)
_SMALL_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
_LARGE_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)
_LARGE_LOG_SD = (-0.4803, -0.082676, 0.0030302)
_SMALL_SHIFT = (-2.273, 0.459)


@dataclass(frozen=True, slots=True)
class Normality:
    """Of a set of points, over its dimensions."""

    points: int
    dimensions: int
    """Those that were tested."""
    constant: int
    """Dimensions without any spread, which are left out."""
    w_mean: float | None
    w_sd: float | None
    p_mean: float | None
    p_sd: float | None
    share_normal: float | None
    """Of the tested dimensions, those whose p is 0.05 or more."""
    reason: str = ""
    """Why there are no figures."""

    def as_json(self) -> dict[str, Any]:
        """The figures as a JSON object.

        Returns:
            Each field by name, ``constant`` as ``constant_dimensions``, and the test's ``level``;
            ``reason`` only where there are no figures.
        """
        document: dict[str, Any] = {
            "points": self.points,
            "dimensions": self.dimensions,
            "constant_dimensions": self.constant,
            "w_mean": self.w_mean,
            "w_sd": self.w_sd,
            "p_mean": self.p_mean,
            "p_sd": self.p_sd,
            "share_normal": self.share_normal,
            "level": LEVEL,
        }
        return {**document, "reason": self.reason} if self.reason else document


def normality(points: NDArray[np.floating]) -> Normality:
    """Test in how many dimensions the points are normally distributed.

    Args:
        points: (points, dimensions).

    Returns:
        Mean and standard deviation (over dimensions, ddof 0) of W and p, and the share of
        dimensions with p of 0.05 or more. Without figures, and with a reason, for fewer than 3
        points or where every dimension is constant.

    Raises:
        ValueError: a point is not finite.
    """
    count, dimensions = points.shape
    if not np.isfinite(points).all():
        raise ValueError("a point is not finite")
    if count < FEWEST:
        return _no_figures(
            count, 0, f"the test of Shapiro and Wilk needs {FEWEST} points, there are {count}"
        )
    varies = np.ptp(points, axis=0) > 0
    constant = dimensions - int(varies.sum())
    if constant == dimensions:
        return _no_figures(count, constant, "every dimension is constant")
    w, p = shapiro_wilk(points[:, varies])
    return Normality(
        points=count,
        dimensions=dimensions - constant,
        constant=constant,
        w_mean=float(w.mean()),
        w_sd=float(w.std()),
        p_mean=float(p.mean()),
        p_sd=float(p.std()),
        share_normal=float((p >= LEVEL).mean()),
    )


def _no_figures(points: int, constant: int, reason: str) -> Normality:
    return Normality(points, 0, constant, None, None, None, None, None, reason)


def shapiro_wilk(points: NDArray[np.floating]) -> tuple[Float64Array, Float64Array]:
    """Shapiro–Wilk test of each column.

    Args:
        points: (n, k) finite numbers, n at least 3, no constant column. p is known to be good up to
            n = 5,000.

    Returns:
        W and p, (k,) each: W above 0 and at most 1, p in [0, 1]; a small p speaks against
        normality.

    W = (Σ aᵢ x₍ᵢ₎)² / Σ (xᵢ − x̄)² (Shapiro and Wilk, 1965), with the weights and p-values of
    Royston (1995, algorithm AS R94).
    """
    values = np.sort(points.astype(np.float64), axis=0)
    values -= values.mean(axis=0)
    w: Float64Array = np.minimum(
        (_weights(len(values)) @ values) ** 2 / np.sum(values**2, axis=0), 1.0
    )
    return w, _p_values(w, len(values))


@lru_cache(maxsize=64)
def _weights(count: int) -> Float64Array:
    """Royston's aᵢ: antisymmetric, of length 1."""
    from scipy.special import ndtri

    if count == FEWEST:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    expected: Float64Array = ndtri((np.arange(1, count + 1) - 0.375) / (count + 0.25))
    length = float(expected @ expected)
    u = 1 / math.sqrt(count)
    last = expected[-1] / math.sqrt(length) + _polynomial(_LAST_WEIGHT, u)
    if count <= 5:
        rest = (length - 2 * expected[-1] ** 2) / (1 - 2 * last**2)
        weights = expected / math.sqrt(rest)
    else:
        last_but_one = expected[-2] / math.sqrt(length) + _polynomial(_LAST_BUT_ONE, u)
        rest = (length - 2 * expected[-1] ** 2 - 2 * expected[-2] ** 2) / (
            1 - 2 * last**2 - 2 * last_but_one**2
        )
        weights = expected / math.sqrt(rest)
        weights[1], weights[-2] = -last_but_one, last_but_one
    weights[0], weights[-1] = -last, last
    weights.setflags(write=False)
    return weights


def _p_values(w: Float64Array, count: int) -> Float64Array:
    from scipy.special import ndtr

    if count == FEWEST:
        exact: Float64Array = np.clip(
            6 / math.pi * (np.arcsin(np.sqrt(w)) - math.asin(math.sqrt(0.75))), 0.0, 1.0
        )
        return exact
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.log1p(-w)  # −∞ for W = 1: p is 1
        if count <= 11:
            shift = _polynomial(_SMALL_SHIFT, count)
            hopeless = away >= shift
            transformed = -np.log(np.where(hopeless, 1.0, shift - away))
            mean, log_sd = _polynomial(_SMALL_MEAN, count), _polynomial(_SMALL_LOG_SD, count)
        else:
            hopeless = np.zeros(w.shape, dtype=bool)
            transformed = away
            mean, log_sd = (
                _polynomial(_LARGE_MEAN, math.log(count)),
                _polynomial(_LARGE_LOG_SD, math.log(count)),
            )
        p: Float64Array = ndtr(-(transformed - mean) / math.exp(log_sd))
    return np.where(hopeless, 0.0, p)


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return math.fsum(coefficient * x**power for power, coefficient in enumerate(coefficients))
