"""Which items make one metric's correlation with people higher than another's.

With all scores standardised over the same n items (mean 0, variance 1, divided by n), Pearson's r
of a metric with people is 1 − ½ · mean((z_metric − z_human)²). So the difference of two metrics'
correlations is a sum over items,

    r₁ − r₂ = Σᵢ ½ · ((z₂ᵢ − z_hᵢ)² − (z₁ᵢ − z_hᵢ)²) / n,

and each item has its share in it: positive where the first metric is nearer to people, negative
where the second is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.estimates import Undefined
from leaderboard.statistics.over_under import z_scores
from leaderboard.statistics.placed_scores import FloatArray

DECIMALS = 12
"""Shares closer than this are equal, and their items keep their order."""


@dataclass(frozen=True, slots=True)
class DrivingItem:
    """One item's three scores, their z-scores, and its share in r₁ − r₂."""

    item: int
    """Its place in the arrays given."""
    human: float
    first: float
    second: float
    human_z: float
    first_z: float
    second_z: float
    share: float
    """Of r₁ − r₂; all items' shares sum to it."""


@dataclass(frozen=True, slots=True)
class DrivingItems:
    """The items that contribute most to the difference of two metrics' correlations, r₁ − r₂."""

    n: int
    difference: float
    """r₁ − r₂ of Pearson."""
    first_nearer: tuple[DrivingItem, ...]
    """Where the first metric is nearer to people than the second: the largest shares first."""
    second_nearer: tuple[DrivingItem, ...]
    first_nearer_in: int
    """In how many of the n items the first metric is nearer; in the others the second, or they are
    as near."""
    second_nearer_in: int


def driving_items(
    human: FloatArray, first: FloatArray, second: FloatArray, top: int
) -> DrivingItems | Undefined:
    """The items that contribute most to the difference of two metrics' correlations, r₁ − r₂.

    Args:
        human: (n,) human scores, NaN where there is none.
        first: (n,) scores of the first metric, NaN where there is none. Negate metrics whose low
            scores are good.
        second: (n,) scores of the second metric, likewise.
        top: Most items for each of the two metrics.

    Returns:
        Items by their share in r₁ − r₂ (Pearson), over the items that have all three scores.
        Undefined with fewer than 3 of them, or where one of the three does not vary.

    Equation: with z standardised over these n items, item i's share is ½ · ((z₂ᵢ − z_hᵢ)² − (z₁ᵢ −
    z_hᵢ)²) / n.
    """
    scores = np.array([human, first, second], dtype=np.float64)
    retained = np.flatnonzero(np.isfinite(scores).all(axis=0))
    if len(retained) < 3:
        return Undefined(
            "at least 3 items with both metrics' and people's scores are needed, there are "
            f"{len(retained)}"
        )
    sides = [z_scores(one) for one in scores[:, retained]]
    for side, name in zip(
        sides,
        ("human scores", "scores of the first metric", "scores of the second metric"),
        strict=True,
    ):
        if side is None:
            return Undefined(f"all {name} are equal")
    people, one, other = (side for side in sides if side is not None)
    shares = np.round(0.5 * ((other - people) ** 2 - (one - people) ** 2) / len(retained), DECIMALS)

    def found(order: np.ndarray, sign: int) -> tuple[DrivingItem, ...]:
        return tuple(
            DrivingItem(
                item=int(retained[index]),
                human=float(scores[0, retained[index]]),
                first=float(scores[1, retained[index]]),
                second=float(scores[2, retained[index]]),
                human_z=float(people[index]),
                first_z=float(one[index]),
                second_z=float(other[index]),
                share=float(shares[index]),
            )
            for index in order[:top]
            if sign * shares[index] > 0
        )

    return DrivingItems(
        n=len(retained),
        difference=float(shares.sum()),
        first_nearer=found(np.argsort(-shares, kind="stable"), 1),
        second_nearer=found(np.argsort(shares, kind="stable"), -1),
        first_nearer_in=int((shares > 0).sum()),
        second_nearer_in=int((shares < 0).sum()),
    )
