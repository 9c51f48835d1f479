"""Every interval holds its own value: all statistics that have one, on many shapes of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.campaigns.rater_statistics.others import beside_others
from common.estimates import BESIDE_ITS_INTERVAL, Estimate, Undefined
from leaderboard.statistics.correlation.grouped import within_dialogues, within_systems
from leaderboard.statistics.correlation.leave_one_out import leave_one_out_agreement
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
from leaderboard.statistics.correlation.metric_by_metric import correlate_metrics
from leaderboard.statistics.correlation.pairwise_accuracy import pairwise_accuracy_over_dialogues
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.correlation.reliability import corrected_for_unreliability, split_half
from leaderboard.statistics.correlation.tie_calibrated_accuracy import tie_calibrated_accuracies
from leaderboard.statistics.judges.standardised_gaps import (
    Gaps,
    difference_of_means,
    mean_gap,
    standardised_gaps,
)
from leaderboard.statistics.judges.verbosity import with_covariate
from leaderboard.statistics.ranking.system_ranking import rank_systems
from leaderboard.statistics.share_over_dialogues import share_over_dialogues
from leaderboard.statistics.significance.correlation_difference import (
    difference_over_items,
    difference_over_systems,
)
from leaderboard.statistics.significance.system_differences import compare_systems

DRAWS = 200


@dataclass(frozen=True)
class Shape:
    """``ratings``: raters × items, NaN where missing; ``metrics``: two × items; ``system``,
    ``dialogue``: (items,)."""

    ratings: np.ndarray
    metrics: np.ndarray
    system: np.ndarray
    dialogue: np.ndarray

    @property
    def human(self) -> np.ndarray:
        given = ~np.isnan(self.ratings)
        total = np.where(given, self.ratings, 0.0).sum(axis=0)
        return np.divide(
            total, given.sum(axis=0), out=np.full(total.shape, np.nan), where=given.any(axis=0)
        )

    @property
    def matrix(self) -> RatingMatrix:
        return RatingMatrix(
            self.ratings, self.dialogue, tuple(f"r{row:03}" for row in range(len(self.ratings)))
        )

    @property
    def systems(self) -> int:
        return int(self.system.max()) + 1

    def placed(self, scores: np.ndarray) -> PlacedScores:
        return PlacedScores(scores, self.system, self.dialogue)


def made(
    seed: int,
    *,
    raters: int = 3,
    systems: int = 5,
    dialogues: int = 12,
    turns: int = 2,
    spread: float = 0.6,
) -> Shape:
    """``systems`` in each of ``dialogues``, rated 1 … 5; the second metric is worse than the
    first."""
    random = np.random.default_rng(seed)
    system = np.repeat(np.arange(systems), dialogues * turns)
    dialogue = np.tile(np.repeat(np.arange(dialogues), turns), systems)
    quality = random.normal(0, spread, systems)[system] + random.normal(0, 0.7, system.size)
    ratings = np.clip(np.round(3 + quality + random.normal(0, 0.6, (raters, system.size))), 1, 5)
    metrics = np.stack([quality + random.normal(0, noise, system.size) for noise in (0.5, 1.5)])
    return Shape(ratings, metrics, system, dialogue)


def sparse(shape: Shape, per_item: int, seed: int = 0) -> Shape:
    """Each item keeps the ratings of so many raters, at random."""
    keys = np.random.default_rng(seed).random(shape.ratings.shape)
    chosen = np.argsort(np.argsort(keys, axis=0), axis=0) < per_item
    return replace(shape, ratings=np.where(chosen, shape.ratings, np.nan))


def nested(shape: Shape) -> Shape:
    """Each system has dialogues of its own."""
    own = np.unique(shape.system * 1000 + shape.dialogue, return_inverse=True)[1]
    return replace(shape, dialogue=own)


def level_of_each_dialogue(seed: int) -> Shape:
    """Each dialogue has one score of its own: draws always miss some, and find less to agree on."""
    shape = made(seed, dialogues=15)
    scores = np.tile(shape.dialogue.astype(float), (3, 1))
    scores[0, ::2] += 0.5
    return replace(shape, ratings=scores)


def one_disagreement(seed: int) -> Shape:
    shape = made(seed, raters=2)
    ratings = np.repeat(shape.ratings[:1], 2, axis=0)
    ratings[1, 7] = 6.0 - ratings[0, 7] if ratings[0, 7] != 3 else 1.0
    return replace(shape, ratings=ratings)


def heavy_tails(seed: int) -> Shape:
    shape = made(seed)
    random = np.random.default_rng(seed)
    return replace(
        shape, metrics=np.exp(2.5 * shape.metrics + random.standard_t(1.5, shape.metrics.shape))
    )


def with_ties(seed: int) -> Shape:
    shape = made(seed)
    return replace(shape, metrics=np.round(shape.metrics), ratings=np.clip(shape.ratings, 3, 4))


SHAPES: dict[str, Callable[[int], Shape]] = {
    "few raters": lambda seed: made(seed, raters=2),
    "three dialogues": lambda seed: made(seed, dialogues=3),
    "two dialogues": lambda seed: made(seed, dialogues=2, turns=1),
    "two systems": lambda seed: made(seed, systems=2),
    "twelve systems": lambda seed: made(seed, systems=12, dialogues=8),
    "systems that are alike": lambda seed: made(seed, systems=4, dialogues=5, spread=0.02),
    "many raters with few common items": lambda seed: sparse(made(seed, raters=25), 3, seed),
    "raters with many and raters with few": lambda seed: sparse(
        made(seed, raters=8, turns=4), 2, seed
    ),
    "nested": lambda seed: nested(made(seed, dialogues=6)),
    "a level of each dialogue": level_of_each_dialogue,
    "all the same": lambda seed: replace(made(seed), ratings=np.full((3, 120), 4.0)),
    "one disagreement": one_disagreement,
    "ties": with_ties,
    "heavy tails": heavy_tails,
    "a metric that is people's mean": lambda seed: replace(
        made(seed), metrics=np.stack([made(seed).human, -made(seed).human])
    ),
}


@cache
def shape_of(name: str, seed: int) -> Shape:
    return SHAPES[name](seed)


def gaps_of(shape: Shape) -> Any:
    gaps = standardised_gaps(shape.metrics[0], shape.human)
    if not isinstance(gaps, Gaps):
        return gaps
    ours, others = shape.system == 0, shape.system != 0
    return [
        mean_gap(gaps, ours, shape.dialogue, DRAWS),
        difference_of_means(gaps, ours, others, shape.dialogue, DRAWS),
    ]


def differences_of(shape: Shape) -> Any:
    one, other = shape.metrics
    places = shape.system, shape.dialogue
    return [
        difference_over_items(shape.human, one, other, shape.dialogue),
        difference_over_systems(shape.human, (one, other), *places),
    ]


def corrected(shape: Shape) -> Any:
    """At system level, where the interval is that of the limit already."""
    reliability = split_half(shape.matrix, shape.system, ("system",), splits=8, intervals=False)[
        "system"
    ]["pearson"]
    human, metrics = shape.placed(shape.human), shape.placed(shape.metrics)
    return [
        corrected_for_unreliability(one.pearson, reliability, interval_is_of_the_limit=of_the_limit)
        for one in correlate_systems(human, metrics, shape.systems, None, DRAWS)
        for of_the_limit in (False, True)
    ]


def compared(shape: Shape) -> Any:
    """The first two systems on the same items."""
    first, second = (shape.human[shape.system == system] for system in (0, 1))
    return compare_systems(first, second, shape.dialogue[shape.system == 0], permutations=99)


STATISTICS: dict[str, Callable[[Shape], Any]] = {
    "agreement": lambda shape: agreement_report(shape.matrix),
    "agreement of anonymous raters": lambda shape: agreement_report(
        replace(shape.matrix, rater_kind="anonymous")
    ),
    "raters beside others": lambda shape: beside_others(
        shape.ratings, shape.dialogue, np.ones(len(shape.ratings), dtype=bool)
    ),
    "correlations of items": lambda shape: [
        correlate_items(
            shape.human,
            shape.metrics,
            shape.dialogue,
            DRAWS,
            system=shape.system,
            redraw=redraw,
            method=method,
        )
        for redraw, method in (
            ("dialogues", None),
            ("dialogues", "percentile"),
            ("systems", None),
            ("both", None),
        )
    ],
    "correlations of systems": lambda shape: [
        correlate_systems(
            shape.placed(shape.human),
            shape.placed(shape.metrics),
            shape.systems,
            None,
            DRAWS,
            redraw=redraw,
            method=method,
        )
        for redraw, method in (
            ("dialogues", None),
            ("dialogues", "percentile"),
            ("systems", None),
            ("both", None),
        )
    ],
    "correlations within dialogues and systems": lambda shape: [
        within_dialogues(shape.human, shape.metrics, shape.dialogue),
        within_systems(shape.human, shape.metrics, shape.dialogue, shape.system),
    ],
    "ceilings": lambda shape: [
        leave_one_out_agreement(shape.matrix, shape.system, resamples=DRAWS, method=method)
        for method in ("jackknife", "percentile")
    ],
    "split halves": lambda shape: split_half(shape.matrix, shape.system, splits=8),
    "corrected for unreliability": corrected,
    "differences of correlations": differences_of,
    "means of systems": lambda shape: [
        rank_systems(shape.placed(shape.human), shape.systems, DRAWS, method=method)
        for method in ("jackknife", "percentile")
    ],
    "means of systems on their scale": lambda shape: rank_systems(
        shape.placed(np.clip(shape.human, 1, 5)), shape.systems, bounds=(1.0, 5.0)
    ),
    "two systems": compared,
    "accuracies": lambda shape: [
        pairwise_accuracy_over_dialogues(
            shape.placed(shape.human),
            shape.placed(shape.metrics[0]),
            shape.systems,
            resamples=DRAWS,
        ),
        tie_calibrated_accuracies(shape.human, shape.metrics, shape.dialogue, shape.dialogue),
    ],
    "metrics beside each other": lambda shape: correlate_metrics(
        shape.metrics, shape.dialogue, DRAWS
    ),
    "length beside a judge": lambda shape: with_covariate(
        shape.metrics[0], shape.human, np.round(3 * shape.metrics[1]), shape.dialogue, DRAWS
    ),
    "gaps between a judge and people": gaps_of,
    "shares": lambda shape: [
        share_over_dialogues(list(shape.human > cut), list(shape.dialogue))
        for cut in (0.0, 2.9, 4.2, 9.0)
    ],
}


def estimates_in(found: Any, place: str = "") -> Iterator[tuple[str, Estimate]]:
    if isinstance(found, Estimate):
        yield place, found
    elif isinstance(found, dict):
        for key, one in found.items():
            yield from estimates_in(one, f"{place}/{key}")
    elif isinstance(found, list | tuple):
        for number, one in enumerate(found):
            yield from estimates_in(one, f"{place}/{number}")
    elif is_dataclass(found) and not isinstance(found, Undefined):
        for field in fields(found):
            yield from estimates_in(getattr(found, field.name), f"{place}/{field.name}")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("shape", SHAPES)
def test_an_interval_holds_its_value(shape: str, statistic: str, seed: int) -> None:
    for place, one in estimates_in(STATISTICS[statistic](shape_of(shape, seed))):
        if one.value is not None and one.ci is not None:
            assert one.ci[0] <= one.value <= one.ci[1], place


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_procedures_themselves_find_intervals_that_hold_the_value(statistic: str) -> None:
    """Not only because one that does not is withheld. Percentiles of ceilings, which papers print,
    are biased."""
    usual = ("few raters", "twelve systems", "nested", "one disagreement", "ties", "heavy tails")
    found = [
        one for shape in usual for one in estimates_in(STATISTICS[statistic](shape_of(shape, 0)))
    ]
    assert any(one.ci for _place, one in found)
    assert [place for place, one in found if one.reason == BESIDE_ITS_INTERVAL] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_agreement_never_withholds_an_interval_for_its_bias(shape: str) -> None:
    found = list(estimates_in(agreement_report(shape_of(shape, 0).matrix)))
    assert found
    assert [place for place, one in found if one.reason == BESIDE_ITS_INTERVAL] == []
