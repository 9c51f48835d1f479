"""How well one rater agrees with the others: each rater's scores against the mean of the other
raters' scores.

A metric that reaches it agrees with the raters as well as one of them does. It may go beyond: the
highest that it can reach is the root of the mean rating's reliability
(``leaderboard.statistics.correlation.human_ceiling``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.agreement.cross_table import correlations_of_replicates, has_few_cells
from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import MISSING, FloatArray, IntArray, Tabulation
from common.correlation import COEFFICIENTS, correlation_replicates, left_out_weights
from common.estimates import Estimate, OwnJson

FEWEST_ITEMS = 3
DECIMALS = 9
"""Means are rounded to this many decimals, so that equal means of fractional scores stay tied."""


@dataclass(frozen=True, slots=True)
class RaterCorrelation:
    """One rater against the mean of the others, on the ``items`` that the rater and somebody else
    judged."""

    rater: str
    items: int
    correlation: Estimate


@dataclass(frozen=True, slots=True)
class LeaveOneOut(OwnJson):
    """The mean over the raters with enough items for whom the correlation is defined (each counts
    once), and each."""

    mean: Estimate
    raters: tuple[RaterCorrelation, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The mean, with each rater's correlation."""
        per_rater = [
            {"rater": rater.rater, "items": rater.items, **rater.correlation.as_json()}
            for rater in self.raters
        ]
        return {**self.mean.as_json(), "per_rater": per_rater}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> LeaveOneOut:
        """What ``as_json`` wrote."""
        return cls(
            Estimate.from_json(document),
            tuple(
                RaterCorrelation(one["rater"], one["items"], Estimate.from_json(one))
                for one in document["per_rater"]
            ),
        )


def leave_one_out(table: Tabulation, jackknife: Jackknife) -> dict[str, LeaveOneOut]:
    """Pearson's r, Spearman's ρ and Kendall's τ-b of each rater with the mean of the others.

    Args:
        table: the ratings, from ``tabulate``.
        jackknife: which dialogues are left out, for the intervals; ``Jackknife.none`` for none.

    Returns:
        One result for each name in ``COEFFICIENTS``: the mean over raters and each rater's value,
        in [−1, 1], each with its 95 % interval. Undefined for a rater with fewer than three items
        that another rater judged, too, or where either list of scores is constant. The mean takes
        raters with ``table.least_common_items`` or more of them; without some dialogues it is over
        those defined without them. With fewer than two raters everything is undefined.
    """
    if table.active_raters.size < 2:
        return {
            name: LeaveOneOut(Estimate.undefined("fewer than two raters")) for name in COEFFICIENTS
        }
    by_rater: dict[str, list[RaterCorrelation]] = {name: [] for name in COEFFICIENTS}
    replicates: dict[str, list[FloatArray]] = {name: [] for name in COEFFICIENTS}
    sums = np.nansum(table.scores, axis=0)
    for rater in table.active_raters:
        common = (table.codes[rater] != MISSING) & (table.ratings_of_item >= 2)
        own = table.scores[rater, common]
        of_others = np.round((sums[common] - own) / (table.ratings_of_item[common] - 1), DECIMALS)
        group = jackknife.group[table.dialogue[common]]
        reason = why_undefined(own, of_others)
        found = {} if reason else _correlations(own, of_others, group, jackknife)
        for name in COEFFICIENTS:
            correlation = Estimate.undefined(reason)
            if not reason:
                value, left_out = float(found[name][0]), found[name][1:]
                correlation = jackknife.estimate(value, left_out, group, scale="fisher")
                if own.size >= table.least_common_items:
                    replicates[name].append(found[name])
            by_rater[name].append(
                RaterCorrelation(table.raters[rater], int(common.sum()), correlation)
            )
    return {
        name: LeaveOneOut(
            _mean_over_raters(table, jackknife, by_rater[name], replicates[name]),
            tuple(by_rater[name]),
        )
        for name in COEFFICIENTS
    }


def _correlations(
    own: FloatArray, of_others: FloatArray, group: IntArray, jackknife: Jackknife
) -> dict[str, FloatArray]:
    """Each coefficient of all items, then without each group of dialogues; of groups without items
    it is the same."""
    groups, index = np.unique(group, return_inverse=True)
    weights = np.ones((1, groups.size))
    if jackknife.replicates:
        weights = np.vstack((weights, left_out_weights(groups.size)))
    correlations = (
        correlations_of_replicates if has_few_cells(own, of_others) else correlation_replicates
    )
    found = correlations(own, of_others, index, weights)
    every = np.zeros(1 + jackknife.replicates, dtype=np.int64)
    if jackknife.replicates:
        every[1 + groups] = np.arange(1, 1 + groups.size)
    return {name: found[name][every] for name in COEFFICIENTS}


def why_undefined(own: FloatArray, of_others: FloatArray) -> str:
    """The reason why a rater's scores cannot be correlated with the mean of the others.

    Args:
        own: (n,) finite scores of the rater.
        of_others: (n,) the mean of the other raters' scores of the same items.

    Returns:
        The reason: fewer than ``FEWEST_ITEMS`` items, or all values of one list are equal. "" where
        the correlation exists.
    """
    if own.size < FEWEST_ITEMS:
        return f"fewer than {FEWEST_ITEMS} items judged by this rater and another"
    if np.ptp(own) == 0:
        return "all scores of this rater are equal"
    if np.ptp(of_others) == 0:
        return "all mean scores of the other raters are equal"
    return ""


def _mean_over_raters(
    table: Tabulation,
    jackknife: Jackknife,
    by_rater: list[RaterCorrelation],
    replicates: list[FloatArray],
) -> Estimate:
    """``replicates``: of each rater that counts, the correlation, and that without each group of
    dialogues."""
    if not replicates:
        reasons = {one.correlation.reason for one in by_rater if not one.correlation.is_defined}
        if len(reasons) and not any(one.correlation.is_defined for one in by_rater):
            return Estimate.undefined("undefined for every rater: " + "; ".join(sorted(reasons)))
        return Estimate.undefined(
            f"a mean over raters takes those with {table.least_common_items} items or more that "
            f"others judged, too, and none has more than {max(one.items for one in by_rater)}"
        )
    stacked = np.stack(replicates)
    defined = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        means = np.where(defined, stacked, 0.0).sum(axis=0) / defined.sum(axis=0)
    shared = jackknife.group[table.dialogue[table.ratings_of_item >= 2]]
    return jackknife.estimate(float(means[0]), means[1:], shared, scale="fisher")
