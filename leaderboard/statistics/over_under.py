"""Where a metric and people disagree most: what the metric rates far higher than people do, and far
lower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.correlation.scores import settled
from common.estimates import Undefined
from leaderboard.statistics.placed_scores import FloatArray

DECIMALS = 9
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
    gaps = np.round(of_metric - of_human, DECIMALS)

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
    same = settled(scores)
    if same.max() == same.min():
        return None
    within = scores / np.abs(scores).max()  # so that no square overflows; z is the same
    return np.asarray((within - within.mean()) / within.std())
