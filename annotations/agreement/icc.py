"""Intraclass correlation under the two-way random-effects model, also where each rater judged only some items.

score = μ + item + rater + error. ICC(2,1) = σ²_i / (σ²_i + σ²_r + σ²_e) is the agreement of two single ratings,
ICC(2,k) = σ²_i / (σ²_i + (σ²_r + σ²_e) / k) that of two means of k ratings (Shrout and Fleiss 1979, table 4; McGraw and
Wong 1996 call them ICC(A,1) and ICC(A,k)).

The variance components are estimated by fitting constants (Henderson 1953, method 3; Searle, Casella and McCulloch
1992, section 5.5): the reductions in sum of squares R(items | raters) and R(raters | items) and the residual are set
equal to their expectations, which are exact for any pattern of missing ratings. With N ratings of I items by R
raters, and c the number of groups of raters that no common item connects:

    E residual            = (N − I − R + c) σ²_e
    E R(items | raters)   = (N − R) σ²_i + (I − c) σ²_e
    E R(raters | items)   = (N − I) σ²_r + (R − c) σ²_e

On complete data these are the mean squares of the analysis of variance, so the values are Shrout and Fleiss's own.
A negative component is not raised to 0, as it is not there either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from annotations.agreement.intervals import Resampling
from annotations.agreement.tabulation import MISSING, FloatArray, Tabulation
from annotations.estimates import Estimate

RELATIVE_ZERO = 1e-9
"""An eigenvalue below this share of the largest is zero: the number of such counts the groups of raters."""
CELLS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True)
class IntraclassCorrelation:
    """ICC(2,1), ICC(2,k), and the k: the usual number of ratings an item has (0 where undefined)."""

    single: Estimate
    mean_of_k: Estimate
    k: int = 0

    @classmethod
    def undefined(cls, reason: str) -> IntraclassCorrelation:
        return cls(Estimate.undefined(reason), Estimate.undefined(reason))


@dataclass(frozen=True)
class VarianceComponents:
    """σ² of items, raters and error; each float, one value a data set, NaN where it cannot be estimated."""

    items: FloatArray
    raters: FloatArray
    error: FloatArray

    def icc_of_mean(self, k: int) -> FloatArray:
        """ICC(2,k); NaN where the variance of a mean of k ratings is not positive."""
        noise = (self.raters + self.error) / k
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.items + noise > 0, self.items / (self.items + noise), np.nan)


def intraclass_correlation(table: Tabulation, resampling: Resampling) -> IntraclassCorrelation:
    """ICC(2,1) and ICC(2,k) with bootstrap intervals; at most 1, and negative where items differ less than by chance.

    Undefined with fewer than two raters, where all scores are equal, and where the raters share too few items to
    tell raters from error.
    """
    k = table.usual_ratings_per_item
    if table.active_raters.size < 2:
        return IntraclassCorrelation.undefined("fewer than two raters")
    if k is None:
        return IntraclassCorrelation.undefined("no item was judged by two raters")
    if table.levels.size < 2:
        return IntraclassCorrelation.undefined("all scores are equal")
    tallies = _Tallies.by_dialogue(table)
    components = tallies.total().variance_components()
    replicates = _components_of_resamples(tallies, resampling)
    single, mean_of_k = (
        resampling.estimate(
            float(components.icc_of_mean(size)[0]),
            replicates.icc_of_mean(size),
            table.dialogues,
            if_undefined="the raters share too few items to estimate the variances of items, raters and error",
        )
        for size in (1, k)
    )
    return IntraclassCorrelation(single, mean_of_k, k)


@dataclass(frozen=True)
class _Tallies:
    """Sums from which the components follow; one row a data set (a dialogue, a resample, everything).

    ``common``: R² columns, Σ_i n_ir n_is / n_i, and n_ir is 1 where rater r judged item i. ``by_rater``: 3 R columns,
    the number, the sum and the sum of deviations from the item's mean of each rater's scores. ``overall``: the number
    of items, the sum of squared scores, the sum of squared deviations from the item's mean.
    """

    common: FloatArray | sparse.csr_array
    by_rater: FloatArray
    overall: FloatArray

    @classmethod
    def by_dialogue(cls, table: Tabulation) -> _Tallies:
        rated = (table.codes != MISSING).T
        # Deviations from the grand mean: the components do not change, and large scores lose no digits.
        scores = np.where(rated, table.scores.T - np.nanmean(table.scores), 0.0)
        present = rated.astype(np.float64)
        ratings = present.sum(axis=1, keepdims=True)
        deviations = np.where(rated, scores - scores.sum(axis=1, keepdims=True) / ratings, 0.0)
        by_rater = np.concatenate([present, scores, deviations], axis=1)
        overall = np.column_stack([np.ones(table.items), (scores**2).sum(axis=1), (deviations**2).sum(axis=1)])
        return cls(
            _common_items(table, present / ratings), table.sum_by_dialogue(by_rater), table.sum_by_dialogue(overall)
        )

    def total(self) -> _Tallies:
        common = np.asarray(self.common.sum(axis=0), dtype=np.float64).reshape(1, -1)
        return _Tallies(common, self.by_rater.sum(axis=0, keepdims=True), self.overall.sum(axis=0, keepdims=True))

    def variance_components(self) -> VarianceComponents:
        number, score_sum, deviation_sum = np.split(self.by_rater, 3, axis=1)
        items, sum_of_squares, within_items = self.overall.T
        ratings = number.sum(axis=1)
        raters = (number > 0).sum(axis=1)
        raters_given_items, rank = _reduction_by_raters(self.common, number, deviation_sum)
        with np.errstate(invalid="ignore", divide="ignore"):
            within_raters = sum_of_squares - np.where(number > 0, score_sum**2 / number, 0.0).sum(axis=1)
            residual = np.maximum(within_items - raters_given_items, 0.0)
            error = residual / (ratings - items - rank)
            of_items = (within_raters - residual - (items + rank - raters) * error) / (ratings - raters)
            of_raters = (raters_given_items - rank * error) / (ratings - items)
            estimable = (ratings - items - rank > 0) & (
                of_items + of_raters + error > RELATIVE_ZERO * sum_of_squares / ratings
            )
        return VarianceComponents(*(np.where(estimable, part, np.nan) for part in (of_items, of_raters, error)))


def _common_items(table: Tabulation, share: FloatArray) -> sparse.csr_array:
    """Σ_i n_ir n_is / n_i of each dialogue, flattened: dialogues × R². Sparse: most raters see few dialogues."""
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


def _reduction_by_raters(
    common: FloatArray | sparse.csr_array, number: FloatArray, deviation_sum: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """R(raters | items) and its degrees of freedom R − c, from the normal equations with the items absorbed."""
    raters = number.shape[1]
    absorbed = -np.asarray(common).reshape(-1, raters, raters)
    absorbed[:, np.arange(raters), np.arange(raters)] += number
    values, vectors = np.linalg.eigh(absorbed)
    nonzero = values > RELATIVE_ZERO * np.maximum(values[:, -1:], 1.0)
    projected = np.matmul(deviation_sum[:, np.newaxis, :], vectors)[:, 0, :]
    reduction = np.where(nonzero, projected**2 / np.where(nonzero, values, 1.0), 0.0).sum(axis=1)
    return reduction, nonzero.sum(axis=1).astype(np.float64)


def _components_of_resamples(tallies: _Tallies, resampling: Resampling) -> VarianceComponents:
    step = max(1, CELLS_AT_A_TIME // tallies.common.shape[1])
    parts = [
        _Tallies(
            *(part.sums(sums) for sums in (tallies.common, tallies.by_rater, tallies.overall))
        ).variance_components()
        for part in resampling.slices(step)
    ]
    if not parts:
        return VarianceComponents(np.empty(0), np.empty(0), np.empty(0))
    return VarianceComponents(
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.raters for part in parts]),
        np.concatenate([part.error for part in parts]),
    )
