"""How well one rater agrees with the others: each rater's scores against the mean of the other raters' scores.

This is the ceiling that a metric meets when it is correlated with mean human scores: a metric that reaches it agrees
with the raters as well as one of them does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotations.agreement.cross_table import correlations_of_resamples, has_few_cells
from annotations.agreement.intervals import Resampling
from annotations.agreement.tabulation import MISSING, FloatArray, IntArray, Tabulation
from annotations.correlation import COEFFICIENTS, correlation_estimates, correlation_replicates, with_interval
from annotations.estimates import Estimate

FEWEST_ITEMS = 3
DECIMALS = 9
"""Means are rounded to this many decimals, so that equal means of fractional scores stay tied."""


@dataclass(frozen=True, slots=True)
class RaterCorrelation:
    """One rater against the mean of the others, on the ``items`` that the rater and somebody else judged."""

    rater: str
    items: int
    correlation: Estimate


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The mean over the raters for whom the correlation is defined (each rater counts once), and each of them."""

    mean: Estimate
    raters: tuple[RaterCorrelation, ...] = ()


def leave_one_out(table: Tabulation, resampling: Resampling) -> dict[str, LeaveOneOut]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b by name, each with bootstrap intervals; values in [−1, 1].

    Undefined for a rater with fewer than three such items, or where either side is constant. The mean of a resample
    is over the raters for whom the correlation is defined in that resample.
    """
    if table.active_raters.size < 2:
        return {name: LeaveOneOut(Estimate.undefined("fewer than two raters")) for name in COEFFICIENTS}
    by_rater: dict[str, list[RaterCorrelation]] = {name: [] for name in COEFFICIENTS}
    replicates: dict[str, list[FloatArray]] = {name: [] for name in COEFFICIENTS}
    sums = np.nansum(table.scores, axis=0)
    for rater in table.active_raters:
        common = (table.codes[rater] != MISSING) & (table.ratings_of_item >= 2)
        own = table.scores[rater, common]
        of_others = np.round((sums[common] - own) / (table.ratings_of_item[common] - 1), DECIMALS)
        estimates, of_resamples = _correlations(own, of_others, table.dialogue[common], resampling)
        for name in COEFFICIENTS:
            by_rater[name].append(RaterCorrelation(table.raters[rater], int(common.sum()), estimates[name]))
            if estimates[name].is_defined and of_resamples:
                replicates[name].append(of_resamples[name])
    shared_dialogues = table.dialogues_of(table.ratings_of_item >= 2)
    return {
        name: LeaveOneOut(_mean_over_raters(by_rater[name], replicates[name], shared_dialogues), tuple(by_rater[name]))
        for name in COEFFICIENTS
    }


def _correlations(
    own: FloatArray, of_others: FloatArray, dialogue: IntArray, resampling: Resampling
) -> tuple[dict[str, Estimate], dict[str, FloatArray]]:
    reason = why_undefined(own, of_others)
    if reason:
        return {name: Estimate.undefined(reason) for name in COEFFICIENTS}, {}
    dialogues, place = np.unique(dialogue, return_inverse=True)
    points = correlation_estimates(own, of_others, place)
    # The p-value is for pairs drawn one by one; a dialogue's items are not, and the interval says what is known.
    values = {name: Estimate(points[name].value) for name in COEFFICIENTS}
    if not resampling.resamples:
        return values, {}
    of_their_dialogues = Resampling(resampling.multiplicities[:, dialogues])
    if has_few_cells(own, of_others):
        of_resamples = correlations_of_resamples(own, of_others, place, of_their_dialogues)
    else:
        of_resamples = correlation_replicates(own, of_others, place, of_their_dialogues.multiplicities)
    return {
        name: with_interval(value, of_resamples[name], dialogues.size) for name, value in values.items()
    }, of_resamples


def why_undefined(own: FloatArray, of_others: FloatArray) -> str:
    """Why a rater's scores cannot be correlated with the mean of the others; "" where they can."""
    if own.size < FEWEST_ITEMS:
        return f"fewer than {FEWEST_ITEMS} items judged by this rater and another"
    if np.ptp(own) == 0:
        return "all scores of this rater are equal"
    if np.ptp(of_others) == 0:
        return "all mean scores of the other raters are equal"
    return ""


def _mean_over_raters(
    by_rater: list[RaterCorrelation], replicates: list[FloatArray], shared_dialogues: int
) -> Estimate:
    defined = [one.correlation.value for one in by_rater if one.correlation.value is not None]
    if not defined:
        reasons = sorted({one.correlation.reason for one in by_rater})
        return Estimate.undefined("undefined for every rater: " + "; ".join(reasons))
    return with_interval(Estimate(float(np.mean(defined))), _mean_where_defined(replicates), shared_dialogues)


def _mean_where_defined(replicates: list[FloatArray]) -> FloatArray | None:
    if not replicates:
        return None
    stacked = np.stack(replicates)
    defined = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, stacked, 0.0).sum(axis=0) / defined.sum(axis=0))
