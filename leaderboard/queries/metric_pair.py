"""Two metrics against each other: how far each follows people, whether the difference is real, and what makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotations.estimates import Estimate, Undefined
from annotations.models import CorpusVersion
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import ALL, chosen_systems
from leaderboard.statistics.correlation_difference import difference_over_items, difference_over_systems
from leaderboard.statistics.driving_items import DrivingItem, driving_items
from leaderboard.statistics.item_swaps import swap_tests
from leaderboard.statistics.levels import correlate_items, correlate_systems
from leaderboard.statistics.permutation import NAMES, Coefficient, Swapped, permutation_test
from leaderboard.statistics.placed_scores import FloatArray, IntArray, PlacedScores, system_sums
from leaderboard.statistics.williams import williams_test

LEVELS = ("turn", "dialogue", "system")
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
PERMUTATIONS = 1000
MOST_RERANKED = 1000
"""Items: ranks are made anew in each swap, and τ-b compares all pairs."""
TOO_MANY = f"of more than {MOST_RERANKED:,} items ranks are not made anew for every swap: it would take too long"
TOP = 8
"""Items shown on either side."""


@dataclass(frozen=True)
class Common:
    """What both metrics and people scored, (n,) each, in each metric's own direction: higher is better."""

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

    def between(self) -> dict[str, Any]:
        """Pearson's r of the two metrics over the items, as JSON."""
        (found,) = correlate_items(self.metrics[0], self.metrics[1:], self.dialogue, RESAMPLES, SEED)
        return found.pearson.as_json()

    def between_systems(self) -> dict[str, Any]:
        """The same over systems, without an interval."""
        _, first, second = means_of(self)
        (found,) = correlate_items(first, second[None, :], np.arange(len(first)), 0, SEED)
        return found.pearson.as_json()


def metric_pair(version: CorpusVersion, aspect: str, first: str, second: str, systems: str = ALL) -> dict[str, Any]:
    """A document of two metrics by their configurations' texts; raises NotFound for one that is not computed here.

    ``levels``: by level ``{"n", "reason", "coefficients": {name: {"first", "second", "difference", "tests": {"systems",
    "dialogues", "both"}, "williams"?}}, "between"}``, all of responses (dialogues, systems) that both metrics and
    people scored, so coefficients may differ a little from the leaderboard's; in each metric's own direction. ``tests``
    hold p of PERM-SYS, PERM-INPUT and PERM-BOTH as estimates whose value is p. ``drivers``: where the difference comes
    from; see ``driving_items``. It names the places only: texts are read when they are shown.
    """
    human, scores = _sides(version, aspect, first, second, systems)
    found = {level: _common(human, scores, level) for level in LEVELS}
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": systems,
        "metrics": [
            {"metric": one.text, "higher_is_better": one.higher_is_better, "signature": one.signature()}
            for one in scores.configurations
        ],
        "permutations": PERMUTATIONS,
        "resamples": RESAMPLES,
        "seed": SEED,
        "levels": {level: _level_document(one, level) for level, one in found.items()},
        "drivers": _drivers(found),
    }


def pair_at(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str = ALL
) -> dict[str, Common | Undefined]:
    """What is compared at each level; of the system level the items whose means are compared."""
    human, scores = _sides(version, aspect, first, second, systems)
    return {level: _common(human, scores, level) for level in LEVELS}


