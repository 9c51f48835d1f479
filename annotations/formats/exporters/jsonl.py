"""The project's own format: ``corpus.jsonl``, which the jsonl importer reads back, and
``scores.jsonl``; beside them, where some of the scores were handed in,
``submitted_metrics.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.exporters.score_rows import SubmittedRow, score_rows, submitted_row
from annotations.formats.importers.canonical import canonical_line
from annotations.formats.records import Record


def write(records: Iterable[Record], scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write a corpus and its scores as JSON lines.

    ``corpus.jsonl`` has one record per line, in the order of the stream; ``scores.jsonl`` one score
    per line, null where it is undefined; and ``submitted_metrics.jsonl``, which is there where some
    metrics were submitted, one of these per line.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        scores: metric scores.
        folder: existing, empty folder.
    """
    submitted: dict[SubmittedRow, None] = {}
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(canonical_line(record) + "\n")
    with (folder / "scores.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for system_scores in scores:
            for row in score_rows(system_scores):
                file.write(_AS_JSON(row._asdict()) + "\n")
            if metric := submitted_row(system_scores):
                submitted[metric] = None
    if submitted:
        with (folder / "submitted_metrics.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_AS_JSON(metric._asdict()) + "\n" for metric in submitted)


_AS_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Made once: ``json.dumps`` would make one for each of a million scores."""

EXPORTER = Exporter(
    name="jsonl", summary="everything, in this project's own format (JSON lines)", write=write
)
