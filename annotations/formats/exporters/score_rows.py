"""Metric scores as rows, one score a row, and submitted metrics, one metric a row: what the exports
share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from annotations.formats.exporters.base import MetricScoresRecord


class ScoreRow(NamedTuple):
    """One score.

    Attributes:
        metric: label with its configuration.
        signature: how the score was computed.
        system: name of the system.
        level: turn, dialogue or system.
        dialogue_id: None where the level has none.
        turn: number of the turn; None where the level has none.
        score: None where it is undefined.
    """

    metric: str
    signature: str
    system: str
    level: str
    dialogue_id: str | None
    turn: int | None
    score: float | None


class SubmittedRow(NamedTuple):
    """A submitted metric; ``metric`` and ``signature`` are those of its scores."""

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
    """The row of a submitted metric.

    Args:
        scores: one metric's scores of any system.

    Returns:
        The row, equal for all systems of the metric; None for a metric that was computed here.
    """
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
    """One metric's scores of one system as rows, one per score.

    Args:
        scores: one metric's scores of one system.

    Returns:
        Iterator over the turn scores, then the dialogue scores, then the system score, which always
        has a row.
    """
    head = (scores.metric, scores.signature, scores.system)
    for (dialogue_id, turn), score in scores.turn_scores.items():
        yield ScoreRow(*head, "turn", dialogue_id, turn, score)
    for dialogue_id, score in scores.dialogue_scores.items():
        yield ScoreRow(*head, "dialogue", dialogue_id, None, score)
    yield ScoreRow(*head, "system", None, None, scores.system_score)
