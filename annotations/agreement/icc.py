"""Intraclass correlation under the two-way random-effects model, also where each rater judged only
some items.

score = μ + item + rater + error. ICC(2,1) = σ²_i / (σ²_i + σ²_r + σ²_e) is the agreement of two
single ratings, ICC(2,k) = σ²_i / (σ²_i + (σ²_r + σ²_e) / k) that of two means of k ratings (Shrout
and Fleiss 1979, table 4; McGraw and Wong 1996 call them ICC(A,1) and ICC(A,k)).

The variance components are estimated by fitting constants (Henderson 1953, method 3; Searle,
Casella and McCulloch 1992, section 5.5): the reductions in sum of squares R(items | raters) and
R(raters | items) and the residual are set equal to their expectations, which are exact for any
pattern of missing ratings. With N ratings of I items by R raters, and c the number of groups of
raters that no common item connects:

    E residual            = (N − I − R + c) σ²_e
    E R(items | raters)   = (N − R) σ²_i + (I − c) σ²_e
    E R(raters | items)   = (N − I) σ²_r + (R − c) σ²_e

On complete data these are the mean squares of the analysis of variance, so the values are Shrout
and Fleiss's own. A negative component is not raised to 0, as it is not there either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from annotations.agreement.intervals import Jackknife
from annotations.agreement.tabulation import MISSING, FloatArray, IntArray, Tabulation
from common.estimates import Estimate, OwnJson

RELATIVE_ZERO = 1e-9
"""Variances that add up to less than this share of the scores' own are nothing but rounding."""
LEAST_SHARE = 1e-9
"""Two raters who share an item share 1 / its ratings; less is what rounding leaves of nothing."""


@dataclass(frozen=True, slots=True)
class IntraclassCorrelation(OwnJson):
    """ICC(2,1), ICC(2,k), and the k: the usual number of ratings an item has (0 where
    undefined)."""

    single: Estimate
    mean_of_k: Estimate
    k: int = 0

    @classmethod
    def undefined(cls, reason: str) -> IntraclassCorrelation:
        """Neither ICC, with the reason.

        Args:
            reason: why there is none, for the reader.

        Returns:
            Both coefficients undefined, and k = 0.
        """
        return cls(Estimate.undefined(reason), Estimate.undefined(reason))

    def as_json(self) -> dict[str, Any]:
        """Both coefficients, with the k where there is one."""
        mean_of_k = self.mean_of_k.as_json()
        if self.k:
            mean_of_k["k"] = self.k
        return {"icc2_1": self.single.as_json(), "icc2_k": mean_of_k}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> IntraclassCorrelation:
        """What ``as_json`` wrote."""
        single, mean_of_k = document["icc2_1"], document["icc2_k"]
        return cls(Estimate.from_json(single), Estimate.from_json(mean_of_k), mean_of_k.get("k", 0))


@dataclass(frozen=True)
class VarianceComponents:
    """σ² of items, raters and error; each float, one value a data set, NaN where it cannot be
    estimated."""

    items: FloatArray
    raters: FloatArray
    error: FloatArray

    def icc_of_mean(self, k: int) -> FloatArray:
        """The intraclass correlation of the mean of k ratings, ICC(2,k).

        Args:
            k: number of ratings, at least 1; ICC(2,1) for a single one.

        Returns:
            (data sets,) at most 1; NaN where the components are, or where the variance of a mean of
            k ratings is not positive.

        σ²_i / (σ²_i + (σ²_r + σ²_e) / k) (Shrout and Fleiss 1979, table 4).
        """
        noise = (self.raters + self.error) / k
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.items + noise > 0, self.items / (self.items + noise), np.nan)


