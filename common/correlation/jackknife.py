"""Leaving out one cluster at a time: intervals that hold what they promise where clusters are few.

The jackknife's pseudo-values G·θ − (G − 1)·θ₍ᵢ₎ are taken as G independent draws: their standard
error with Student's t of G − 1 degrees of freedom makes the interval (Tukey 1958; Miller 1974, The
jackknife – a review, Biometrika 61). Correlations are taken on the scale of Fisher's z = artanh(r),
where their spread does not depend on their size, and brought back by tanh. Where a coefficient of
means over G clusters is to speak of the coefficient in the limit of many clusters, the interval
stands around the mean of the pseudo-values, which takes the bias of order 1/G away (Quenouille
1956). ``docs/statistics_correlation.md`` has the coverage that simulations find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from common.correlation.identical import IDENTICAL_DIALOGUES, identical_dialogues
from common.correlation.scores import FloatArray, IntArray
from common.estimates import Estimate, Undefined

Scale = Literal["plain", "bounded", "up to 1", "fisher"]
"""``bounded``: of averages of coefficients, whose interval is cut at −1 and 1, where none of them
can lie. ``up to 1``: of agreement beyond chance, which has no lower end."""

MOST_GROUPS = 400
"""With more clusters, groups of clusters of equal size are left out in place of single ones (the
delete-a-group jackknife, Kott 2001): 399 degrees of freedom are as good as endless, and the work
stays bounded."""

ONE_CLUSTER = "an interval over dialogues needs at least 2 dialogues"
UNDEFINED_WITHOUT_ONE = "the coefficient is undefined where one of the dialogues is left out"
AT_THE_END = "the coefficient is 1 or −1, at the end of its scale, where dialogues are left out"
CONSTANT_WITHOUT_ONE = "the coefficient is the same whichever dialogue is left out"
_END, ROUNDING = 1.0 - 1e-12, 1e-12


def group_of_cluster(clusters: int) -> IntArray:
    """The group that each cluster is left out with.

    Args:
        clusters: number of clusters.

    Returns:
        (clusters,) group numbers from 0; up to ``MOST_GROUPS`` clusters, each is its own group.
    """
    return np.arange(clusters, dtype=np.int64) % MOST_GROUPS


def left_out_weights(clusters: int) -> FloatArray:
    """Weights that leave out one cluster, or one group of clusters, in each replicate.

    Args:
        clusters: number of clusters; above ``MOST_GROUPS`` they are left out in groups.

    Returns:
        (groups, clusters): 0 for what is left out, 1 for all others. The form of
        ``cluster_resamples``.
    """
    group = group_of_cluster(clusters)
    return np.asarray(np.arange(min(clusters, MOST_GROUPS))[:, None] != group, dtype=np.float64)


def jackknife_interval(
    point: float,
    left_out: FloatArray,
    scale: Scale = "plain",
    corrected: bool = False,
    level: float = 0.95,
    degrees: int | None = None,
) -> tuple[float, float] | Undefined:
    """The confidence interval of a statistic from its values without each cluster.

    Args:
        point: the statistic from all clusters.
        left_out: (G,) the statistic without each cluster that holds data; NaN where undefined.
        scale: ``plain`` for any statistic; ``bounded`` cuts the interval at −1 and 1, ``up to 1``
            at 1; ``fisher`` computes it on the scale of artanh, for correlations.
        corrected: whether the interval stands around the mean of the pseudo-values, which removes
            the bias of order 1/G, rather than around ``point``.
        level: the level of confidence, between 0 and 1.
        degrees: degrees of freedom of Student's t; None for G − 1.

    Returns:
        (low, high). Undefined with fewer than 2 clusters; where the statistic is undefined without
        one of them; on Fisher's scale where it is 1 or −1; where all of ``left_out`` are the same,
        for coefficients (every scale but ``plain``), and with fewer than ten clusters for anything
        else: two dialogues that happen to agree are no certainty.

    θ ± t · se with se² = (G − 1) / G · Σ (θ₍ᵢ₎ − mean θ₍ᵢ₎)² (Tukey 1958; Miller 1974); the bias
    correction G·θ − (G − 1) · mean θ₍ᵢ₎ is Quenouille's (1956).
    """
    found = _student(point, left_out, scale, corrected, degrees)
    return found if isinstance(found, Undefined) else found.interval(scale, level)


@dataclass(frozen=True, slots=True)
class _Student:
    """The statistic on its scale as Student's t sees it."""

    centre: float
    error: float
    degrees: int

    def interval(self, scale: Scale, level: float) -> tuple[float, float]:
        reach = float(stdtrit(self.degrees, 0.5 + level / 2)) * self.error
        low, high = self.centre - reach, self.centre + reach
        if scale == "fisher":
            return float(np.tanh(low)), float(np.tanh(high))
        if scale == "plain":
            return low, high
        return (max(low, -1.0) if scale == "bounded" else low), min(high, 1.0)

    @property
    def p(self) -> float:
        """Two-sided, of the hypothesis that it is 0: below .05 exactly where the 95 % interval
        leaves 0 out."""
        return 2.0 * float(stdtr(self.degrees, -abs(self.centre) / self.error))


