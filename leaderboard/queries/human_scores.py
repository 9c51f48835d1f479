"""What people said, at the levels at which they were asked, and metric scores on the same places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.models import CorpusVersion, System
from annotations.rating_queries import (
    RatedItems,
    TurnOrder,
    has_dialogue_ratings,
    has_turn_ratings,
    rated_items,
    turn_order,
)
from leaderboard.queries.compared import MetricScores
from leaderboard.statistics.bounded import Bounds
from leaderboard.statistics.human_ceiling import CeilingLevel
from leaderboard.statistics.placed_scores import PlacedScores, dialogue_means


@dataclass(frozen=True)
class HumanSide:
    """What people said, at the levels at which they were asked.

    ``turn`` or ``dialogue`` is None where nobody rated at that level. The dialogue level uses ratings of whole
    dialogues where there are any, else means over turns; the system level uses turn ratings where there are any.
    """

    systems: tuple[System, ...]
    order: TurnOrder
    turn: RatedItems | None
    dialogue: RatedItems | None

    def at(self, level: CeilingLevel) -> RatedItems | None:
        if level == "dialogue":
            return self.dialogue or self.turn
        return self.turn or (self.dialogue if level == "system" else None)


def human_side(version: CorpusVersion, aspect: str, systems: Sequence[System]) -> HumanSide:
    return HumanSide(
        systems=tuple(systems),
        order=turn_order(version),
        turn=rated_items(version, aspect, "turn", systems) if has_turn_ratings(version, aspect) else None,
        dialogue=rated_items(version, aspect, "dialogue", systems) if has_dialogue_ratings(version, aspect) else None,
    )


def scale_of(version: CorpusVersion, aspect: str) -> Bounds:
    """The lowest and highest rating of the aspect that there can be; None where the corpus names no such end."""
    least, most = version.scales.get(aspect) or (None, None)
    return None if least is None else float(least), None if most is None else float(most)


def placed_human(items: RatedItems) -> PlacedScores:
    return PlacedScores(items.human_means(), items.system, items.dialogue)


def human_grid(human: HumanSide) -> PlacedScores | None:
    """One human score for every (system, dialogue), NaN where there is none."""
    items = human.at("dialogue")
    if items is None:
        return None
    return dialogue_means(placed_human(items), len(human.systems), len(human.order.dialogue_ids))


def metric_grid(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Each metric's score of every (system, dialogue): as given where it scores dialogues, else the mean over turns."""
    grid = dialogue_means(placed_metrics(human, scores), len(human.systems), len(human.order.dialogue_ids))
    of_dialogues = scores.rows_of("dialogue")
    if not of_dialogues:
        return grid
    given = grid.scores.copy()
    given[of_dialogues] = placed_dialogue_scores(human, scores.select(of_dialogues)).scores
    return PlacedScores(given, grid.system, grid.dialogue)


def placed_metrics(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Scores of turns."""
    turns = len(human.order.turn_pks)
    return PlacedScores(
        scores.turn.reshape(len(scores.texts), len(human.systems) * turns),
        np.repeat(np.arange(len(human.systems)), turns),
        np.tile(human.order.dialogue, len(human.systems)),
    )


def placed_dialogue_scores(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Scores of whole dialogues."""
    assert scores.dialogue is not None
    dialogues = len(human.order.dialogue_ids)
    return PlacedScores(
        scores.dialogue.reshape(len(scores.texts), len(human.systems) * dialogues),
        np.repeat(np.arange(len(human.systems)), dialogues),
        np.tile(np.arange(dialogues), len(human.systems)),
    )
