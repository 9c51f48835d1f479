"""Human and metric scores of one level as lists over the same places, for every statistic of pairs
of scores; and how much of what people rated a metric has a score for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from common.correlation.scores import DIGITS_OF_PARTS, round_off
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.human_scores import HumanSide, human_grid, metric_grid
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray


@dataclass(frozen=True)
class LevelScores:
    """``rows``: the metrics' rows. ``human``: (n,), ``metrics``: (rows, n), NaN where there is no
    score; ``dialogue``, ``system``: (n,) numbers; ``turn``: (n,) numbers at turn level, None at
    dialogue level."""

    rows: list[int]
    human: FloatArray
    metrics: FloatArray
    dialogue: IntArray
    system: IntArray
    turn: IntArray | None


def level_scores(
    level: Literal["turn", "dialogue"], human: HumanSide, scores: MetricScores
) -> LevelScores | None:
    """None where nobody rated at this level or no metric has scores of it. A metric has none below
    what it scores."""
    items = human.at(level)
    rows = (
        scores.rows_of("turn")
        if level == "turn"
        else scores.rows_of("turn") + scores.rows_of("dialogue")
    )
    if items is None or not rows:
        return None
    selected = scores.select(rows)
    if level == "turn":
        of_metrics = round_off(selected.turn[:, items.system, items.turn], DIGITS_OF_PARTS)
        return LevelScores(
            rows, items.human_means(), of_metrics, items.dialogue, items.system, items.turn
        )
    grid = human_grid(human)
    assert grid is not None
    of_metrics = metric_grid(human, selected).scores
    return LevelScores(rows, grid.scores[0], of_metrics, grid.dialogue, grid.system, None)


def coverage(human: HumanSide, scores: MetricScores, row: int, level: CeilingLevel) -> float | None:
    """The share, from 0 to 1, of the responses that people rated which the metric in ``row``
    scored; None where nothing is rated.

    It is the same share at every level: a system's mean over half of its responses is one pair, and
    half covered. Where people rated whole dialogues these count all their responses; of a metric
    whose scores are of dialogues it is the share of the dialogues in which people rated anything,
    of one that scores systems alone that of the systems.
    """
    items = human.at(level)
    if items is None:
        return None
    rated = np.isfinite(items.human_means())
    if not rated.any():
        return None
    system, dialogue, turn = items.system[rated], items.dialogue[rated], items.turn[rated]
    finest = scores.finest(row)
    if finest == "system":
        return float(np.isfinite(scores.system[row][np.unique(system)]).mean())
    if finest == "dialogue":
        assert scores.dialogue is not None
        places = np.unique(np.stack((system, dialogue)), axis=1)
        return float(np.isfinite(scores.dialogue[row][places[0], places[1]]).mean())
    scored = np.isfinite(scores.turn[row])
    if (items.turn >= 0).all():
        return float(scored[system, turn].mean())
    answered = human.answered
    scored_in, answered_in = np.zeros(
        (2, len(human.order.dialogue_ids), len(human.systems)), dtype=np.int64
    )
    np.add.at(scored_in, human.order.dialogue, (scored & answered).T)
    np.add.at(answered_in, human.order.dialogue, answered.T)
    inputs = answered_in[dialogue, system].sum()
    return float(scored_in[dialogue, system].sum() / inputs) if inputs else None
