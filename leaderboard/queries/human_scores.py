"""What people said, at the levels at which they were asked, and metric scores on the same
places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotations.corpora.rating_queries import (
    RatedItems,
    TurnOrder,
    answered_turns,
    has_dialogue_ratings,
    has_turn_ratings,
    rated_items,
    turn_order,
)
from annotations.corpora.slices import NO_SLICE, dialogues_in
from annotations.formats.records import Level
from annotations.models import CorpusVersion, System
from leaderboard.queries.compared import MetricScores
from leaderboard.statistics.bounded import Bounds
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import PlacedScores, dialogue_means
from leaderboard.statistics.design import Design


@dataclass(frozen=True)
class HumanSide:
    """What people said, at the levels at which they were asked.

    ``turn`` or ``dialogue`` is None where nobody rated at that level. The dialogue level uses
    ratings of whole dialogues where there are any, else means over turns; the system level uses
    turn ratings where there are any. ``answered``: (systems, turns) where the system has a
    response; nothing can be missing elsewhere.
    """

    systems: tuple[System, ...]
    order: TurnOrder
    turn: RatedItems | None
    dialogue: RatedItems | None
    answered: NDArray[np.bool_]

    @cached_property
    def answered_dialogues(self) -> NDArray[np.bool_]:
        """(systems, dialogues) in which the system has a response, or a rating of the whole
        dialogue."""
        found = np.zeros((len(self.systems), len(self.order.dialogue_ids)), dtype=bool)
        system, turn = np.nonzero(self.answered)
        found[system, self.order.dialogue[turn]] = True
        if self.dialogue is not None:
            rated = np.isfinite(self.dialogue.human_means())
            found[self.dialogue.system[rated], self.dialogue.dialogue[rated]] = True
        return found

    @cached_property
    def design(self) -> Design:
        """Of the responses: whether systems share dialogues. All that compares systems asks it."""
        return Design(self.answered_dialogues)

    def at(self, level: CeilingLevel) -> RatedItems | None:
        if level == "dialogue":
            return self.dialogue or self.turn
        return self.turn or (self.dialogue if level == "system" else None)


def human_side(
    version: CorpusVersion, aspect: str, systems: Sequence[System], data_slice: str = NO_SLICE
) -> HumanSide:
    """``data_slice``: as if the corpus held these dialogues alone."""
    order = turn_order(version)
    if data_slice:
        order = order.of_dialogues(dialogues_in(version, data_slice))
    turn, dialogue = (
        rated_items(version, aspect, level, systems, order) if is_rated(version, aspect) else None
        for level, is_rated in _IS_RATED.items()
    )
    return HumanSide(
        systems=tuple(systems),
        order=order,
        turn=_unless_unrated(turn, data_slice),
        dialogue=_unless_unrated(dialogue, data_slice),
        answered=answered_turns(systems, order),
    )


_IS_RATED: dict[Level, Callable[[CorpusVersion, str], bool]] = {
    "turn": has_turn_ratings,
    "dialogue": has_dialogue_ratings,
}


def _unless_unrated(items: RatedItems | None, data_slice: str) -> RatedItems | None:
    """People may have rated at this level elsewhere, and nothing of the slice."""
    if items is None or (data_slice and not np.isfinite(items.matrix.scores).any()):
        return None
    return items


def scale_of(version: CorpusVersion, aspect: str) -> Bounds:
    """The lowest and highest rating of the aspect that there can be; None where the corpus names no
    such end."""
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
    """Each metric's score of every (system, dialogue): as given where it scores dialogues, else the
    mean over turns."""
    grid = dialogue_means(
        placed_metrics(human, scores), len(human.systems), len(human.order.dialogue_ids)
    )
    of_dialogues = scores.rows_of("dialogue")
    if not of_dialogues:
        return grid
    given = grid.scores.copy()
    assert scores.dialogue is not None
    given[of_dialogues] = scores.dialogue[of_dialogues].reshape(len(of_dialogues), -1)
    return PlacedScores(given, grid.system, grid.dialogue)


def placed_metrics(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Scores of responses: where a system gave none, none is missing."""
    system, turn = np.nonzero(human.answered)
    return PlacedScores(scores.turn[:, system, turn], system, human.order.dialogue[turn])


def placed_dialogue_scores(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Scores of whole dialogues, those in which the system has a response."""
    assert scores.dialogue is not None
    system, dialogue = np.nonzero(human.answered_dialogues)
    return PlacedScores(scores.dialogue[:, system, dialogue], system, dialogue)