def intraclass_correlation(table: Tabulation, jackknife: Jackknife) -> IntraclassCorrelation:
    """ICC(2,1) and ICC(2,k) under the two-way random-effects model, with their 95 % intervals.

    Args:
        table: the ratings, from ``tabulate``; a rater need not have judged every item.
        jackknife: which dialogues are left out, for the intervals; ``Jackknife.none`` for none.

    Returns:
        Both coefficients, at most 1, and negative where items differ less than by chance, with k,
        the usual number of ratings per item. Undefined with fewer than two raters, without an item
        that two raters judged, where all scores are equal, and where the raters share too few items
        to tell raters from error.

    ICC(2,1) = σ²_i / (σ²_i + σ²_r + σ²_e); ICC(2,k) = σ²_i / (σ²_i + (σ²_r + σ²_e) / k) (Shrout and
    Fleiss 1979, table 4), with the variance components estimated by fitting constants (Henderson
    1953, method 3). On complete data the values are Shrout and Fleiss's own.
    """
    k = table.usual_ratings_per_item
    if table.active_raters.size < 2:
        return IntraclassCorrelation.undefined("fewer than two raters")
    if k is None:
        return IntraclassCorrelation.undefined("no item was judged by two raters")
    if table.levels.size < 2:
        return IntraclassCorrelation.undefined("all scores are equal")
    tallies = _Tallies.by_dialogue(table)
    components = tallies.variance_components()
    replicates = tallies.variance_components_without_each(jackknife)
    single, mean_of_k = (
        jackknife.estimate(
            float(components.icc_of_mean(size)[0]),
            replicates.icc_of_mean(size),
            jackknife.group,
            if_undefined="the raters share too few items to estimate the variances of items, "
            "raters and error",
        )
        for size in (1, k)
    )
    return IntraclassCorrelation(single, mean_of_k, k)


@dataclass(frozen=True)
class _Tallies:
    """Sums from which the components follow; one row a data set (a dialogue, all but some,
    everything).

    ``common``: R² columns, Σ_i n_ir n_is / n_i, and n_ir is 1 where rater r judged item i.
    ``by_rater``: 3 R columns, the number, the sum and the sum of deviations from the item's mean of
    each rater's scores. ``overall``: the number of items, the sum of squared scores, the sum of
    squared deviations from the item's mean.
    """

    common: sparse.csr_array
    by_rater: FloatArray
    overall: FloatArray

    @classmethod
    def by_dialogue(cls, table: Tabulation) -> _Tallies:
        rated = (table.codes != MISSING).T
        # Deviations from the grand mean: the components do not change, and large scores lose no
        # digits.
        scores = np.where(rated, table.scores.T - np.nanmean(table.scores), 0.0)
        present = rated.astype(np.float64)
        ratings = present.sum(axis=1, keepdims=True)
        deviations = np.where(rated, scores - scores.sum(axis=1, keepdims=True) / ratings, 0.0)
        by_rater = np.concatenate([present, scores, deviations], axis=1)
        overall = np.column_stack(
            [np.ones(table.items), (scores**2).sum(axis=1), (deviations**2).sum(axis=1)]
        )
        return cls(
            _common_items(table, present / ratings),
            table.sum_by_dialogue(by_rater),
            table.sum_by_dialogue(overall),
        )

    def variance_components(self) -> VarianceComponents:
        number, _scores, deviation_sum = np.split(self.by_rater.sum(axis=0), 3)
        common = np.asarray(self.common.sum(axis=0), dtype=np.float64).reshape(number.size, -1)
        connected = _groups_of_raters(common)
        solution = np.linalg.solve(_normal_equations(number, common, connected), deviation_sum)
        reduction, rank = (
            np.array([solution @ deviation_sum]),
            np.array([number.size - connected.max() - 1.0]),
        )
        return _components(
            self.by_rater.sum(axis=0, keepdims=True),
            self.overall.sum(axis=0, keepdims=True),
            reduction,
            rank,
        )

    def variance_components_without_each(self, jackknife: Jackknife) -> VarianceComponents:
        """One of each replicate."""
        if not jackknife.replicates:
            return VarianceComponents(np.empty(0), np.empty(0), np.empty(0))
        by_rater = jackknife.sums(self.by_rater)
        left_out = sparse.csr_array(1.0 - jackknife.weights) @ self.common
        reduction, rank = _reductions_without_each(left_out, self.by_rater, by_rater)
        return _components(by_rater, jackknife.sums(self.overall), reduction, rank)


