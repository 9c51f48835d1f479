"""To which system the next rating goes, and when enough is known. Pure; the reasons:
docs/statistics_allocation.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotations.campaigns.plan.evidence import LOOKS, Numbers, Standing

Target = Literal["none", "pairs", "width"]

FLOOR = 0.2
"""This share of the draws is spread evenly over all systems: none is ever given up, and no
probability comes near 0."""

NO_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Reached:
    """What a look found, of the pairs and intervals that a target is about."""

    pairs: int
    separated: int
    widest: float | None
    """Of the systems' intervals, from end to end; None while some system is not known."""

    def meets(self, target: Target, value: float | None) -> bool:
        """``value``: of pairs a percentage; of the width, points of the scale."""
        if target == "none" or value is None:
            return False
        if target == "pairs":
            return self.pairs > 0 and self.separated >= self.pairs * value / 100 - 1e-9
        return self.widest is not None and self.widest <= value


def interim_analyses_due(done: int, wanted: int) -> int:
    """How many looks ``done`` of ``wanted`` ratings have brought: one for each twentieth."""
    return min(LOOKS * done // wanted, LOOKS) if wanted > 0 else 0


def reached(standing: Standing) -> Reached:
    systems = standing.known.size
    pairs = systems * (systems - 1) // 2
    width = 2 * standing.half_width
    widest = float(width.max()) if systems and standing.known.all() else None
    return Reached(pairs, int(standing.separated().sum()) // 2, widest)


def allocation_weights(
    standing: Standing,
    to_come: float,
    target: Target = "none",
    value: float | None = None,
    floor: float = FLOOR,
) -> Numbers:
    """The probability with which each system is drawn next: (1 − floor) × its part + floor /
    systems.

    Let one more rating of s lower what is uncertain by A_s / n_s²; unit_s is the variance that one
    rating leaves.

    * For the order (no target, or all pairs told apart), uncertain is the number of misordered
      pairs, Σ Φ(−z), and A_s = unit_s Σ_t φ(z) z / (2 Var(s − t)), z² = 1 + difference² / Var: what
      differs by 0 by chance is not taken for equal. Σ A_s / n_s is least for n_s ∝ √A_s (Neyman):
      the part of s is what it lacks to that, of all ratings that there will be when the ``to_come``
      next ones are there.
    * For some of the pairs it is the number of pairs that a look tells apart, Σ Φ(z − c), c the
      look's critical value and z = |difference| / √Var; A_s likewise, and the part of s is A_s /
      n_s²: the pairs that are nearly there come first, those that never will be do not count.
    * For intervals of a width n_s ∝ unit_s makes them equally wide; the part of s is what it lacks
      to that.

    While a system is not known yet, those that have the fewest ratings come first.
    """
    systems = standing.known.size
    if systems == 0:
        return np.empty(0)
    even = np.full(systems, 1 / systems)
    if standing.known.all() and target == "pairs" and value is not None and value < 100:
        part = _unit(standing) * _separation_slope(standing) / standing.count**2
    else:
        split = even
        if standing.known.all():
            unit = _unit(standing)
            gain = unit if target == "width" else np.sqrt(unit * _misorder_slope(standing))
            split = _shares(gain, even)
        part = np.maximum(split * (standing.count.sum() + max(to_come, 1.0)) - standing.count, 0.0)
    # Where all scores of all systems are equal nothing is uncertain, and no split is better than
    # another.
    weights: Numbers = (1 - floor) * _shares(part, even) + floor * even
    return weights


def _shares(parts: Numbers, otherwise: Numbers) -> Numbers:
    total = float(parts.sum())
    return parts / total if math.isfinite(total) and total > 0 else otherwise


def _unit(standing: Standing) -> Numbers:
    return np.maximum(np.nan_to_num(standing.unit), 0.0)


def _misorder_slope(standing: Standing) -> Numbers:
    variance = standing.variance_of_differences()
    difference = standing.mean[:, None] - standing.mean[None, :]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.sqrt(1 + difference**2 / variance)
        return _summed(_normal_density(z) * z / (2 * variance), variance)


def _separation_slope(standing: Standing) -> Numbers:
    variance = standing.variance_of_differences()
    difference, reach = standing.differences()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z, critical = np.abs(difference) / np.sqrt(variance), reach / np.sqrt(variance)
        return _summed(_normal_density(z - critical) * z / (2 * variance), variance)


def _summed(slope: Numbers, variance: Numbers) -> Numbers:
    """Over the pairs of each system. Two that got the same scores throughout are no pair: nothing
    can be learned."""
    slope = np.where(np.isfinite(slope) & (variance > NO_VARIANCE), slope, 0.0)
    np.fill_diagonal(slope, 0.0)
    summed: Numbers = slope.sum(axis=1)
    return summed


def _normal_density(z: Numbers) -> Numbers:
    density: Numbers = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return density


def ratings_left(
    standing: Standing, done: int, wanted: int, target: Target, value: float | None
) -> int | None:
    """How many more ratings the target takes if differences and variances stay as they are; None
    where that is more than the campaign has, or cannot be told yet.

    Half widths shrink as 1/√n: a pair needs (half width / difference)² times the ratings that it
    has.
    """
    if (
        target == "none"
        or value is None
        or not standing.known.all()
        or done <= 0
        or standing.known.size < 2
    ):
        return None
    if target == "width":
        times = (2 * float(standing.half_width.max()) / value) ** 2
    else:
        difference, reach = standing.differences()
        above = np.triu_indices(standing.known.size, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.nan_to_num((reach / np.abs(difference)) ** 2, nan=np.inf, posinf=np.inf)[
                above
            ]
        place = max(math.ceil(needed.size * value / 100 - 1e-9), 1) - 1
        times = float(np.sort(needed)[place])
    if times * done > wanted:
        return None
    return max(math.ceil(done * times) - done, 0)
