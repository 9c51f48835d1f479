"""Human and metric scores of one level as lists over the same places, for every statistic of pairs
of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from common.correlation.scores import DIGITS_OF_PARTS, round_off
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.human_scores import HumanSide, human_grid, metric_grid
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
