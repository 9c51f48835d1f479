"""Bootstrap intervals of agreement: dialogues are redrawn, because ratings of one dialogue are not independent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from annotations.agreement.tabulation import FloatArray, IntArray
from annotations.correlation import cluster_resamples, with_interval
from annotations.estimates import Estimate


@dataclass(frozen=True)
class Resampling:
    """How often each resample draws each dialogue; float, resamples × dialogues. All coefficients share one."""

    multiplicities: FloatArray

    @classmethod
    def draw(cls, dialogues: int, resamples: int, seed: int) -> Resampling:
        """Draw ``resamples`` times as many dialogues as there are, with replacement; none where there are none."""
        if not dialogues or not resamples:
            return cls(np.empty((0, dialogues)))
        return cls(cluster_resamples(dialogues, resamples, seed).astype(np.float64))

    @property
    def resamples(self) -> int:
        return int(self.multiplicities.shape[0])

    def sums(self, by_dialogue: FloatArray | sparse.csr_array, dialogues: IntArray | None = None) -> FloatArray:
        """The sum over each resample's dialogues of an array dialogues × columns; resamples × columns.

        ``dialogues`` says which dialogue each row stands for, where the rows are not all of them.
        """
        drawn = self.multiplicities if dialogues is None else self.multiplicities[:, dialogues]
        return np.asarray(drawn @ by_dialogue)

    def slices(self, resamples: int) -> Iterator[Resampling]:
        """The same resamples, so many at a time, for sums that would not all fit into memory."""
        for start in range(0, self.resamples, resamples):
            yield Resampling(self.multiplicities[start : start + resamples])

    def estimate(self, value: float, replicates: FloatArray, dialogues: int, if_undefined: str) -> Estimate:
        """The coefficient with its 95 % percentile interval.

        ``value``: NaN where undefined, with ``if_undefined`` as the reason. ``replicates``: float, resamples, NaN
        where undefined; these are dropped, and where they are more than a tenth there is no interval, with that
        reason. ``dialogues``: in how many dialogues the ratings lie that the coefficient reads; with one there is
        nothing to redraw, so no interval.
        """
        if np.isnan(value):
            return Estimate.undefined(if_undefined)
        return with_interval(Estimate(value), replicates if self.resamples else None, dialogues)
