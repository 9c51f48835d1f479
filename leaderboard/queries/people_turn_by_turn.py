"""How far people who rate single responses agree with people who rate whole dialogues: ComperDial's
row "Human"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotations.models import CorpusVersion, System
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.correlations import rows_of_level
from leaderboard.queries.human_scores import human_side
from leaderboard.statistics.correlation.resampling import Recipe
from workers.metrics.base import Level
from workers.metrics.configuration import written_signature

PEOPLE = "people, turn by turn"


@dataclass(frozen=True)
class _PeopleTurnByTurn:
    """The mean rating of a response, as if it were a metric's score."""

    text: str = PEOPLE
    levels: frozenset[Level] = frozenset({"turn", "dialogue", "system"})
    higher_is_better: bool = True
    value_range: tuple[float | None, float | None] = (None, None)

    def signature(self, **facts: object) -> str:
        return written_signature([("human", "mean-rating-of-responses")], facts)


def people_turn_by_turn(
    version: CorpusVersion, aspect: str, systems: Sequence[System], *, resamples: int, seed: int
) -> list[CorrelationRow]:
    """Rows as ``meta_evaluation`` has them, at dialogue and system level: ratings of responses,
    averaged over a dialogue or a system, against ratings of whole dialogues. None where people did
    not do both."""
    human = human_side(version, aspect, systems)
    if human.turn is None or human.dialogue is None:
        return []
    turn = np.full((1, len(human.systems), len(human.order.turn_pks)), np.nan)
    turn[0, human.turn.system, human.turn.turn] = human.turn.human_means()
    nothing = np.full((1, len(human.systems)), np.nan)
    people = MetricScores(
        (_PeopleTurnByTurn(),),
        human.systems,
        turn,
        nothing,
        np.full(1, len(human.systems), dtype=np.int64),
    )
    of_dialogues = replace(human, turn=None)
    return [
        row
        for level in ("dialogue", "system")
        for row in rows_of_level(
            version, aspect, level, of_dialogues, people, Recipe(resamples=resamples, seed=seed)
        )
    ]
