"""How often each cluster counts in each replicate, and how replicates become an interval: bootstrap
or jackknife.

The cluster bootstrap: responses in one dialogue are not independent, so whole dialogues are
redrawn.

Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 8.6 (clusters) and 13
(percentile interval).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.correlation.identical import CONSTANT_IN_EVERY_RESAMPLE, identical_dialogues
from common.correlation.jackknife import group_of_cluster, left_out_weights, with_jackknife_interval
from common.correlation.scores import FloatArray
from common.estimates import Estimate, Undefined

IN_ONE_DIALOGUE = "a system has scores in one dialogue only"


@dataclass(frozen=True)
class Redraws:
    """``weights``: (replicates, clusters). Of a bootstrap, draws with replacement; of a jackknife,
    each cluster (or group of clusters) left out once."""

    weights: FloatArray
    is_jackknife: bool
    reason: str = ""
    """Why there can be no interval; "" where there can."""

    @classmethod
    def bootstrap(
        cls, clusters: int, resamples: int, seed: int, strata: NDArray[np.int64] | None = None
    ) -> Redraws:
        """Bootstrap resamples of clusters, drawn with replacement.

        Args:
            clusters: number of clusters, at least 1.
            resamples: number of resamples, at least 1.
            seed: the same seed gives the same resamples.
            strata: (clusters,) as in ``cluster_resamples``. A stratum of one cluster is the same in
                every resample, so that nothing shows how it varies.

        Returns:
            Redraws with (resamples, clusters) weights. With several strata, one of which has a
            single cluster, no estimate gets an interval, and ``reason`` says why.

        Raises:
            ValueError: ``clusters`` or ``resamples`` is below 1.
        """
        drawn = cluster_resamples(clusters, resamples, seed, strata).astype(np.float64)
        alone = (
            strata is not None and strata.max(initial=0) > 0 and (np.bincount(strata) == 1).any()
        )
        return cls(drawn, is_jackknife=False, reason=IN_ONE_DIALOGUE if alone else "")

    @classmethod
    def jackknife(cls, clusters: int) -> Redraws:
        """Replicates that leave out each cluster, or group of clusters, once.

        Args:
            clusters: number of clusters.

        Returns:
            Redraws with (groups, clusters) weights, as ``left_out_weights`` has them.
        """
        return cls(left_out_weights(clusters), is_jackknife=True)

    def with_interval(
        self,
        correlation: Estimate,
        replicates: FloatArray,
        used: NDArray[np.bool_],
        *,
        corrected: bool = False,
        degrees: int | None = None,
    ) -> Estimate:
        """A correlation with its 95 % interval, or with the reason why it has none.

        Args:
            correlation: the estimate from all data.
            replicates: (replicates,) the correlation in each replicate, NaN where it is undefined.
            used: (clusters,) whether the cluster holds data; the others cannot be left out.
            corrected: as in ``jackknife_interval``; a bootstrap has no such correction.
            degrees: as in ``jackknife_interval``; a bootstrap has none.

        Returns:
            ``correlation`` with the percentiles of the bootstrap, or the jackknife's t on Fisher's
            scale. Where it has a p, p is the interval's own then. No interval where ``reason`` is
            set. An undefined estimate is returned unchanged.
        """
        if self.reason and correlation.is_defined:
            return Estimate(correlation.value, p=correlation.p, reason=self.reason)
        if not self.is_jackknife:
            return with_interval(correlation, replicates, int(used.sum()))
        left_out = replicates[np.unique(group_of_cluster(len(used))[used])]
        return with_jackknife_interval(correlation, left_out, "fisher", corrected, degrees=degrees)


MAX_UNDEFINED_SHARE = 0.10
"""With more undefined replicates than this, dropping them would describe another population than
the data's."""