def means_of(found: Common) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(people, first, second), one score a system each."""
    first, second = (
        _means(found.metrics[row], found.system) if given is None else given for row, given in enumerate(found.fixed)
    )
    return _means(found.human, found.system), first, second


def _sides(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str
) -> tuple[HumanSide, MetricScores]:
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    return human, chosen_metrics(compared_scores(version, chosen, human.order, [first, second]), [first, second])


# --- what is compared ----------------------------------------------------------------------------------------------


def _common(human: HumanSide, scores: MetricScores, level: str) -> Common | Undefined:
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
    return _kept(scores, items.human_means(), measured, items.system, items.dialogue, places, level)


def _of_dialogues(human: HumanSide, scores: MetricScores, level: str) -> Common | Undefined:
    grid = human_grid(human)
    assert grid is not None
    measured = metric_grid(human, scores).scores
    pks = [system.pk for system in human.systems]
    places: list[tuple[int, int | None, int | None]] = [
        (pks[system], int(human.order.dialogue_pks[dialogue]), None)
        for system, dialogue in zip(grid.system, grid.dialogue, strict=True)
    ]
    return _kept(scores, grid.scores[0], measured, grid.system, grid.dialogue, places, level)


def _kept(
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
    fixed = [direction[row] * scores.system[row][numbers] if row in of_systems else None for row in range(2)]
    return Common(
        people[complete],
        measured[:, complete],
        renumbered.astype(np.int64),
        np.unique(dialogue[complete], return_inverse=True)[1].astype(np.int64),
        [places[place] for place in complete.tolist()],
        (fixed[0], fixed[1]),
        (bool(direction[0] < 0), bool(direction[1] < 0)),
    )


# --- levels --------------------------------------------------------------------------------------------------------


def _level_document(found: Common | Undefined, level: str) -> dict[str, Any]:
    if isinstance(found, Undefined):
        return {"n": 0, "reason": found.reason, "coefficients": {}}
    return _system_document(found) if level == "system" else _item_document(found)


def _item_document(found: Common) -> dict[str, Any]:
    first, second = correlate_items(found.human, found.metrics, found.dialogue, RESAMPLES, SEED)
    differences = difference_over_items(
        found.human, found.metrics[0], found.metrics[1], found.dialogue, RESAMPLES, SEED
    )
    tests = _item_tests(found)
    return {
        "n": len(found.human),
        "reason": "",
        "groups": found.groups(),
        "between": found.between(),
        "coefficients": {
            name: {
                "first": getattr(first, name).as_json(),
                "second": getattr(second, name).as_json(),
                "difference": differences[name].as_json(),
                "tests": tests[name] if differences[name].is_defined else {},
            }
            for name in COEFFICIENTS
        },
    }


Arrays = tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]
"""People, first, second, system, dialogue: (n,) each."""


def _arrays(found: Common) -> Arrays:
    return found.human, found.metrics[0], found.metrics[1], found.system, found.dialogue


def _item_tests(found: Common) -> dict[str, dict[str, Any]]:
    """``{coefficient: {what is swapped: p}}``"""
    arrays = _arrays(found)
    tests: dict[str, dict[str, Any]] = {name: {} for name in COEFFICIENTS}
    for swapped in NAMES:
        if reason := _nothing_to_swap(found.system, found.dialogue, swapped):
            for name in COEFFICIENTS:
                tests[name][swapped] = Estimate.undefined(reason).as_json()
        elif len(found.human) <= MOST_RERANKED:
            for name, tested in swap_tests(*arrays, swapped, PERMUTATIONS, SEED).items():
                tests[name][swapped] = _p_of(tested)
        else:
            test = permutation_test(*arrays, "item", permutations=PERMUTATIONS, seed=SEED, swapped=swapped)
            tests["pearson"][swapped] = _p_of(test.difference)
            for unranked in ("spearman", "kendall"):
                tests[unranked][swapped] = Estimate.undefined(TOO_MANY).as_json()
    return tests


def _system_document(found: Common) -> dict[str, Any]:
    systems = int(found.system.max()) + 1
    has_items = [given is None for given in found.fixed]
    people = PlacedScores(found.human, found.system, found.dialogue)
    rows: list[Any] = []
    for row, is_made_of_items in enumerate(has_items):
        nothing = PlacedScores(np.empty((0, len(found.human))), found.system, found.dialogue)
        placed = PlacedScores(found.metrics[row], found.system, found.dialogue) if is_made_of_items else nothing
        given = None if is_made_of_items else found.fixed[row]
        rows += correlate_systems(people, placed, systems, given, RESAMPLES, SEED)
    differences = difference_over_systems(
        found.human, (found.metrics[0], found.metrics[1]), found.system, found.dialogue, found.fixed, RESAMPLES, SEED
    )
    means = means_of(found)
    williams = williams_test(*means)
    document: dict[str, Any] = {
        "n": systems,
        "reason": "",
        "groups": found.groups(),
        "between": found.between_systems(),
        "coefficients": {
            name: {
                "first": getattr(rows[0], name).as_json(),
                "second": getattr(rows[1], name).as_json(),
                "difference": differences[name].as_json(),
                "tests": _system_tests(found, means, name, all(has_items)) if differences[name].is_defined else {},
            }
            for name in COEFFICIENTS
        },
    }
    p = Estimate(williams.difference.p) if williams.difference.p is not None else williams.difference
    document["coefficients"]["pearson"]["williams"] = p.as_json() | {"t": williams.t, "df": williams.degrees_of_freedom}
    return document


def _system_tests(
    found: Common, means: tuple[FloatArray, FloatArray, FloatArray], coefficient: Coefficient, has_items: bool
) -> dict[str, Any]:
    if has_items:
        arrays = _arrays(found)
        return {swapped: _system_test(arrays, coefficient, swapped) for swapped in NAMES}
    number = np.arange(len(means[0]))
    whole = (means[0], means[1], means[2], number, np.zeros_like(number))
    nothing = Estimate.undefined("one of the two has no scores of single dialogues that could be swapped").as_json()
    return {"systems": _system_test(whole, coefficient, "systems"), "dialogues": nothing, "both": nothing}


def _system_test(arrays: Arrays, coefficient: Coefficient, swapped: Swapped) -> dict[str, Any]:
    if reason := _nothing_to_swap(arrays[3], arrays[4], swapped):
        return Estimate.undefined(reason).as_json()
    test = permutation_test(*arrays, "system", coefficient, "two-sided", PERMUTATIONS, SEED, swapped)
    return _p_of(test.difference)


def _nothing_to_swap(system: IntArray, dialogue: IntArray, swapped: Swapped) -> str:
    groups = {"systems": len(np.unique(system)), "dialogues": len(np.unique(dialogue))}
    groups["both"] = max(groups.values())
    return f"there is one of the {swapped} only: nothing can be swapped" if groups[swapped] < 2 else ""


def _p_of(tested: Estimate) -> dict[str, Any]:
    """The test's p as an estimate of its own."""
    if tested.p is None:
        return Estimate.undefined(tested.reason or "the test has no p").as_json()
    return Estimate(tested.p).as_json()


