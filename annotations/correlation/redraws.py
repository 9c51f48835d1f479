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
        """``strata``: as ``cluster_resamples`` has them. A stratum of one cluster is the same in
        every draw, so that nothing tells how it varies."""
        drawn = cluster_resamples(clusters, resamples, seed, strata).astype(np.float64)
        alone = (
            strata is not None and strata.max(initial=0) > 0 and (np.bincount(strata) == 1).any()
        )
        return cls(drawn, is_jackknife=False, reason=IN_ONE_DIALOGUE if alone else "")

    @classmethod
    def jackknife(cls, clusters: int) -> Redraws:
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
        """A correlation with its 95 % interval: percentiles of the bootstrap, or the jackknife's t
        on Fisher's scale.

        ``replicates``: (replicates,); ``used``: (clusters,) those that hold data, the others cannot
        be left out. ``corrected``, ``degrees``: as ``jackknife_interval`` has them; a bootstrap has
        neither.
        """
        if self.reason and correlation.is_defined:
            return Estimate(correlation.value, p=correlation.p, reason=self.reason)
        if not self.is_jackknife:
            return with_interval(correlation, replicates, int(used.sum()))
        left_out = replicates[np.unique(group_of_cluster(len(used))[used])]
        return with_jackknife_interval(correlation, left_out, "fisher", corrected, degrees=degrees)
