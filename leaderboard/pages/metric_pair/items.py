"""What two metrics and people all scored, level by level; every test of the difference of the two,
and which of them keeps its level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.models import CorpusVersion
from common.estimates import Estimate, Undefined
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.comparisons import default_test, method_text, population_text
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.pair_tests import NO_P, TEST_NAMES
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import chosen_systems
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.levels import correlate_items
from leaderboard.statistics.correlation.placed_scores import (
    FloatArray,
    IntArray,
    PlacedScores,
    system_sums,
)
from leaderboard.statistics.significance.clustered import (
    Population,
    clustered_pairs_of_items,
    clustered_pairs_of_systems,
)
from leaderboard.statistics.significance.permutation import (
    Coefficient,
    Swapped,
    permutation_test,
    swap_tests,
)
from leaderboard.statistics.significance.williams import williams_test

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
PERMUTATIONS = 1000
MOST_RERANKED = 1000
"""Items: ranks are made anew in each swap, and τ-b compares all pairs."""
TOO_MANY = (
    f"of more than {MOST_RERANKED:,} items ranks are not recomputed for every swap: it would take "
    "too long"
)
NO_DIALOGUES = "one of the two has no scores of single dialogues that could be swapped"
POPULATIONS: tuple[Population, ...] = ("dialogues", "both")
Tests = dict[str, dict[str, Estimate]]
"""``{coefficient: {test: an estimate whose value is p}}``, the tests named as ``manage.py compare``
names them."""


def advised(found: Common, level: CeilingLevel) -> dict[str, str]:
    """The test that keeps its level with so many systems, in words, too, and of what it speaks."""
    systems = int(found.system.max()) + 1
    test = default_test(level, systems)
    return {
        "advised": test,
        "method": method_text(test, level),
        "population": population_text(test, systems),
    }


Arrays = tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]
"""People, first, second, system, dialogue: (n,) each."""


def _arrays(found: Common) -> Arrays:
    return found.human, found.metrics[0], found.metrics[1], found.system, found.dialogue


def item_tests(found: Common) -> Tests:
    arrays = _arrays(found)
    tests: Tests = {name: {} for name in COEFFICIENTS}
    for swapped, called in TEST_NAMES.items():
        if reason := _nothing_to_swap(found.system, found.dialogue, swapped):
            for name in COEFFICIENTS:
                tests[name][called] = Estimate.undefined(reason)
        elif len(found.human) <= MOST_RERANKED:
            tested = swap_tests(*arrays, swapped, PERMUTATIONS, SEED)
            for name in COEFFICIENTS:
                tests[name][called] = _p_of(tested[name])
        else:
            test = permutation_test(
                *arrays, "item", permutations=PERMUTATIONS, seed=SEED, swapped=swapped
            )
            tests["pearson"][called] = _p_of(test.difference)
            for unranked in COEFFICIENTS[1:]:
                tests[unranked][called] = Estimate.undefined(TOO_MANY)
    for population in POPULATIONS:
        clustered = clustered_pairs_of_items(
            found.human, found.metrics, found.system, found.dialogue, population
        )
        tests["pearson"][f"jackknife-{population}"] = _p_or_why(clustered.p)
    return tests


def system_tests(found: Common) -> Tests:
    tests: Tests = {name: _swaps_of_systems(found, name) for name in COEFFICIENTS}
    systems = int(found.system.max()) + 1
    rows = [row for row, given in enumerate(found.fixed) if given is None]
    fixed = [given for given in found.fixed if given is not None]
    clustered = clustered_pairs_of_systems(
        PlacedScores(found.human, found.system, found.dialogue),
        PlacedScores(found.metrics[rows], found.system, found.dialogue),
        systems,
        np.array(fixed) if fixed else None,
    )
    tests["pearson"]["jackknife-dialogues"] = _p_or_why(clustered.p)
    williams = williams_test(*means_of(found))
    tests["pearson"]["williams"] = _p_of(williams.difference)
    return tests


def _swaps_of_systems(found: Common, coefficient: Coefficient) -> dict[str, Estimate]:
    if all(given is None for given in found.fixed):
        arrays = _arrays(found)
        return {
            called: _system_test(arrays, coefficient, swapped)
            for swapped, called in TEST_NAMES.items()
        }
    people, first, second = means_of(found)
    number = np.arange(len(people))
    whole = (people, first, second, number, np.zeros_like(number))
    nothing = Estimate.undefined(NO_DIALOGUES)
    return dict.fromkeys(TEST_NAMES.values(), nothing) | {
        "perm-sys": _system_test(whole, coefficient, "systems")
    }


def _p_or_why(p: FloatArray) -> Estimate:
    known = len(p) > 0 and np.isfinite(p[0])
    return Estimate(float(p[0])) if known else Estimate.undefined(NO_P)


def _system_test(arrays: Arrays, coefficient: Coefficient, swapped: Swapped) -> Estimate:
    if reason := _nothing_to_swap(arrays[3], arrays[4], swapped):
        return Estimate.undefined(reason)
    test = permutation_test(
        *arrays, "system", coefficient, "two-sided", PERMUTATIONS, SEED, swapped
    )
    return _p_of(test.difference)


def _nothing_to_swap(system: IntArray, dialogue: IntArray, swapped: Swapped) -> str:
    groups = {"systems": len(np.unique(system)), "dialogues": len(np.unique(dialogue))}
    groups["both"] = max(groups.values())
    return (
        f"there is one of the {swapped} only: nothing can be swapped" if groups[swapped] < 2 else ""
    )


def _p_of(tested: Estimate) -> Estimate:
    """The test's p as an estimate of its own."""
    if tested.p is None:
        return Estimate.undefined(tested.reason or "the test has no p")
    return Estimate(tested.p)