def _means(scores: FloatArray, system: IntArray) -> FloatArray:
    return system_sums(scores, system, np.zeros_like(system), int(system.max()) + 1, 1).means()


# --- what makes the difference -------------------------------------------------------------------------------------


def _drivers(levels: dict[str, Common | Undefined]) -> dict[str, Any]:
    """Of the finest level at which there is anything."""
    for level, found in levels.items():
        if isinstance(found, Common):
            return {"level": level, **_drivers_at(found, level)}
    reasons = dict.fromkeys(found.reason for found in levels.values() if isinstance(found, Undefined))
    return {"level": "turn", "reason": "; ".join(reasons), "n": 0, "first": [], "second": []}


def _drivers_at(found: Common, level: str) -> dict[str, Any]:
    people, measured, places = found.human, found.metrics, found.places
    if level == "system":
        by_system = [place[0] for place in found.places]
        first_of = [int(np.flatnonzero(found.system == number)[0]) for number in range(int(found.system.max()) + 1)]
        places = [(by_system[place], None, None) for place in first_of]
        people, *both = means_of(found)
        measured = np.array(both)
    driving = driving_items(people, measured[0], measured[1], TOP)
    if isinstance(driving, Undefined):
        return {"reason": driving.reason, "n": 0, "first": [], "second": []}
    return {
        "reason": "",
        "n": driving.n,
        "difference": driving.difference,
        "first_nearer_in": driving.first_nearer_in,
        "second_nearer_in": driving.second_nearer_in,
        "first": [_item_of(one, places[one.item]) for one in driving.first_nearer],
        "second": [_item_of(one, places[one.item]) for one in driving.second_nearer],
    }


def _item_of(one: DrivingItem, place: tuple[int, int | None, int | None]) -> dict[str, Any]:
    figures = {name: value for name, value in asdict(one).items() if name != "item"}
    return dict(zip(("system", "dialogue", "turn"), place, strict=True)) | figures
