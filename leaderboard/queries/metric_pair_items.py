"""What two metrics and people all scored, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.models import CorpusVersion
from common.estimates import Undefined
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import chosen_systems
from leaderboard.statistics.correlation.levels import correlate_items
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, system_sums

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

    def between(self) -> dict[str, Any]:
        """Pearson's r of the two metrics over the items, as JSON."""
        (found,) = correlate_items(
            self.metrics[0], self.metrics[1:], self.dialogue, RESAMPLES, SEED
        )
        return found.pearson.as_json()

    def between_systems(self) -> dict[str, Any]:
        """The same over systems, without an interval."""
        _, first, second = means_of(self)
        (found,) = correlate_items(first, second[None, :], np.arange(len(first)), 0, SEED)
        return found.pearson.as_json()


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