def _student(
    point: float, left_out: FloatArray, scale: Scale, corrected: bool, degrees: int | None
) -> _Student | Undefined:
    groups = len(left_out)
    if groups < 2:
        return Undefined(ONE_CLUSTER)
    if np.isnan(left_out).any():
        return Undefined(UNDEFINED_WITHOUT_ONE)
    if scale == "fisher":
        if abs(point) > _END or (np.abs(left_out) > _END).any():
            return Undefined(AT_THE_END)
        point, left_out = float(np.arctanh(point)), np.arctanh(left_out)
    if scale != "plain" and left_out.max() - left_out.min() < ROUNDING:
        return Undefined(CONSTANT_WITHOUT_ONE)
    if identical_dialogues(left_out, groups):
        return Undefined(IDENTICAL_DIALOGUES)
    spread = float(np.sqrt((groups - 1) / groups * np.square(left_out - left_out.mean()).sum()))
    centre = groups * point - (groups - 1) * float(left_out.mean()) if corrected else point
    return _Student(centre, spread, max(groups - 1 if degrees is None else degrees, 1))


def jackknife_intervals(
    points: FloatArray, left_out: FloatArray, starts: IntArray
) -> list[list[tuple[float, float] | Undefined]]:
    """``jackknife_interval`` at 95 % on the scale ``up to 1``, of many coefficients at once.

    Args:
        points: (n, kinds) the coefficients from all clusters.
        left_out: (clusters of all n together, kinds) the coefficients without each cluster.
        starts: (n,) the first row of ``left_out`` of each coefficient, ascending; each has at least
            one row.

    Returns:
        n rows of one interval for each kind: (low, high), or Undefined with the reason.
    """
    clusters = np.diff(starts, append=len(left_out))[:, np.newaxis]
    mean = np.add.reduceat(left_out, starts) / clusters
    squares = np.add.reduceat(np.square(left_out - np.repeat(mean, clusters[:, 0], axis=0)), starts)
    width = np.maximum.reduceat(left_out, starts) - np.minimum.reduceat(left_out, starts)
    reach = stdtrit(np.maximum(clusters - 1, 1), 0.975) * np.sqrt(
        (clusters - 1) / clusters * squares
    )
    low, high = (points - reach).tolist(), np.minimum(points + reach, 1.0).tolist()
    reasons = (
        None,
        Undefined(ONE_CLUSTER),
        Undefined(UNDEFINED_WITHOUT_ONE),
        Undefined(CONSTANT_WITHOUT_ONE),
    )
    which = np.select(
        [np.broadcast_to(clusters < 2, width.shape), np.isnan(width), width < ROUNDING], [1, 2, 3]
    )
    return [
        [
            reasons[why] or ends
            for why, ends in zip(whys, zip(lows, highs, strict=True), strict=True)
        ]
        for whys, lows, highs in zip(which.tolist(), low, high, strict=True)
    ]


def with_jackknife_interval(
    point: Estimate,
    left_out: FloatArray,
    scale: Scale = "plain",
    corrected: bool = False,
    level: float = 0.95,
    degrees: int | None = None,
) -> Estimate:
    """The point estimate with its jackknife interval, or with the reason why it has none.

    Args:
        point: the estimate from all clusters.
        left_out: (G,) as in ``jackknife_interval``.
        scale: as in ``jackknife_interval``.
        corrected: as in ``jackknife_interval``.
        level: the level of confidence, between 0 and 1.
        degrees: as in ``jackknife_interval``.

    Returns:
        ``point`` with its interval. On Fisher's scale a correlation's p, where it has one, is then
        the interval's own, so that p and interval cannot contradict each other. An undefined
        estimate is returned unchanged.
    """
    if point.value is None:
        return point
    found = _student(point.value, left_out, scale, corrected, degrees)
    if isinstance(found, Undefined):
        return Estimate(value=point.value, p=point.p, reason=found.reason)
    own_p = scale == "fisher" and point.p is not None
    return Estimate(point.value, found.interval(scale, level), found.p if own_p else point.p)