def _components(
    by_rater: FloatArray, overall: FloatArray, raters_given_items: FloatArray, rank: FloatArray
) -> VarianceComponents:
    """``raters_given_items``, ``rank``: R(raters | items) and its degrees of freedom R − c, of each
    data set."""
    number, score_sum, _deviations = np.split(by_rater, 3, axis=1)
    items, sum_of_squares, within_items = overall.T
    ratings = number.sum(axis=1)
    raters = (number > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        within_raters = sum_of_squares - np.where(number > 0, score_sum**2 / number, 0.0).sum(
            axis=1
        )
        residual = np.maximum(within_items - raters_given_items, 0.0)
        error = residual / (ratings - items - rank)
        of_items = (within_raters - residual - (items + rank - raters) * error) / (ratings - raters)
        of_raters = (raters_given_items - rank * error) / (ratings - items)
        estimable = (ratings - items - rank > 0) & (
            of_items + of_raters + error > RELATIVE_ZERO * sum_of_squares / ratings
        )
    return VarianceComponents(
        *(np.where(estimable, part, np.nan) for part in (of_items, of_raters, error))
    )


def _common_items(table: Tabulation, share: FloatArray) -> sparse.csr_array:
    """Σ_i n_ir n_is / n_i of each dialogue, flattened: dialogues × R². Sparse: most raters see few
    dialogues."""
    raters = len(table.raters)
    first_item = np.searchsorted(table.dialogue, np.arange(table.dialogues + 1))
    dialogues, cells, values = [], [], []
    for dialogue in range(table.dialogues):
        here = share[first_item[dialogue] : first_item[dialogue + 1]]
        judges = np.flatnonzero(here.any(axis=0))
        block = (here[:, judges] > 0).astype(np.float64).T @ here[:, judges]
        cells.append((judges[:, np.newaxis] * raters + judges).ravel())
        values.append(block.ravel())
        dialogues.append(np.full(block.size, dialogue))
    return sparse.csr_array(
        (np.concatenate(values), (np.concatenate(dialogues), np.concatenate(cells))),
        shape=(table.dialogues, raters * raters),
    )


def _groups_of_raters(common: FloatArray) -> IntArray:
    """(raters,) the number of the group, from 0, that items connect each rater to; ``common``:
    raters × raters."""
    return np.asarray(
        connected_components(sparse.csr_array(common > LEAST_SHARE), directed=False)[1],
        dtype=np.int64,
    )


def _normal_equations(number: FloatArray, common: FloatArray, connected: IntArray) -> FloatArray:
    """The matrix of the normal equations of raters with the items absorbed, made invertible; raters
    × raters.

    It is the Laplacian of the graph whose edges are common items: its rows add up to 0 within each
    group of raters that items connect, and nowhere else. A block of ones for each group does not
    touch the solution, since the deviations of a group add up to 0, too.
    """
    return np.asarray(np.diag(number) - common + (connected[:, np.newaxis] == connected))


def _reductions_without_each(
    left_out: sparse.csr_array, by_rater_of_dialogue: FloatArray, by_rater: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """R(raters | items) and R − c without each group of dialogues.

    ``left_out``: replicates × R², the common items that are left out. ``by_rater``: of what is
    left. Few raters judged what is left out, and the inverse for all items changes by their rows
    and columns alone (Woodbury 1950). Where a group of raters falls apart it is made anew.
    """
    number, _scores, deviation_sum = np.split(by_rater, 3, axis=1)
    replicates, raters = number.shape
    all_number = by_rater_of_dialogue[:, :raters].sum(axis=0)
    all_common = np.asarray(left_out.sum(axis=0), dtype=np.float64)
    graph = sparse.csr_array(all_common.reshape(raters, raters) > LEAST_SHARE)
    edges = np.flatnonzero(all_common > LEAST_SHARE)
    connected = _groups_of_raters(all_common.reshape(raters, raters))
    inverse = np.linalg.inv(
        _normal_equations(all_number, all_common.reshape(raters, raters), connected)
    )
    solved = deviation_sum @ inverse
    reduction = (solved * deviation_sum).sum(axis=1)
    rank = np.full(replicates, raters - connected.max() - 1.0)
    for one in range(replicates):
        here = slice(left_out.indptr[one], left_out.indptr[one + 1])
        cells, shares = left_out.indices[here], left_out.data[here]
        lost = cells[all_common[cells] - shares < LEAST_SHARE]
        remaining = graph.copy()
        remaining.data[np.searchsorted(edges, lost)] = False
        remaining.eliminate_zeros()
        groups, now = connected_components(remaining, directed=False)
        if groups > connected.max() + 1:
            common = all_common.copy()
            common[cells] -= shares
            equations = _normal_equations(number[one], common.reshape(raters, raters), now)
            reduction[one] = np.linalg.solve(equations, deviation_sum[one]) @ deviation_sum[one]
            rank[one] = raters - groups
            continue
        judges, index = np.unique(
            np.concatenate([cells // raters, cells % raters]), return_inverse=True
        )
        change = np.diag((all_number - number[one])[judges])
        change[index[: cells.size], index[cells.size :]] -= shares
        moved = change @ inverse[np.ix_(judges, judges)]
        step = np.linalg.solve(np.eye(judges.size) - moved, change @ solved[one, judges])
        reduction[one] += solved[one, judges] @ step
    return reduction, rank
