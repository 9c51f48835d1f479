"""Where the true means of systems may lie, given means over few dialogues: what intervals of their
correlations need.

Noise in means over few dialogues pulls a correlation of systems towards 0, and ranks of systems
jump: a small change of the means turns some pairs over and others not. Neither leaving one dialogue
out nor drawing dialogues anew measures how far a coefficient then lies from its value in the limit
of many dialogues. A normal model does: the true (human, metric) means of systems are spread with
covariance Σ, and the means seen lie around them with errors C, so that they are spread with Σ + C.
Given what is seen, a system's true means are normal around the means shrunk by Σ(Σ + C)⁻¹, with
covariance Σ − Σ(Σ + C)⁻¹Σ (Morris 1983, Parametric Empirical Bayes Inference, JASA 78; Laird &
Louis 1987, who draw from it).

How wide the systems really spread is not known either, least where they lie close. So each draw has
a Σ and a C of its own: Σ + C from the inverse Wishart distribution of S − 1 degrees of freedom
around what S systems show (Gelman et al. 2013, Bayesian Data Analysis, section 3.6), C what leaving
out one dialogue at a time measures times (G − 1) / χ²_{G−1} for its G dialogues, and a draw counts
where Σ, their difference, is a covariance at all, positive definite.
``docs/statistics_correlation.md`` has the coverage that simulations find, with Σ taken as known,
too.

Ranks do not ask how far apart systems lie, so for ρ and τ the same is done with the means' normal
scores, too, which are normal whatever the means are (``normal_scores``); errors are as large there
as they move a score.

Means of systems on the scale on which they are normal, whatever their shape, and how far an
error moves them there.

Ranks do not see how far apart two groups of systems lie, or how far off a baseline is; a model of
normal means does, and takes what parts the groups for what parts systems within them. Normal scores
(Blom 1958, Statistical Estimates and Transformed Beta-Variables: Φ⁻¹((rank − 3/8) / (S + 1/4)))
keep the order alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from common.correlation.jackknife import CONSTANT_WITHOUT_ONE
from common.estimates import Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray

ALL_NOISE = "what dialogues change may be all by which the systems seem to differ"
NO_NOISE_LEFT = (
    "what dialogues change may be all that keeps people and the metric from agreeing in full"
)
ON_ONE_LINE = "people's and the metric's means of systems lie on one line"
TRIED_FOR_EACH = 10
"""Covariances that are drawn for each that is wanted: where fewer than a tenth of them leave room
for systems that differ, the data do not say that they do."""
MIN_SPREAD = 1e-9
"""Of Σ in any direction, in variances of the means seen: below it a draw's means lie on a line."""
ROUNDING = 1e-20
"""Of the same kind: errors below it are rounding, and leaving dialogues out changes nothing."""
PLACES = ((0, 0), (0, 1), (1, 1))
"""Of what a symmetric matrix holds: people's variance, the covariance, the metric's variance."""
SYSTEMS_AT_ONCE = 512
"""Ten thousand of them with a thousand draws would take a gigabyte at once."""


@dataclass(frozen=True, slots=True)
class SeenMeans:
    """Means of 4 systems or more, neither side constant, and what they are without each dialogue.
    Units are the scores' own."""

    human: FloatArray
    """(systems,)"""
    metric: FloatArray
    human_left_out: FloatArray
    """(G, systems), finite."""
    metric_left_out: FloatArray
    """The same; of a metric without scores of dialogues one row, its scores, and no error."""
    dialogues: tuple[IntArray, IntArray]
    """(systems,) in how many people rated each system, and in how many the metric scored it."""
    groups: int
    """In how many dialogues people rated any of them."""

    def standard(self) -> FloatArray:
        """Observed means in standard units.

        Returns:
            (2, systems) human and metric means with mean 0 and standard deviation 1 (divided by S −
            1).
        """
        seen = np.stack((self.human, self.metric))
        return np.asarray((seen - seen.mean(axis=1, keepdims=True)) / self._scale[:, None])

    def errors(self) -> FloatArray:
        """Covariances of the errors of standard means, by the jackknife over dialogues.

        Returns:
            (systems, 2, 2), human first; smaller for systems with more dialogues.
        """
        of_one = _errors(
            self.human_left_out / self._scale[0],
            self.metric_left_out / self._scale[1],
            *self.dialogues,
        )
        return of_one * _shares(*self.dialogues)

    @property
    def _scale(self) -> FloatArray:
        return np.array([self.human.std(ddof=1), self.metric.std(ddof=1)])


def plausible_means(seen: SeenMeans, draws: int, seed: int) -> FloatArray | Undefined:
    """Random draws of the true human and metric means of systems, given the observed ones.

    Args:
        seen: observed means, and what they are without each dialogue.
        draws: how many.
        seed: of the draws.

    Returns:
        (2, draws, systems) human and metric means, in standard units. Undefined where the errors
        may well be all that is seen, or all that keeps the two sides from agreeing in full; where
        there are no errors; and where the observed means lie on one line.
    """
    return _plausible(
        seen.standard(), seen.errors(), _chance(len(seen.human), draws, seen.groups, seed)
    )


