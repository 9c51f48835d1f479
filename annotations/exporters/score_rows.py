"""Metric scores as rows, one score a row, and submitted metrics, one metric a row: what the exports
share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from annotations.exporters.base import MetricScoresRecord


class ScoreRow(NamedTuple):
    """One score; ``dialogue_id`` and ``turn`` are None where the level has none, ``score`` where it
    is undefined."""

    metric: str
    signature: str
    system: str
    level: str
    dialogue_id: str | None
    turn: int | None
    score: float | None


class SubmittedRow(NamedTuple):
    """A metric that was handed in; ``metric`` and ``signature`` are those of its scores."""

    metric: str
    signature: str
    level: str
    higher_is_better: bool
    submitted_by: str
    link: str
    file_sha256: str

    @property
    def cells(self) -> tuple[str | int, ...]:
        """For tables: yes is 1 there, no is 0."""
        return tuple(int(value) if isinstance(value, bool) else value for value in self)


def submitted_row(scores: MetricScoresRecord) -> SubmittedRow | None:
    """None for a metric that was computed here."""
    of = scores.submitted
    if of is None:
        return None
    return SubmittedRow(
        scores.metric,
        scores.signature,
        of.level,
        of.higher_is_better,
        of.submitted_by,
        of.link,
        of.file_sha256,
    )


def score_rows(scores: MetricScoresRecord) -> Iterator[ScoreRow]:
    """The turn scores, then the dialogue scores, then the system score."""
    head = (scores.metric, scores.signature, scores.system)
    for (dialogue_id, turn), score in scores.turn_scores.items():
        yield ScoreRow(*head, "turn", dialogue_id, turn, score)
    for dialogue_id, score in scores.dialogue_scores.items():
        yield ScoreRow(*head, "dialogue", dialogue_id, None, score)
    yield ScoreRow(*head, "system", None, None, scores.system_score)
