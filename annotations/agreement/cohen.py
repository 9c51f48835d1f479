"""Cohen's κ of two raters, on the items that both judged: unweighted, and with linear and quadratic weights.

κ_w = 1 − Σ w_ab o_ab / Σ w_ab e_ab, with the confusion matrix o and the one expected from its margins e (Cohen 1960,
equation 1; Cohen 1968, equation 8). The weight of a disagreement is 1, |a − b| or (a − b)², in the units of the
scale: on a scale in equal steps these are the usual weights over the full list of categories, and levels that
nobody used change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from annotations.agreement.intervals import Resampling
from annotations.agreement.tabulation import MISSING, FloatArray, IntArray, Tabulation
from annotations.estimates import Estimate

Weighting = Literal["unweighted", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)


@dataclass(frozen=True, slots=True)
class PairKappa:
    """κ of two raters, and on how many items both judged it stands."""

    raters: tuple[str, str]
    items: int
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class PairwiseKappa:
    """κ of every pair of raters, and the mean over the pairs for which it is defined (each pair counts once)."""

    mean: Estimate
    pairs: tuple[PairKappa, ...]

    @classmethod
    def undefined(cls, reason: str) -> PairwiseKappa:
        return cls(Estimate.undefined(reason), ())


def cohen_kappas(table: Tabulation, resampling: Resampling) -> dict[Weighting, PairwiseKappa]:
    """κ of all pairs of raters under the three weightings, each with its bootstrap interval; values in (−∞, 1].

    Undefined for a pair without a common item, or where both raters gave one and the same score throughout (0/0).
    The mean of a resample is over the pairs that are defined in that resample.
    """
    if table.active_raters.size < 2:
        return {weighting: PairwiseKappa.undefined("fewer than two raters") for weighting in WEIGHTINGS}
    weights = _disagreement_weights(table.levels)
    pairs: dict[Weighting, list[PairKappa]] = {weighting: [] for weighting in WEIGHTINGS}
    mean_of_resample = {weighting: _RunningMean(resampling.resamples) for weighting in WEIGHTINGS}
    for first, second in combinations(table.active_raters, 2):
        common = (table.codes[first] != MISSING) & (table.codes[second] != MISSING)
        shared_dialogues, dialogue = np.unique(table.dialogue[common], return_inverse=True)
        tallies = _tallies_by_dialogue(
            dialogue, shared_dialogues.size, table.codes[first, common], table.codes[second, common], weights
        )
        values = _kappas_of(tallies.sum(axis=0, keepdims=True), weights)
        replicates = _kappas_of(resampling.sums(tallies, shared_dialogues), weights)
        for index, weighting in enumerate(WEIGHTINGS):
            kappa = (
                resampling.estimate(
                    float(values[index, 0]),
                    replicates[index],
                    shared_dialogues.size,
                    if_undefined="both raters gave one and the same score to all common items",
                )
                if common.any()
                else Estimate.undefined("the two raters judged no item in common")
            )
            names = (table.raters[first], table.raters[second])
            pairs[weighting].append(PairKappa(names, int(common.sum()), kappa))
            if kappa.is_defined:
                mean_of_resample[weighting].add(replicates[index])
    return {
        weighting: PairwiseKappa(
            _mean_kappa(table, resampling, pairs[weighting], mean_of_resample[weighting].values()),
            tuple(pairs[weighting]),
        )
        for weighting in WEIGHTINGS
    }


class _RunningMean:
    """The mean of each resample over the pairs defined in it, without holding all pairs' replicates."""

    def __init__(self, resamples: int) -> None:
        self._sum = np.zeros(resamples)
        self._pairs = np.zeros(resamples)

    def add(self, replicates: FloatArray) -> None:
        defined = ~np.isnan(replicates)
        self._sum[defined] += replicates[defined]
        self._pairs += defined

    def values(self) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self._sum / self._pairs)


def _mean_kappa(
    table: Tabulation, resampling: Resampling, pairs: Sequence[PairKappa], replicates: FloatArray
) -> Estimate:
    defined = [pair.kappa.value for pair in pairs if pair.kappa.value is not None]
    if not defined:
        reasons = sorted({pair.kappa.reason for pair in pairs})
        return Estimate.undefined("κ is undefined for every pair of raters: " + "; ".join(reasons))
    shared = table.ratings_of_item >= 2
    return resampling.estimate(float(np.mean(defined)), replicates, table.dialogues_of(shared), if_undefined="")


def _disagreement_weights(levels: FloatArray) -> FloatArray:
    """Weights of a disagreement between two levels; weightings × V × V."""
    distance = np.abs(levels[:, np.newaxis] - levels[np.newaxis, :])
    return np.stack([(distance > 0).astype(np.float64), distance, distance**2])


def _tallies_by_dialogue(
    dialogue: IntArray, dialogues: int, by_first: IntArray, by_second: IntArray, weights: FloatArray
) -> FloatArray:
    """All that κ needs of a dialogue, as sums over the items that both raters judged: their number, the observed
    disagreement under each weighting, and how often each rater gave each level; dialogues × (1 + weightings + 2 V).
    """
    levels = weights.shape[1]

    def margin(codes: IntArray) -> FloatArray:
        cells = np.bincount(dialogue * levels + codes, minlength=dialogues * levels)
        return cells.reshape(dialogues, levels).astype(np.float64)

    columns: list[FloatArray] = [np.bincount(dialogue, minlength=dialogues)[:, np.newaxis].astype(np.float64)]
    for weight in weights:
        disagreement = np.bincount(dialogue, weights=weight[by_first, by_second], minlength=dialogues)
        columns.append(disagreement[:, np.newaxis].astype(np.float64))
    return np.concatenate([*columns, margin(by_first), margin(by_second)], axis=1)


def _kappas_of(tallies: FloatArray, weights: FloatArray) -> FloatArray:
    """κ under each weighting of each of many tallies; weightings × tallies, NaN where chance disagreement is 0."""
    levels = weights.shape[1]
    items = tallies[:, 0]
    observed = tallies[:, 1 : 1 + len(weights)].T
    first, second = tallies[:, -2 * levels : -levels], tallies[:, -levels:]
    expected = np.stack([((first @ weight) * second).sum(axis=1) for weight in weights])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1.0 - observed * items / expected, np.nan)