def plausible_scores(seen: SeenMeans, draws: int, seed: int) -> FloatArray | Undefined:
    """Random draws of the normal scores of true human and metric means, which give their order.

    Args:
        seen: observed means, and what they are without each dialogue.
        draws: how many.
        seed: of the draws.

    Returns:
        (2, draws, systems) human and metric scores, in standard units. Undefined as
        ``plausible_means``, and where both sides order the systems alike.
    """
    errors = seen.errors()
    sides = []
    for side, means in enumerate(seen.standard()):
        error = float(np.sqrt(errors[:, side, side].mean()))
        scores, slopes = normal_scores(means, error)
        sides.append((scores / scores.std(ddof=1), slopes / scores.std(ddof=1)))
    scores, slopes = (np.stack(one) for one in zip(*sides, strict=True))
    moved = errors * slopes.T[:, :, None] * slopes.T[:, None, :]
    return _plausible(scores, moved, _chance(len(seen.human), draws, seen.groups, seed))


def _plausible(standard: FloatArray, errors: FloatArray, chance: _Chance) -> FloatArray | Undefined:
    total, measured = np.cov(standard), errors.mean(axis=0)
    if _least_variance(total) < MIN_SPREAD:
        return Undefined(ON_ONE_LINE)
    if float(np.trace(measured)) < ROUNDING:
        return Undefined(CONSTANT_WITHOUT_ONE)
    found = _possible_covariances(total, measured, chance)
    return (
        found
        if isinstance(found, Undefined)
        else _imputed_ratings(standard, errors, *found, chance.normal)
    )


def _possible_covariances(
    total: FloatArray, measured: FloatArray, chance: _Chance
) -> tuple[FloatArray, FloatArray] | Undefined:
    """(draws, 2, 2): Σ, and (draws,) by what the errors measured are multiplied, of the first draws
    that count. Undefined where too few do."""
    root, draws = np.linalg.cholesky(total), chance.normal.shape[1]
    spreads, factors = np.empty((0, 2, 2)), np.empty(0)
    too_similar = 0
    for start in range(0, len(chance.of_errors), draws):  # most often the first block is enough
        factor = chance.of_errors[start : start + draws]
        spread = (
            root @ chance.of_totals[start : start + draws] @ root.T
            - measured * factor[:, None, None]
        )
        possible = _least_variance(spread) > MIN_SPREAD
        spreads, factors = (
            np.concatenate((spreads, spread[possible])),
            np.concatenate((factors, factor[possible])),
        )
        if len(factors) >= draws:
            return spreads[:draws], factors[:draws]
        too_similar += int(((spread[:, 0, 0] > 0) & (spread[:, 1, 1] > 0) & ~possible).sum())
    return Undefined(
        NO_NOISE_LEFT if 2 * too_similar > len(chance.of_errors) - len(factors) else ALL_NOISE
    )


def _shares(human_dialogues: IntArray, metric_dialogues: IntArray) -> FloatArray:
    """(systems, 2, 2): by what C is multiplied for a system, of the errors of one dialogue: 1 / d,
    d of both sides."""
    each = 1 / np.sqrt(np.stack((human_dialogues, metric_dialogues), axis=1))
    return np.asarray(each[:, :, None] * each[:, None, :])


def _imputed_ratings(
    standard: FloatArray,
    errors: FloatArray,
    spreads: FloatArray,
    factors: FloatArray,
    normal: FloatArray,
) -> FloatArray:
    """(2, draws, systems) true means in the units of ``standard``. ``spreads``: (draws, 2, 2);
    ``errors``: (systems, 2, 2), those of a draw times its factor.

    Σ(Σ + C)⁻¹ and Cholesky's root of Σ − Σ(Σ + C)⁻¹Σ are written out: NumPy takes each of the small
    matrices by itself.
    """
    drawn = np.empty_like(normal)
    human, both, metric = (spreads[:, row, column, None] for row, column in PLACES)
    for start in range(0, standard.shape[1], SYSTEMS_AT_ONCE):
        block = slice(start, start + SYSTEMS_AT_ONCE)
        of_human, of_both, of_metric = (
            factors[:, None] * errors[block, row, column] for row, column in PLACES
        )
        seen_human, seen_both, seen_metric = human + of_human, both + of_both, metric + of_metric
        determinant = seen_human * seen_metric - seen_both**2
        human_by_human = (human * seen_metric - both * seen_both) / determinant
        human_by_metric = (both * seen_human - human * seen_both) / determinant
        metric_by_human = (both * seen_metric - metric * seen_both) / determinant
        metric_by_metric = (metric * seen_human - both * seen_both) / determinant
        left = np.sqrt(np.maximum(human - human_by_human * human - human_by_metric * both, 0.0))
        shared = np.divide(
            both - metric_by_human * human - metric_by_metric * both,
            left,
            out=np.zeros_like(left),
            where=left > 0,
        )
        own = np.sqrt(
            np.maximum(metric - metric_by_human * both - metric_by_metric * metric - shared**2, 0.0)
        )
        people, scores = standard[:, block]
        drawn[0, :, block] = (
            human_by_human * people + human_by_metric * scores + left * normal[0, :, block]
        )
        drawn[1, :, block] = metric_by_human * people + metric_by_metric * scores
        drawn[1, :, block] += shared * normal[0, :, block] + own * normal[1, :, block]
    return drawn


