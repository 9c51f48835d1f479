"""What a campaign's ratings say of its systems so far, when systems were drawn with unequal
probabilities.

Pure: numpy in, numpy out. What is estimated and why so stands in docs/statistics_allocation.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Numbers = NDArray[np.float64]
Truths = NDArray[np.bool_]

LOOKS = 20
"""A campaign is looked at after each twentieth of its ratings; nothing is decided in between."""
POCOCK_20 = 2.672
"""In units of the standard error: the constant that 20 evenly spaced looks together pass with a
chance of 5 % where there is no difference (Pocock 1977; Jennison and Turnbull 2000, table 2.1).
1.96 would be passed in 25 %."""
INTERIM_LEVEL = 0.00754
"""Two-sided, of one look: P(|Z| > 2.672)."""
FEWEST_RATINGS, FEWEST_DIALOGUES = 5, 3
"""Below them a system's variance is a guess, and nothing is said of it."""
DIALOGUES_LENT = 2
"""A system whose first ratings are all 5 is not sure to be 5 for ever. No variance is taken for
less than what this many dialogues of average spread would bring in on top of its own dialogues,
were those all alike."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Sums over the ratings of each system (row) in each dialogue (column).

    ``count``: ratings; ``weight``: Σ w; ``score``: Σ w y; ``square``: Σ w². With w = 1/√p for a
    rating whose system was drawn with probability p, and w = 1 for one from a uniform draw.
    """

    count: Numbers
    weight: Numbers
    score: Numbers
    square: Numbers


@dataclass(frozen=True, slots=True)
class Standing:
    """Each system's mean and how sure it is. NaN where ``known`` is False."""

    known: Truths
    count: Numbers
    mean: Numbers
    covariance: Numbers
    """Of the estimated means, systems × systems: systems answer the same dialogues, so errors go
    together."""
    dialogues: Numbers
    unit: Numbers
    """The variance that a mean of one effective rating would have: Var × (Σ w)² / Σ w²."""

    @property
    def half_width(self) -> Numbers:
        """Of each mean's interval, valid at all looks together."""
        reach: Numbers = _critical(self.dialogues) * np.sqrt(np.diag(self.covariance))
        return reach

    def variance_of_differences(self) -> Numbers:
        own = np.diag(self.covariance)
        variance: Numbers = np.maximum(own[:, None] + own[None, :] - 2 * self.covariance, 0.0)
        return variance

    def differences(self) -> tuple[Numbers, Numbers]:
        """(difference of means a − b, half width of its interval at a look), systems × systems."""
        fewer = np.minimum(self.dialogues[:, None], self.dialogues[None, :])
        return self.mean[:, None] - self.mean[None, :], _critical(fewer) * np.sqrt(
            self.variance_of_differences()
        )

    def separated(self) -> Truths:
        """Which pairs of systems are told apart: the interval of their difference leaves out 0."""
        difference, reach = self.differences()
        with np.errstate(invalid="ignore"):
            apart = (np.abs(difference) > reach) & self.known[:, None] & self.known[None, :]
        np.fill_diagonal(apart, False)
        return apart


def weight_of(propensity: Numbers) -> Numbers:
    """w = 1/√p: the variance-stabilising weights of Hadad et al. (2021, section 2.2), for draws
    that happened."""
    return 1.0 / np.sqrt(propensity)


def cells_of(
    system: NDArray[np.int64],
    dialogue: NDArray[np.int64],
    weight: Numbers,
    score: Numbers,
    shape: tuple[int, int],
) -> Cells:
    """The sums of ratings that are given one by one; ``shape``: how many systems and dialogues
    there are."""
    place = system * shape[1] + dialogue

    def summed(values: Numbers | None) -> Numbers:
        flat = np.bincount(place, weights=values, minlength=shape[0] * shape[1]).astype(np.float64)
        return flat.reshape(shape)

    return Cells(summed(None), summed(weight), summed(weight * score), summed(weight * weight))


def standing_of(cells: Cells) -> Standing:
    """Means and their covariance.

    mean_s = Σ w y / Σ w. With φ(s, d) = Σ_{ratings of s in d} w (y − mean_s) / Σ w, the error that
    dialogue d brings into the mean of s, Cov(s, t) = G/(G−1) Σ_d φ(s, d) φ(t, d), G the fewer
    dialogues of the two: robust to whatever ratings of one dialogue have in common, also between
    systems. Variances that are 0 by chance are raised (``DIALOGUES_LENT``).
    """
    count, weight = cells.count.sum(axis=1), cells.weight.sum(axis=1)
    dialogues = (cells.count > 0).sum(axis=1).astype(np.float64)
    known = (count >= FEWEST_RATINGS) & (dialogues >= FEWEST_DIALOGUES)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, cells.score.sum(axis=1) / weight, np.nan)
        error = (cells.score - mean[:, None] * cells.weight) / weight[:, None]
        fewer = np.minimum(dialogues[:, None], dialogues[None, :])
        covariance = (error @ error.T) * fewer / (fewer - 1)
        effective = weight**2 / cells.square.sum(axis=1)
        unit = np.diag(covariance) * effective
        if known.any():
            least = unit[known].mean() * DIALOGUES_LENT / (dialogues + DIALOGUES_LENT - 1)
            raised = np.where(known, np.maximum(unit, least), np.nan)
            covariance = covariance + np.diag((raised - unit) / effective)
            unit = raised
    return Standing(known, count, mean, covariance, dialogues, unit)


def _critical(dialogues: Numbers) -> Numbers:
    """Student's t with one degree of freedom less than dialogues, at the level of a look."""
    with np.errstate(invalid="ignore"):
        found: Numbers = stdtrit(np.maximum(dialogues - 1, 1), 1 - INTERIM_LEVEL / 2)
    return found