def cluster_resamples(
    clusters: int,
    resamples: int,
    seed: int | np.random.Generator,
    strata: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """How often each cluster is drawn in each bootstrap resample.

    A row is ``clusters`` draws with replacement, i.e. one draw of the multinomial with equal
    chances.

    Args:
        clusters: number of clusters (dialogues), at least 1.
        resamples: number of resamples, at least 1.
        seed: the same seed gives the same rows. A generator goes on: rows that are drawn in parts
            are those of its seed.
        strata: (clusters,) the stratum of each cluster, numbered from 0. Clusters are drawn within
            each stratum, as many as it has. None for one stratum.

    Returns:
        (resamples, clusters) counts; every row sums to ``clusters``.

    Raises:
        ValueError: ``clusters`` or ``resamples`` is below 1.
    """
    if clusters < 1 or resamples < 1:
        raise ValueError(
            f"need at least one cluster and one resample, got {clusters} and {resamples}"
        )
    random = np.random.default_rng(seed)
    if strata is None or strata.max(initial=0) == 0:
        return _counted_draws(clusters, resamples, random)
    counts = np.empty((resamples, clusters), dtype=np.int64)
    for stratum in range(int(strata.max()) + 1):
        members = np.flatnonzero(strata == stratum)
        counts[:, members] = _counted_draws(len(members), resamples, random)
    return counts


def _counted_draws(clusters: int, resamples: int, random: np.random.Generator) -> NDArray[np.int64]:
    # One multinomial draw asks for a binomial per cluster, which takes several times as long.
    drawn = random.integers(0, clusters, size=(resamples, clusters))
    drawn += clusters * np.arange(resamples)[:, np.newaxis]
    return np.bincount(drawn.ravel(), minlength=resamples * clusters).reshape(resamples, clusters)


def percentile_interval(
    replicates: NDArray[np.float64], level: float = 0.95
) -> tuple[float, float] | Undefined:
    """The central ``level`` of bootstrap replicates, e.g. from the 2.5th to the 97.5th percentile.

    Percentiles are interpolated linearly between order statistics (Efron & Tibshirani 1993, chapter
    13).

    Args:
        replicates: (resamples,) the statistic in each resample, NaN where it is undefined. Those
            are dropped.
        level: share of the replicates that the interval holds, between 0 and 1.

    Returns:
        (low, high); Undefined where more than 10 % of the replicates are NaN, or there are none.

    Raises:
        ValueError: ``level`` is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    defined = replicates[~np.isnan(replicates)]
    undefined_share = 1.0 - len(defined) / len(replicates) if len(replicates) else 1.0
    if undefined_share > MAX_UNDEFINED_SHARE:
        return Undefined(
            f"undefined in {undefined_share:.0%} of the resamples (at most "
            f"{MAX_UNDEFINED_SHARE:.0%})"
        )
    tail = 100.0 * (1.0 - level) / 2.0
    low, high = np.percentile(defined, [tail, 100.0 - tail])
    return float(low), float(high)


def percentile_p(replicates: NDArray[np.float64]) -> float:
    """Two-sided p-value of the hypothesis that the statistic is 0, from its bootstrap replicates.

    Twice the share of the replicates beyond 0, interpolated as ``percentile_interval`` does, so
    that with at least 20 replicates that are not NaN it is below .05 exactly where the 95 %
    interval leaves 0 out.

    Args:
        replicates: (resamples,) the statistic in each resample; NaN does not count. At least one is
            not NaN.

    Returns:
        p in [1 / (n + 1), 1], where n replicates are not NaN.

    Raises:
        ValueError: every replicate is NaN, or there are none.

    Efron & Tibshirani (1993), chapter 15.4.
    """
    ordered = np.sort(replicates[~np.isnan(replicates)])
    share = np.linspace(0.0, 1.0, len(ordered))
    at_most_zero = np.interp(0.0, ordered, share)
    at_least_zero = np.interp(0.0, -ordered[::-1], share)
    return float(np.clip(2.0 * min(at_most_zero, at_least_zero), 1.0 / (len(ordered) + 1), 1.0))


def with_interval(
    point: Estimate, replicates: NDArray[np.float64] | None, clusters_used: int
) -> Estimate:
    """The point estimate with its 95 % bootstrap interval, or with the reason why it has none.

    Args:
        point: the estimate from all data.
        replicates: (resamples,) the statistic in each resample, NaN where it is undefined; None for
            no interval.
        clusters_used: how many clusters hold data. With one, every resample is the same and would
            claim certainty; with fewer than ten they may be so by chance. Neither has an interval.

    Returns:
        ``point`` with the percentile interval and, where ``point`` has a p, the interval's own
        (``percentile_p``). Without an interval, p stays as it is. An undefined estimate is returned
        unchanged.
    """
    if not point.is_defined or replicates is None:
        return point
    if clusters_used < 2:
        return Estimate(
            value=point.value,
            p=point.p,
            reason="an interval over dialogues needs at least 2 dialogues",
        )
    interval = percentile_interval(replicates)
    if isinstance(interval, Undefined):
        return Estimate(value=point.value, p=point.p, reason=interval.reason)
    if identical_dialogues(replicates[~np.isnan(replicates)], clusters_used):
        return Estimate(value=point.value, p=point.p, reason=CONSTANT_IN_EVERY_RESAMPLE)
    return Estimate(point.value, interval, None if point.p is None else percentile_p(replicates))
