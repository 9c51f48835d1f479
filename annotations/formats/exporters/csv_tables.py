"""Tables for spreadsheets: dialogues, responses, ratings, scores, which metrics were handed in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.exporters.score_rows import SubmittedRow, score_rows, submitted_row
from annotations.formats.records import DialogueRecord, RatingRecord, Record, ResponseRecord
from common.tables.csv_text import csv_heading, csv_line, json_cell

Cell = str | int | float | None

COLUMNS = {
    "dialogues": ("dialogue_id", "turn", "persona", "partner_persona", "context", "references"),
    "responses": ("dialogue_id", "turn", "system", "text"),
    "ratings": ("dialogue_id", "turn", "system", "rater", "aspect", "score", "comment"),
    "scores": ("metric", "signature", "system", "level", "dialogue_id", "turn", "score"),
}


def write(records: Iterable[Record], scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write CSV tables for spreadsheets, one file each in UTF-8 with a heading line.

    Lists are JSON in a cell; undefined scores are empty cells. The files are those of ``COLUMNS``
    and, where there are submitted metrics, ``submitted_metrics.csv``.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        scores: metric scores.
        folder: existing, empty folder.
    """
    submitted: dict[SubmittedRow, None] = {}
    with ExitStack() as files:
        tables = {}
        for name, columns in COLUMNS.items():
            file = (folder / f"{name}.csv").open("w", encoding="utf-8", newline="")
            tables[name] = files.enter_context(file)
            tables[name].write(csv_heading(columns))
        for record in records:
            if isinstance(record, DialogueRecord):
                tables["dialogues"].writelines(csv_line(row) for row in _turn_rows(record))
            elif isinstance(record, ResponseRecord) and not record.sample:
                cells = (record.dialogue_id, record.turn, record.system, record.text)
                tables["responses"].write(csv_line(cells))
            elif isinstance(record, RatingRecord):
                tables["ratings"].write(csv_line(_rating_row(record)))
        for system_scores in scores:
            for row in score_rows(system_scores):
                tables["scores"].write(csv_line(row))
            if metric := submitted_row(system_scores):
                submitted[metric] = None
    if submitted:
        lines = [
            csv_heading(SubmittedRow._fields),
            *(csv_line(metric.cells) for metric in submitted),
        ]
        (folder / "submitted_metrics.csv").write_text("".join(lines), encoding="utf-8", newline="")


def _turn_rows(dialogue: DialogueRecord) -> Iterable[tuple[Cell, ...]]:
    for turn in dialogue.turns:
        yield (
            dialogue.id,
            turn.number,
            json_cell(dialogue.persona),
            json_cell(dialogue.partner_persona),
            json_cell([f"{one.speaker}: {one.text}" for one in dialogue.context_of(turn)]),
            json_cell(turn.references),
        )


def _rating_row(rating: RatingRecord) -> tuple[Cell, ...]:
    return (
        rating.dialogue_id,
        rating.turn,
        rating.system,
        rating.rater,
        rating.aspect,
        rating.score,
        rating.comment,
    )


EXPORTER = Exporter(name="csv", summary="tables for spreadsheets (CSV)", write=write)
