"""Intervals of agreement: dialogues are left out one at a time, because ratings of one dialogue are
not independent.

Not the bootstrap: a drawn dialogue stands twice in a resample, and coefficients of small parts (a
pair of raters with few common items, a rater among hundreds, the chance agreement of few dialogues)
take the copies for agreement or for levels that are missing. Percentiles of such resamples may lie
beside the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annotations.agreement.tabulation import FloatArray, IntArray
from common.correlation import left_out_weights, with_jackknife_interval
from common.correlation.jackknife import Scale, group_of_cluster
from common.estimates import Estimate

METHOD = "jackknife-t95-over-dialogues"


@dataclass(frozen=True)
class Jackknife:
    """What is left out in each replicate. All coefficients share one.

    ``weights``: float, replicates × dialogues, 0 for what is left out and 1 for the rest; no rows
    where no intervals are asked for. ``group``: int, dialogues: the replicate that leaves each out,
    its own where they are few.
    """

    weights: FloatArray
    group: IntArray

    @classmethod
    def over(cls, dialogues: int) -> Jackknife:
        """The jackknife that leaves out each dialogue, or each group of them where they are many.

        Args:
            dialogues: number of dialogues, as ``Tabulation.dialogues``.

        Returns:
            A jackknife with one replicate per dialogue, at most ``MOST_GROUPS`` in all.
        """
        return cls(left_out_weights(dialogues), group_of_cluster(dialogues))

    @classmethod
    def none(cls, dialogues: int) -> Jackknife:
        """The jackknife without replicates: coefficients get no interval.

        Args:
            dialogues: number of dialogues, as ``Tabulation.dialogues``.

        Returns:
            A jackknife with (0, dialogues) weights.
        """
        return cls(np.empty((0, dialogues)), group_of_cluster(dialogues))

    @property
    def replicates(self) -> int:
        return int(self.weights.shape[0])

    def sums(self, by_dialogue: FloatArray | sparse.csr_array) -> FloatArray:
        """The sum over each replicate's dialogues.

        Args:
            by_dialogue: (dialogues, columns) what is summed, dense or sparse.

        Returns:
            (replicates, columns), dense.
        """
        return np.asarray(self.weights @ by_dialogue)

    def slices(self, replicates: int) -> Iterator[Jackknife]:
        """The same replicates in slices, for sums that would not all fit into memory.

        Args:
            replicates: number of replicates per slice, at least 1; the last may have fewer.

        Returns:
            The slices in order; none where there are no replicates.
        """
        for start in range(0, self.replicates, replicates):
            yield Jackknife(self.weights[start : start + replicates], self.group)

    def estimate(
        self,
        value: float,
        replicates: FloatArray,
        groups: NDArray[np.int64],
        if_undefined: str = "",
        scale: Scale = "up to 1",
    ) -> Estimate:
        """The coefficient with its 95 % interval, or with the reason why it has none.

        Args:
            value: the coefficient from all dialogues; NaN where undefined.
            replicates: (replicates,) the coefficient without each dialogue, or group of dialogues.
            groups: numbers of the replicates that leave out ratings which the coefficient reads,
                repeated or not; leaving out others says nothing.
            if_undefined: the reason where ``value`` is NaN.
            scale: as in ``jackknife_interval``.

        Returns:
            The estimate without an interval where the jackknife has no replicates; undefined where
            ``value`` is NaN.
        """
        if np.isnan(value):
            return Estimate.undefined(if_undefined)
        if not self.replicates:
            return Estimate(value)
        return with_jackknife_interval(Estimate(value), replicates[np.unique(groups)], scale)