@dataclass(frozen=True, slots=True)
class _Chance:
    """What all metrics of a corpus share: the same draws in standard units."""

    of_totals: FloatArray
    """(tried, 2, 2) inverse Wishart, S − 1 degrees of freedom, around the identity matrix."""
    of_errors: FloatArray
    """(tried,)"""
    normal: FloatArray
    """(2, draws, systems)"""


@lru_cache(maxsize=2)
def _chance(systems: int, draws: int, groups: int, seed: int) -> _Chance:
    random = np.random.default_rng(seed)
    tried, degrees = TRIED_FOR_EACH * draws, systems - 1
    factor = np.zeros((tried, 2, 2))  # Bartlett (1933): F Fᵀ has Wishart's distribution
    factor[:, 0, 0] = np.sqrt(random.chisquare(degrees, tried))
    factor[:, 1, 1] = np.sqrt(random.chisquare(degrees - 1, tried))
    factor[:, 1, 0] = random.standard_normal(tried)
    inverse = np.linalg.inv(factor)
    chance = _Chance(
        of_totals=degrees * inverse.transpose(0, 2, 1) @ inverse,
        of_errors=(groups - 1) / random.chisquare(groups - 1, tried),
        normal=random.standard_normal((2, draws, systems)),
    )
    for shared in (chance.of_totals, chance.of_errors, chance.normal):
        shared.flags.writeable = False
    return chance


def _errors(
    human_left_out: FloatArray,
    metric_left_out: FloatArray,
    human_dialogues: IntArray,
    metric_dialogues: IntArray,
) -> FloatArray:
    """(2, 2): the covariance of the errors that one dialogue brings into a system's two means, by
    the jackknife, pooled over systems with the dialogues less one of each as weights. What all
    systems share in a dialogue moves no correlation, and is taken out."""
    systems = human_left_out.shape[1]
    both = np.stack((human_left_out, np.broadcast_to(metric_left_out, human_left_out.shape)))
    both = both - both.mean(axis=2, keepdims=True)
    both = both - both.mean(axis=1, keepdims=True)
    counts = np.stack((human_dialogues, metric_dialogues)).astype(np.float64)
    # Variance (d − 1) / d Σ e² of a mean, times d
    both *= np.sqrt(np.maximum(counts - 1, 0.0))[:, None, :]
    degrees = np.maximum(human_dialogues - 1, 0)
    pooled = np.einsum("igs,jgs,s->ij", both, both, degrees) / degrees.sum()
    return np.asarray(pooled * systems / (systems - 1))


def _least_variance(matrices: FloatArray) -> NDArray[np.float64]:
    """(…,) the smaller eigenvalue of (…, 2, 2) symmetric matrices."""
    middle = (matrices[..., 0, 0] + matrices[..., 1, 1]) / 2
    apart = np.hypot((matrices[..., 0, 0] - matrices[..., 1, 1]) / 2, matrices[..., 0, 1])
    return np.asarray(middle - apart)


REACH = 2.0
"""Standard errors to either side over which a slope is taken: where nearly all errors lie. Over one
of them slopes are steeper, for few points say little of so short a way, and intervals a fifth
wider."""


def normal_scores(means: FloatArray, error: float) -> tuple[FloatArray, FloatArray]:
    """Normal scores of system means, and how fast they grow with the means.

    Args:
        means: (systems,) finite means, at least two of them different.
        error: Standard error of a mean, in the units of the means; 0: nothing moves a score.

    Returns:
        (systems,) normal scores, shared by equal means, and (systems,) slopes: by how much a score
        grows where its mean grows by 1, averaged over ``REACH`` standard errors to either side. All
        slopes are 0 where ``error`` is.

    Equation: Φ⁻¹((rank − 3/8) / (S + 1/4)) for S systems (Blom 1958).
    """
    count = len(means)
    at, index, many = np.unique(means, return_inverse=True, return_counts=True)
    # Equal means share the middle of the ranks that they take
    ranks = np.cumsum(many) - (many - 1) / 2
    marks = np.asarray(ndtri((ranks - 3 / 8) / (count + 1 / 4)), dtype=np.float64)
    scores = marks[index]
    if error == 0:
        return scores, np.zeros_like(scores)
    outside = (marks[-1] - marks[0]) / (at[-1] - at[0])

    def score_of(indices: FloatArray) -> FloatArray:
        beyond = np.maximum(indices - at[-1], 0.0) + np.minimum(indices - at[0], 0.0)
        return np.asarray(np.interp(indices, at, marks) + outside * beyond)

    way = REACH * error
    return scores, (score_of(means + way) - score_of(means - way)) / (2 * way)