LEVELS = ("turn", "dialogue", "system")


@dataclass(frozen=True)
class Common:
    """What both metrics and people scored, (n,) each, in each metric's own direction: higher is
    better."""

    human: FloatArray
    metrics: FloatArray
    """(2, n)"""
    system: IntArray
    """From 0, every one with an item."""
    dialogue: IntArray
    places: list[tuple[int, int | None, int | None]]
    """(system pk, dialogue pk, turn pk)"""
    fixed: tuple[FloatArray | None, FloatArray | None] = (None, None)
    """System scores of a metric that has none below."""
    turned: tuple[bool, bool] = (False, False)
    """Which metric's scores are negated: its low ones are good."""

    def groups(self) -> dict[str, int]:
        """How many systems, and how many dialogues, there are to swap whole."""
        return {"systems": int(self.system.max()) + 1, "dialogues": int(self.dialogue.max()) + 1}

    def between(self) -> Estimate:
        """Pearson's r of the two metrics over the items."""
        (found,) = correlate_items(
            self.metrics[0], self.metrics[1:], self.dialogue, RESAMPLES, SEED
        )
        return found.pearson

    def between_systems(self) -> Estimate:
        """The same over systems, without an interval."""
        _, first, second = means_of(self)
        (found,) = correlate_items(first, second[None, :], np.arange(len(first)), 0, SEED)
        return found.pearson


def pair_at(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str | None = None
) -> dict[str, Common | Undefined]:
    """What is compared at each level; of the system level the items whose means are compared."""
    human, scores = pair_sides(version, aspect, first, second, systems)
    return {level: common_at(human, scores, level) for level in LEVELS}


def means_of(found: Common) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(people, first, second), one score a system each."""
    first, second = (
        _means(found.metrics[row], found.system) if given is None else given
        for row, given in enumerate(found.fixed)
    )
    return _means(found.human, found.system), first, second


def pair_sides(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str | None
) -> tuple[HumanSide, MetricScores]:
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    return human, chosen_metrics(
        compared_scores(version, chosen, human.order, [first, second]), [first, second]
    )


def common_at(human: HumanSide, scores: MetricScores, level: str) -> Common | Undefined:
    """The items of the level; at system level those that are averaged."""
    finest = {scores.finest(0), scores.finest(1)}
    if level == "turn" and finest != {"turn"}:
        return Undefined("one of the two has no scores of single responses")
    if level == "dialogue" and "system" in finest:
        return Undefined("one of the two has no scores below system level")
    items = human.at("turn" if level == "turn" else "dialogue" if level == "dialogue" else "system")
    if items is None:
        return Undefined(f"nobody rated at the {level} level")
    if level != "dialogue" and human.turn is not None and "dialogue" not in finest:
        return _of_turns(human, scores, level)
    return _of_dialogues(human, scores, level)


def _of_turns(human: HumanSide, scores: MetricScores, level: str) -> Common | Undefined:
    items = human.turn
    assert items is not None
    order = human.order
    pks = [system.pk for system in human.systems]
    places: list[tuple[int, int | None, int | None]] = [
        (pks[system], int(order.dialogue_pks[order.dialogue[turn]]), int(order.turn_pks[turn]))
        for system, turn in zip(items.system, items.turn, strict=True)
    ]
    measured = scores.turn[:, items.system, items.turn]
    return _retained(
        scores, items.human_means(), measured, items.system, items.dialogue, places, level
    )


def _of_dialogues(human: HumanSide, scores: MetricScores, level: str) -> Common | Undefined:
    grid = human_grid(human)
    assert grid is not None
    measured = metric_grid(human, scores).scores
    pks = [system.pk for system in human.systems]
    places: list[tuple[int, int | None, int | None]] = [
        (pks[system], int(human.order.dialogue_pks[dialogue]), None)
        for system, dialogue in zip(grid.system, grid.dialogue, strict=True)
    ]
    return _retained(scores, grid.scores[0], measured, grid.system, grid.dialogue, places, level)


def _retained(
    scores: MetricScores,
    people: FloatArray,
    measured: FloatArray,
    system: IntArray,
    dialogue: IntArray,
    places: Sequence[tuple[int, int | None, int | None]],
    level: str,
) -> Common | Undefined:
    """What all three scored. A metric of whole systems takes part with its system scores."""
    direction = np.array([1.0 if one.higher_is_better else -1.0 for one in scores.configurations])
    measured = direction[:, None] * measured
    of_systems = [row for row in range(2) if scores.finest(row) == "system"]
    for row in of_systems:
        measured[row] = (direction[row] * scores.system[row])[system]
    complete = np.flatnonzero(np.isfinite(people) & np.isfinite(measured).all(axis=0))
    if not len(complete):
        what = {"turn": "response", "dialogue": "dialogue"}.get(level, "system")
        return Undefined(f"no {what} has a score of both metrics and of people")
    numbers, renumbered = np.unique(system[complete], return_inverse=True)
    fixed = [
        direction[row] * scores.system[row][numbers] if row in of_systems else None
        for row in range(2)
    ]
    return Common(
        people[complete],
        measured[:, complete],
        renumbered.astype(np.int64),
        np.unique(dialogue[complete], return_inverse=True)[1].astype(np.int64),
        [places[place] for place in complete.tolist()],
        (fixed[0], fixed[1]),
        (bool(direction[0] < 0), bool(direction[1] < 0)),
    )


def _means(scores: FloatArray, system: IntArray) -> FloatArray:
    return system_sums(scores, system, np.zeros_like(system), int(system.max()) + 1, 1).means()
