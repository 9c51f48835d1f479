"""How often each cluster counts in each replicate, and how replicates become an interval: bootstrap
or jackknife."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.correlation.bootstrap import cluster_resamples, with_interval
from annotations.correlation.jackknife import (
    group_of_cluster,
    left_out_weights,
    with_jackknife_interval,
)
from annotations.correlation.scores import FloatArray
from annotations.estimates import Estimate

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
