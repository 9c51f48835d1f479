"""The human means of systems, ready to be correlated with metrics' means, with intervals of every
kind."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from common.correlation import (
    COEFFICIENTS,
    Redraws,
    correlation_estimates,
    percentile_interval,
    percentile_p,
)
from common.correlation.resampling import IN_ONE_DIALOGUE
from common.estimates import Estimate, Undefined
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, SystemSums
from leaderboard.statistics.correlation.resampling import (
    FEWEST_SYSTEMS,
    TOO_FEW,
    Recipe,
    both_resamples,
    of_clusters,
)
from leaderboard.statistics.correlation.rowwise import (
    FixedScores,
    compiled_rows,
    correlate_rows,
    fixed_side,
)
from leaderboard.statistics.correlation.true_means import (
    SeenMeans,
    plausible_means,
    plausible_scores,
)

RANKS = ("spearman", "kendall")
ONE_DIALOGUE = "an interval over dialogues needs at least 2 dialogues"


class SystemMeans:
    """Human means of the systems that are compared, for correlation with many metrics' means.

    What metrics share is computed once: the resamples, the human means in each and the signs of all
    their pairs.

    Args:
        human: sums of the systems.
        recipe: how intervals are computed.
        strata: (dialogues,) numbers from 0, within which dialogues are resampled
            (``Design.strata``); None: all together.
    """

    def __init__(self, human: SystemSums, recipe: Recipe, strata: IntArray | None = None) -> None:
        self.human, self.recipe, self.strata = human, recipe, strata
        self.means = human.means()
        self.systems, self.dialogues = human.count.shape
        self.rated = human.count.sum(axis=0) > 0
        """(dialogues,)"""

    def correlated(
        self, metric_means: FloatArray, metric: SystemSums | None
    ) -> dict[str, Estimate]:
        """Correlations of a metric with the human means over systems.

        Args:
            metric_means: (systems,), finite.
            metric: the sums that they are computed from; None where the metric has scores of
                systems only, which are then the same in every resample of dialogues.

        Returns:
            {"pearson", "spearman", "kendall": Estimate}, with p where there are systems enough
            (``Recipe.why_no_p``), and the recipe's 95 % interval; over dialogues, or over both,
            without one where fewer than 2 dialogues are rated.
        """
        found = self._with_intervals(metric_means, metric)
        why = self.recipe.why_no_p("system", self.systems)
        if not why:
            return found
        return {
            name: replace(one, p=None, p_reason=why) if one.is_defined else one
            for name, one in found.items()
        }

    def _with_intervals(
        self, metric_means: FloatArray, metric: SystemSums | None
    ) -> dict[str, Estimate]:
        index = np.arange(self.systems, dtype=np.int64)
        if self.recipe.unit == "systems":
            redraws = (
                of_clusters(self.recipe, self.systems)
                if self.recipe.resamples and self.systems
                else None
            )
            return correlation_estimates(self.means, metric_means, index, redraws)
        points = correlation_estimates(self.means, metric_means, np.zeros_like(index))
        if not self.recipe.resamples or not points["pearson"].is_defined:
            return points
        if self.recipe.unit == "both":
            return self._over_both(points, metric_means, metric)
        if self.rated.sum() < 2:
            return {name: _without(points[name], ONE_DIALOGUE) for name in COEFFICIENTS}
        if self.recipe.is_jackknife:
            return self._by_jackknife(points, metric_means, metric)
        return self._by_percentiles(points, metric_means, metric)

    def _by_percentiles(
        self, points: dict[str, Estimate], metric_means: FloatArray, metric: SystemSums | None
    ) -> dict[str, Estimate]:
        redrawn = _redrawn(metric_means, metric, self._bootstrap.weights)
        replicates = correlate_rows(self._bootstrap_scores, compiled_rows(redrawn))
        return {
            name: self._bootstrap.with_interval(points[name], replicates[name], self.rated)
            for name in COEFFICIENTS
        }

    def _by_jackknife(
        self, points: dict[str, Estimate], metric_means: FloatArray, metric: SystemSums | None
    ) -> dict[str, Estimate]:
        left_out = _redrawn(metric_means, metric, self._jackknife.weights)
        if self.systems < FEWEST_SYSTEMS:
            return {
                **self._by_percentiles(points, metric_means, metric),
                "pearson": self._pearson_by_jackknife(points["pearson"], left_out, metric),
            }
        if np.isnan(self._human_left_out).any() or np.isnan(left_out).any():
            return {name: _without(points[name], IN_ONE_DIALOGUE) for name in COEFFICIENTS}
        seen = SeenMeans(
            self.means,
            metric_means,
            self._human_left_out,
            left_out,
            (self._groups_of_each(self.human), self._groups_of_each(metric or self.human)),
            int(((1 - self._jackknife.weights) @ self.rated > 0).sum()),
        )
        return _by_plausible_means(points, seen, self.recipe)

    def _pearson_by_jackknife(
        self, point: Estimate, left_out: FloatArray, metric: SystemSums | None
    ) -> Estimate:
        """Around the mean of the pseudo-values. ``left_out``: (groups, systems) of the metric."""
        return self._jackknife.with_interval(
            point,
            _pearson_of_rows(self._human_left_out, left_out),
            self.rated if metric is None else self.rated | (metric.count.sum(axis=0) > 0),
            corrected=True,
            degrees=int(self.rated.sum()) - 1,
        )

    def _over_both(
        self, points: dict[str, Estimate], metric_means: FloatArray, metric: SystemSums | None
    ) -> dict[str, Estimate]:
        if self.rated.sum() < 2:
            return {name: _without(points[name], TOO_FEW) for name in COEFFICIENTS}
        of_systems, of_dialogues = both_resamples(
            self.recipe, self.systems, self.dialogues, self.strata
        )
        every = np.tile(np.arange(self.systems), len(of_systems))
        drawn = np.repeat(every, of_systems.ravel().astype(np.int64)).reshape(of_systems.shape)
        human_means = np.take_along_axis(self.human.resampled_means(of_dialogues), drawn, axis=1)
        redrawn = np.broadcast_to(_redrawn(metric_means, metric, of_dialogues), of_systems.shape)
        metric_side = compiled_rows(np.take_along_axis(redrawn, drawn, axis=1))
        replicates = correlate_rows(fixed_side(human_means), metric_side)
        redraws = Redraws(of_dialogues, is_jackknife=False)
        return {
            name: redraws.with_interval(points[name], replicates[name], self.rated)
            for name in COEFFICIENTS
        }

    def _groups_of_each(self, sums: SystemSums) -> IntArray:
        """(systems,) how many of those that are left out, dialogues or groups of them, hold scores
        of the system."""
        held = (1 - self._jackknife.weights) @ sums.count.T > 0
        return np.asarray(held.sum(axis=0), dtype=np.int64)

    @cached_property
    def _jackknife(self) -> Redraws:
        return Redraws.jackknife(self.dialogues)

    @cached_property
    def _human_left_out(self) -> FloatArray:
        return self.human.resampled_means(self._jackknife.weights)

    @cached_property
    def _bootstrap(self) -> Redraws:
        return Redraws.bootstrap(
            self.dialogues, self.recipe.resamples, self.recipe.seed, self.strata
        )

    @cached_property
    def _bootstrap_scores(self) -> FixedScores:
        return fixed_side(self.human.resampled_means(self._bootstrap.weights))


def _redrawn(
    metric_means: FloatArray, metric: SystemSums | None, weights: FloatArray
) -> FloatArray:
    """(replicates, systems); one row where nothing of the metric is drawn anew."""
    return metric_means[None] if metric is None else metric.resampled_means(weights)


def _by_plausible_means(
    points: dict[str, Estimate], seen: SeenMeans, recipe: Recipe
) -> dict[str, Estimate]:
    """ρ and τ from the lower of the ends that means and that their normal scores find, to the
    higher: means take what parts groups of systems for what parts systems, scores take two that
    nearly tie for a rank apart."""
    means = plausible_means(seen, recipe.resamples, recipe.seed)
    if isinstance(means, Undefined):
        return {name: _without(points[name], means.reason) for name in COEFFICIENTS}
    of_means = correlate_rows(fixed_side(means[0]), compiled_rows(means[1]))
    scores = plausible_scores(seen, recipe.resamples, recipe.seed)
    of_scores: dict[str, FloatArray] = {}
    # Where both sides order systems alike, they leave nothing to draw from
    if not isinstance(scores, Undefined):
        of_scores = correlate_rows(fixed_side(scores[0]), compiled_rows(scores[1]), RANKS)
    return {
        name: _between_percentiles(points[name], of_means[name], of_scores.get(name))
        for name in COEFFICIENTS
    }


def _pearson_of_rows(human: FloatArray, metric: FloatArray) -> FloatArray:
    """(rows,); NaN where a row of either side is constant or holds no mean of a system."""
    sides = [one - one.mean(axis=1, keepdims=True) for one in (human, metric)]
    norms = [
        np.where(
            one.max(axis=1) > one.min(axis=1), np.sqrt(np.einsum("rs,rs->r", side, side)), np.nan
        )
        for one, side in zip((human, metric), sides, strict=True)
    ]
    products: FloatArray = np.einsum("rs,rs->r", *np.broadcast_arrays(*sides)) / norms[0] / norms[1]
    return np.clip(products, -1.0, 1.0)


def _between_percentiles(
    point: Estimate, of_means: FloatArray, of_scores: FloatArray | None
) -> Estimate:
    """The central 95 % of the draws; of two models from the lower of the low ends to the higher of
    the high ones, and the higher p."""
    found = percentile_interval(of_means)
    if isinstance(found, Undefined):
        return _without(point, found.reason)
    low, high = found
    p = percentile_p(of_means)
    other = percentile_interval(of_scores) if of_scores is not None else found
    if of_scores is not None and not isinstance(other, Undefined):
        low, high = min(low, other[0]), max(high, other[1])
        p = max(p, percentile_p(of_scores))
    return Estimate(point.value, (low, high), p)


def _without(point: Estimate, reason: str) -> Estimate:
    return point if point.value is None else Estimate(point.value, p=point.p, reason=reason)
