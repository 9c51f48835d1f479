"""Metric scores as rows, one score a row: what the jsonl and the CSV export share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from annotations.exporters.base import MetricScoresRecord


class ScoreRow(NamedTuple):
    """One score; ``dialogue_id`` and ``turn`` are None where the level has none, ``score`` where it is undefined."""

    metric: str
    signature: str
    system: str
    level: str
    dialogue_id: str | None
    turn: int | None
    score: float | None


def score_rows(scores: MetricScoresRecord) -> Iterator[ScoreRow]:
    """The turn scores, then the dialogue scores, then the system score."""
    head = (scores.metric, scores.signature, scores.system)
    for (dialogue_id, turn), score in scores.turn_scores.items():
        yield ScoreRow(*head, "turn", dialogue_id, turn, score)
    for dialogue_id, score in scores.dialogue_scores.items():
        yield ScoreRow(*head, "dialogue", dialogue_id, None, score)
    yield ScoreRow(*head, "system", None, None, scores.system_score)
