"""Where the true means of systems may lie, given means over few dialogues: what intervals of their correlations need.

Noise in means over few dialogues pulls a correlation of systems towards 0, and ranks of systems jump: a small change of
the means turns some pairs over and others not. Neither leaving one dialogue out nor drawing dialogues anew measures how
far a coefficient then lies from its value in the limit of many dialogues. A normal model does: the true (human, metric)
means of systems are spread with covariance Σ, and the means seen lie around them with errors C, so that they are spread
with Σ + C. Given what is seen, a system's true means are normal around the means shrunk by Σ(Σ + C)⁻¹, with covariance
Σ − Σ(Σ + C)⁻¹Σ (Morris 1983, Parametric Empirical Bayes Inference, JASA 78; Laird & Louis 1987, who draw from it).

How wide the systems really spread is not known either, least where they lie close. So each draw has a Σ and a C of its
own: Σ + C from the inverse Wishart distribution of S − 1 degrees of freedom around what S systems show (Gelman et al.
2013, Bayesian Data Analysis, section 3.6), C what leaving out one dialogue at a time measures times (G − 1) / χ²_{G−1}
for its G dialogues, and a draw counts where Σ, their difference, is a covariance at all, positive definite.
``docs/statistics_correlation.md`` has the coverage that simulations find, with Σ taken as known, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotations.correlation.jackknife import ALIKE_WITHOUT_ANY
from annotations.estimates import Undefined
from leaderboard.statistics.placed_scores import FloatArray, IntArray

ALL_NOISE = "what dialogues change may be all by which the systems seem to differ"
NO_ROOM = "what dialogues change may be all that keeps people and the metric from agreeing in full"
ON_ONE_LINE = "people's and the metric's means of systems lie on one line"
TRIED_FOR_EACH = 10
"""Covariances that are drawn for each that is wanted: where fewer than a tenth of them leave room for systems that
differ, the data do not say that they do."""
LEAST_SPREAD = 1e-9
"""Of Σ in any direction, in variances of the means seen: below it a draw's means lie on a line."""
ROUNDING = 1e-20
"""Of the same kind: errors below it are rounding, and leaving dialogues out changes nothing."""


def plausible_means(
    human: FloatArray,
    metric: FloatArray,
    human_left_out: FloatArray,
    metric_left_out: FloatArray,
    dialogues: tuple[IntArray, IntArray],
    draws: int,
    seed: int,
    groups: int | None = None,
) -> tuple[FloatArray, FloatArray] | Undefined:
    """(draws, systems) of true human means, and of true metric means. Undefined where the errors may well be all that
    is seen, where there are no errors, and where the means seen lie on one line.

    ``human``, ``metric``: (systems,) finite means of 4 systems or more, neither constant. ``human_left_out``,
    ``metric_left_out``: (G, systems) means without each dialogue, finite; a metric without scores of dialogues has one
    row, its scores, and no error. ``dialogues``: (systems,) in how many people rated each system, and in how many the
    metric scored it. ``groups``: in how many dialogues people rated any of them; G unless told. Units are the scores'
    own.
    """
    seen = np.stack((human, metric))
    scale = seen.std(axis=1, ddof=1)
    centre = seen.mean(axis=1)
    standard = (seen - centre[:, None]) / scale[:, None]
    total = np.cov(standard)
    if _least_variance(total) < LEAST_SPREAD:
        return Undefined(ON_ONE_LINE)
    errors = _errors(human_left_out / scale[0], metric_left_out / scale[1], *dialogues)
    measured = errors * _shares(*dialogues).mean(axis=0)
    if float(np.trace(measured)) < ROUNDING:
        return Undefined(ALIKE_WITHOUT_ANY)
    chance = _chance(len(human), draws, groups or len(human_left_out), seed)
    found = _possible_covariances(total, measured, chance, draws)
    if isinstance(found, Undefined):
        return found
    standard_draws = _given_what_is_seen(standard, found[:, 0], found[:, 1], _shares(*dialogues), chance.normal)
    return standard_draws[0] * scale[0] + centre[0], standard_draws[1] * scale[1] + centre[1]


