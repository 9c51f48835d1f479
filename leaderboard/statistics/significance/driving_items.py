"""Which items make one metric's correlation with people higher than another's.

With all scores standardised over the same n items (mean 0, variance 1, divided by n), Pearson's r
of a metric with people is 1 − ½ · mean((z_metric − z_human)²). So the difference of two metrics'
correlations is a sum over items,

    r₁ − r₂ = Σᵢ ½ · ((z₂ᵢ − z_hᵢ)² − (z₁ᵢ − z_hᵢ)²) / n,

and each item has its share in it: positive where the first metric is nearer to people, negative
where the second is.

``widest_gaps`` are where one metric and people differ most: what the metric rates far higher than
people do, and far lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.correlation.scores import round_off
from common.estimates import Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray

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


GAP_DECIMALS = 9
"""Gaps that differ less than this are equal: z-scores of the same ranks differ in their last
bits."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One item whose two scores lie apart. The z-scores are in standard deviations from the mean of
    their own side."""

    item: int
    """Its place in the lists that were compared."""
    metric: float
    human: float
    metric_z: float
    """Turned round for a metric of which lower is better: a higher z is always a better
    judgement."""
    human_z: float

    @property
    def gap(self) -> float:
        """Above 0 where the metric rates the item higher than people do."""
        return self.metric_z - self.human_z


@dataclass(frozen=True, slots=True)
class OverUnder:
    """The items that a metric over- and under-rates most, compared with the human scores."""

    n: int
    """Items with both scores: the means and the deviations are of these."""
    over: tuple[Gap, ...]
    """Rated higher by the metric than by people, the widest gap first."""
    under: tuple[Gap, ...]


def widest_gaps(
    metric: FloatArray, human: FloatArray, *, higher_is_better: bool, top: int
) -> OverUnder | Undefined:
    """The items that the metric over- and under-rates most, by z(metric) − z(human).

    Args:
        metric: (n,) metric scores, NaN where there is none.
        human: (n,) human scores of the same items in the same order, NaN where there is none.
        higher_is_better: Whether high metric scores are good; if not, the metric's z is negated.
        top: Most items on each of the two lists.

    Returns:
        The widest gaps; of equal gaps the first item comes first. z is taken over the items with
        both scores, with the standard deviation of these items as a whole (divided by n). Undefined
        with fewer than 2 such items, or where a side has no spread: then no item lies above
        another.
    """
    both = np.flatnonzero(np.isfinite(metric) & np.isfinite(human))
    if len(both) < 2:
        return Undefined("fewer than two items have both a human score and a score of the metric")
    of_metric, of_human = z_scores(metric[both]), z_scores(human[both])
    if of_human is None:
        return Undefined("all human scores are equal")
    if of_metric is None:
        return Undefined("all scores of the metric are equal")
    if not higher_is_better:
        of_metric = -of_metric
    gaps = np.round(of_metric - of_human, GAP_DECIMALS)

    def found(order: np.ndarray, sign: int) -> tuple[Gap, ...]:
        indices = [index for index in order[:top] if sign * gaps[index] > 0]
        return tuple(
            Gap(
                item=int(both[index]),
                metric=float(metric[both[index]]),
                human=float(human[both[index]]),
                metric_z=float(of_metric[index]),
                human_z=float(of_human[index]),
            )
            for index in indices
        )

    return OverUnder(
        n=len(both),
        over=found(np.argsort(-gaps, kind="stable"), 1),
        under=found(np.argsort(gaps, kind="stable"), -1),
    )


def z_scores(scores: FloatArray) -> FloatArray | None:
    """Standardised scores, (x − mean) / standard deviation.

    Args:
        scores: (n,) finite scores, at least one.

    Returns:
        (n,) with mean 0 and standard deviation 1 (divided by n); None where all scores are equal,
        but for what rounding left of them.
    """
    same = round_off(scores)
    if same.max() == same.min():
        return None
    within = scores / np.abs(scores).max()  # so that no square overflows; z is the same
    return np.asarray((within - within.mean()) / within.std())
