"""CSV tables for spreadsheets: dialogues, responses, ratings and scores, and which metrics were handed in. Text cannot
become a formula in them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from annotations.exporters.base import Exporter, MetricScoresRecord
from annotations.exporters.score_rows import SubmittedRow, score_rows, submitted_row
from annotations.records import DialogueRecord, RatingRecord, Record, ResponseRecord
from annotations.tables.to_csv import safe_text

Cell = str | int | float | None

COLUMNS = {
    "dialogues": ("dialogue_id", "turn", "persona", "partner_persona", "context", "references"),
    "responses": ("dialogue_id", "turn", "system", "text"),
    "ratings": ("dialogue_id", "turn", "system", "rater", "aspect", "score", "comment"),
    "scores": ("metric", "signature", "system", "level", "dialogue_id", "turn", "score"),
}


def write(records: Iterable[Record], scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """One file a table, UTF-8, a heading line each. Lists are JSON in a cell; what is undefined is an empty cell. The
    table of metrics that were handed in is there where there are some."""
    submitted: dict[SubmittedRow, None] = {}
    with ExitStack() as files:
        tables = {
            name: csv.writer(files.enter_context((folder / f"{name}.csv").open("w", encoding="utf-8", newline="")))
            for name in COLUMNS
        }
        for name, columns in COLUMNS.items():
            tables[name].writerow(columns)
        for record in records:
            if isinstance(record, DialogueRecord):
                tables["dialogues"].writerows(_safe_row(row) for row in _turn_rows(record))
            elif isinstance(record, ResponseRecord):
                tables["responses"].writerow(_safe_row((record.dialogue_id, record.turn, record.system, record.text)))
            elif isinstance(record, RatingRecord):
                tables["ratings"].writerow(_safe_row(_rating_row(record)))
        for system_scores in scores:
            for row in score_rows(system_scores):
                cells = (row.metric, row.signature, row.system, row.level, row.dialogue_id, row.turn, row.score)
                tables["scores"].writerow(_safe_row(cells))
            if metric := submitted_row(system_scores):
                submitted[metric] = None
    if submitted:
        with (folder / "submitted_metrics.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(SubmittedRow._fields)
            table.writerows(_safe_row(metric.cells) for metric in submitted)


def _turn_rows(dialogue: DialogueRecord) -> Iterable[tuple[Cell, ...]]:
    for turn in dialogue.turns:
        yield (
            dialogue.id,
            turn.number,
            _json(dialogue.persona),
            _json(dialogue.partner_persona),
            _json([f"{utterance.speaker}: {utterance.text}" for utterance in turn.context]),
            _json(turn.references),
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


def _json(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def _safe_row(cells: Sequence[Cell]) -> list[Cell]:
    return [safe_cell(cell) for cell in cells]


def safe_cell(cell: Cell) -> Cell:
    """The cell, with an apostrophe before text that a spreadsheet would run as a formula. Numbers stay numbers."""
    return safe_text(cell) if isinstance(cell, str) else cell


EXPORTER = Exporter(name="csv", summary="tables for spreadsheets (CSV)", write=write)
