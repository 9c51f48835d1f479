"""Leave-one-out agreement: how well one rater agrees with the mean of the others, at the level of
metrics.

Each rater's scores are correlated with the mean of the other raters' scores on the same responses,
and the coefficients are averaged over raters. It is no ceiling of a metric (see ``human_ceiling``):
one rater is noisier than a metric may be.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotations.agreement.cross_table import correlations_of_replicates, has_few_cells
from annotations.agreement.matrix import RatingMatrix
from common.correlation import COEFFICIENTS, THREADS, Redraws, correlation_replicates
from common.correlation.scores import DIGITS_OF_PARTS, round_off, why_undefined
from common.estimates import Estimate
from leaderboard.statistics.correlation.human_ceiling import LEVELS, CeilingLevel
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    IntArray,
    SystemSums,
    system_sums,
)
from leaderboard.statistics.correlation.resampling import Method
from leaderboard.statistics.correlation.rowwise import (
    compiled_rows,
    correlate_rows,
    fixed_side,
    mean_of_defined,
)
from leaderboard.statistics.design import Design


@dataclass(frozen=True)
class _LeftOut:
    """One rater and the mean of the others, on the items that both judged."""

    rater: FloatArray
    others: FloatArray
    system: IntArray
    dialogue: IntArray


@dataclass(frozen=True)
class _RaterCorrelation:
    points: dict[str, Estimate]
    replicates: dict[str, FloatArray] | None


def leave_one_out_agreement(
    matrix: RatingMatrix,
    system_of_item: ArrayLike,
    levels: tuple[CeilingLevel, ...] = LEVELS,
    resamples: int = 1000,
    seed: int = 0,
    method: Method = "jackknife",
) -> dict[CeilingLevel, dict[str, Estimate]]:
    """Correlation of each rater with the mean of the other raters, averaged over raters.

    The others' means are taken over the same items as the rater's.

    Args:
        matrix: Raters × items, NaN where a rater did not judge an item.
        system_of_item: (items,) system numbers from 0.
        levels: "turn" compares the items as they are, "dialogue" a rater's mean over the turns of a
            system's dialogue, "system" the mean over all of a system's items. For ratings that were
            given to whole dialogues ask for "dialogue" and "system" only.
        resamples: Bootstrap draws of dialogues; 0: no intervals.
        seed: The same seed gives the same draws.
        method: How the intervals are made, as in ``Recipe``. ρ and τ-b of systems have percentiles
            in either case, since ranks of systems jump where one dialogue is left out.

    Returns:
        By level and coefficient ("pearson", "spearman", "kendall"): the mean over raters, in [-1,
        1], with a 95 % interval over dialogues. Raters with fewer than 3 pairs, or with one value
        only, are left out of the mean, which is undefined where none is left, with fewer than 2
        raters, and for raters who are not identified persons. No p: the mean of several dependent
        coefficients has none.
    """
    if reason := _why_no_persons(matrix):
        return {level: dict.fromkeys(COEFFICIENTS, Estimate.undefined(reason)) for level in levels}
    system = np.asarray(system_of_item, dtype=np.int64)
    dialogues, dialogue = np.unique(matrix.dialogue_of_item, return_inverse=True)
    judged = (~np.isnan(matrix.scores)).any(axis=0)
    systems = int(system.max(initial=0)) + 1
    strata = Design.of([(system[judged], dialogue[judged])], systems, len(dialogues)).strata
    draws = _Draws.of(len(dialogues), resamples, seed, method, strata)
    left_out = [
        _left_out(matrix.scores, row, system, dialogue) for row in range(len(matrix.scores))
    ]
    used = np.zeros(len(dialogues), dtype=bool)
    used[dialogue[(~np.isnan(matrix.scores)).sum(axis=0) > 1]] = True
    with ThreadPoolExecutor(THREADS) as pool:
        return {
            level: _mean_over_raters(
                list(
                    pool.map(
                        lambda one, level=level: _correlation(
                            one, level, len(dialogues), draws.weights(level)
                        ),
                        left_out,
                    )
                ),
                level,
                draws,
                used,
            )
            for level in levels
        }


@dataclass(frozen=True)
class _Draws:
    """The jackknife's or the bootstrap's draws of dialogues; where ranks of systems need both, one
    after the other."""

    dialogues: int
    main: Redraws | None
    of_ranks: Redraws | None

    @classmethod
    def of(
        cls,
        dialogues: int,
        resamples: int,
        seed: int,
        method: Method,
        strata: IntArray | None = None,
    ) -> _Draws:
        if not resamples:
            return cls(dialogues, None, None)
        bootstrap = Redraws.bootstrap(dialogues, resamples, seed, strata)
        return cls(
            dialogues,
            bootstrap if method == "percentile" else Redraws.jackknife(dialogues),
            bootstrap,
        )

    def weights(self, level: CeilingLevel) -> FloatArray:
        """(1 + replicates, dialogues): every dialogue once, then the draws. So the coefficient of
        the data comes out beside those of the draws, and nobody computes p-values that no mean over
        raters could use."""
        used = [one.weights for one in self._of(level) if one is not None]
        return np.vstack((np.ones((1, self.dialogues)), *used))

    def interval(
        self,
        point: Estimate,
        replicates: FloatArray,
        name: str,
        level: CeilingLevel,
        used: NDArray[np.bool_],
    ) -> Estimate:
        if self.main is None:
            return point
        of_main = len(self.main.weights)
        if level == "system" and name != "pearson" and self.of_ranks is not None:
            return self.of_ranks.with_interval(
                point, replicates[-len(self.of_ranks.weights) :], used
            )
        return self.main.with_interval(point, replicates[:of_main], used)

    def _of(self, level: CeilingLevel) -> tuple[Redraws | None, ...]:
        return (
            (self.main, self.of_ranks)
            if level == "system" and self.main is not self.of_ranks
            else (self.main,)
        )


def _why_no_persons(matrix: RatingMatrix) -> str:
    if matrix.rater_kind == "aggregate":
        return "the corpus holds mean scores, not raters"
    if matrix.rater_kind == "anonymous":
        return (
            "raters are anonymous, and a place in the list is not a person that could be left out"
        )
    if len(matrix.scores) < 2:
        return f"leaving one rater out needs at least 2 raters, there are {len(matrix.scores)}"
    return ""


def _left_out(scores: FloatArray, row: int, system: IntArray, dialogue: IntArray) -> _LeftOut:
    others = np.delete(scores, row, axis=0)
    judging_others = (~np.isnan(others)).sum(axis=0)
    both = ~np.isnan(scores[row]) & (judging_others > 0)
    mean_of_others = round_off(
        np.nansum(others[:, both], axis=0) / judging_others[both], DIGITS_OF_PARTS
    )
    return _LeftOut(scores[row, both], mean_of_others, system[both], dialogue[both])


def _correlation(
    left_out: _LeftOut, level: CeilingLevel, dialogues: int, weights: FloatArray
) -> _RaterCorrelation:
    if level == "system":
        return _system_correlation(left_out, dialogues, weights)
    rater, others, dialogue = left_out.rater, left_out.others, left_out.dialogue
    if level == "dialogue":
        rater_sums, other_sums = _sums_of_both(left_out, dialogues)
        judged = rater_sums.count > 0
        rater, others = rater_sums.dialogue_means()[judged], other_sums.dialogue_means()[judged]
        dialogue = np.nonzero(judged)[1]
    if reason := why_undefined(others, rater):
        return _undefined(reason)
    correlations = (
        correlations_of_replicates if has_few_cells(others, rater) else correlation_replicates
    )
    return _point_and_replicates(correlations(others, rater, dialogue, weights))


def _system_correlation(
    left_out: _LeftOut, dialogues: int, weights: FloatArray
) -> _RaterCorrelation:
    rater_sums, other_sums = _sums_of_both(left_out, dialogues)
    judged = rater_sums.count.sum(axis=1) > 0
    if reason := why_undefined(other_sums.means()[judged], rater_sums.means()[judged]):
        return _undefined(reason)
    drawn = rater_sums.resampled_counts(weights)  # both judged the same items
    redrawn_others = fixed_side(other_sums.resampled_means(weights, drawn)[:, judged])
    redrawn_rater = compiled_rows(rater_sums.resampled_means(weights, drawn)[:, judged])
    return _point_and_replicates(correlate_rows(redrawn_others, redrawn_rater))


def _undefined(reason: str) -> _RaterCorrelation:
    return _RaterCorrelation(dict.fromkeys(COEFFICIENTS, Estimate.undefined(reason)), None)


def _point_and_replicates(found: dict[str, FloatArray]) -> _RaterCorrelation:
    points = {name: Estimate(value=float(values[0])) for name, values in found.items()}
    replicates = (
        {name: values[1:] for name, values in found.items()} if len(found["pearson"]) > 1 else None
    )
    return _RaterCorrelation(points, replicates)


def _sums_of_both(left_out: _LeftOut, dialogues: int) -> tuple[SystemSums, SystemSums]:
    systems = int(left_out.system.max()) + 1 if len(left_out.system) else 0
    places = (left_out.system, left_out.dialogue, systems, dialogues)
    return system_sums(left_out.rater, *places), system_sums(left_out.others, *places)


def _mean_over_raters(
    raters: list[_RaterCorrelation], level: CeilingLevel, draws: _Draws, used: NDArray[np.bool_]
) -> dict[str, Estimate]:
    return {name: _mean_of_one(raters, name, level, draws, used) for name in COEFFICIENTS}


def _mean_of_one(
    raters: list[_RaterCorrelation],
    name: str,
    level: CeilingLevel,
    draws: _Draws,
    used: NDArray[np.bool_],
) -> Estimate:
    values = [rater.points[name].value for rater in raters]
    defined = [value for value in values if value is not None]
    if not defined:
        reasons = sorted({_in_terms_of_raters(rater.points[name].reason) for rater in raters})
        return Estimate.undefined("; ".join(reasons))
    point = Estimate(value=float(np.mean(defined)))
    replicates = [rater.replicates[name] for rater in raters if rater.replicates is not None]
    return (
        draws.interval(point, mean_of_defined(np.array(replicates)), name, level, used)
        if replicates
        else point
    )


def _in_terms_of_raters(reason: str) -> str:
    """The coefficient speaks of a human and a metric side; here these are the other raters and the
    one left out."""
    return {
        "all human scores are equal": "the other raters' mean scores are all equal",
        "all metric scores are equal": "all scores of the rater are equal",
    }.get(reason, reason)