def _possible_covariances(
    total: FloatArray, measured: FloatArray, chance: _Chance, draws: int
) -> FloatArray | Undefined:
    """(draws, 2, 2, 2): Σ and mean C of the first draws that count; Undefined where too few do."""
    root = np.linalg.cholesky(total)
    found = np.empty((0, 2, 2, 2))
    too_alike = 0
    for start in range(0, len(chance.of_errors), draws):  # most often the first block is enough
        block = slice(start, start + draws)
        errors = measured * chance.of_errors[block, None, None]
        spread = root @ chance.of_totals[block] @ root.T - errors
        possible = _least_variance(spread) > LEAST_SPREAD
        found = np.concatenate((found, np.stack((spread, errors), axis=1)[possible]))
        if len(found) >= draws:
            return found[:draws]
        too_alike += int(((spread[:, 0, 0] > 0) & (spread[:, 1, 1] > 0) & ~possible).sum())
    return Undefined(NO_ROOM if 2 * too_alike > len(chance.of_errors) - len(found) else ALL_NOISE)


def _shares(human_dialogues: IntArray, metric_dialogues: IntArray) -> FloatArray:
    """(systems, 2, 2): by what C is multiplied for a system, of the errors of one dialogue: 1 / d, d of both sides."""
    each = 1 / np.sqrt(np.stack((human_dialogues, metric_dialogues), axis=1))
    return np.asarray(each[:, :, None] * each[:, None, :])


def _given_what_is_seen(
    standard: FloatArray, spread: FloatArray, errors: FloatArray, shares: FloatArray, normal: FloatArray
) -> FloatArray:
    """(2, draws, systems) true means in the units of ``standard``. ``spread``, ``errors``: (draws, 2, 2), the errors
    those of the systems' mean; ``shares``: (systems, 2, 2)."""
    drawn = np.empty_like(normal)
    relative = shares / shares.mean(axis=0)  # a system with few dialogues has larger errors
    kinds, of_system = np.unique(relative.reshape(-1, 4), axis=0, return_inverse=True)
    for kind, share in enumerate(kinds.reshape(-1, 2, 2)):
        alike = of_system.ravel() == kind
        shrink = spread @ np.linalg.inv(spread + errors * share)
        root = _root(spread - shrink @ spread)
        for side in (0, 1):
            values = shrink[:, side, :1] * standard[0, alike] + shrink[:, side, 1:] * standard[1, alike]
            values += root[:, side, :1] * normal[0][:, alike] + root[:, side, 1:] * normal[1][:, alike]
            drawn[side][:, alike] = values
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
    human_left_out: FloatArray, metric_left_out: FloatArray, human_dialogues: IntArray, metric_dialogues: IntArray
) -> FloatArray:
    """(2, 2): the covariance of the errors that one dialogue brings into a system's two means, by the jackknife, pooled
    over systems with the dialogues less one of each as weights. What all systems share in a dialogue moves no
    correlation, and is taken out."""
    systems = human_left_out.shape[1]
    both = np.stack((human_left_out, np.broadcast_to(metric_left_out, human_left_out.shape)))
    both = both - both.mean(axis=2, keepdims=True)
    both = both - both.mean(axis=1, keepdims=True)
    counts = np.stack((human_dialogues, metric_dialogues)).astype(np.float64)
    both *= np.sqrt(np.maximum(counts - 1, 0.0))[:, None, :]  # variance (d − 1) / d Σ e² of a mean, times d
    degrees = np.maximum(human_dialogues - 1, 0)
    pooled = np.einsum("igs,jgs,s->ij", both, both, degrees) / degrees.sum()
    return np.asarray(pooled * systems / (systems - 1))


def _least_variance(matrices: FloatArray) -> NDArray[np.float64]:
    """(…,) the smaller eigenvalue of (…, 2, 2) symmetric matrices."""
    middle = (matrices[..., 0, 0] + matrices[..., 1, 1]) / 2
    apart = np.hypot((matrices[..., 0, 0] - matrices[..., 1, 1]) / 2, matrices[..., 0, 1])
    return np.asarray(middle - apart)


def _root(matrices: FloatArray) -> FloatArray:
    """(…, 2, 2): Cholesky's L with L Lᵀ the matrix, which may have no variance in a direction, up to rounding."""
    root = np.zeros_like(matrices)
    root[..., 0, 0] = np.sqrt(np.maximum(matrices[..., 0, 0], 0.0))
    held = root[..., 0, 0] > 0
    np.divide(matrices[..., 1, 0], root[..., 0, 0], out=root[..., 1, 0], where=held)
    root[..., 1, 1] = np.sqrt(np.maximum(matrices[..., 1, 1] - root[..., 1, 0] ** 2, 0.0))
    return root
