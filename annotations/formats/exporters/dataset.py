"""A dataset folder as the Hugging Face Hub takes it: one Parquet table for each kind of record, and
the dataset card ``README.md``, whose heading names the tables.

``datasets.load_dataset(folder, "responses")`` reads it; the importer ``dataset`` reads it back as
the same corpus version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.exporters.dataset_card import dataset_card
from annotations.formats.exporters.score_rows import (
    SubmittedRow,
    score_rows,
    submitted_row,
)
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)

ROWS_AT_ONCE = 1_000
_TEXTS = pa.list_(pa.string())
_MESSAGE = pa.struct(
    {
        "role": pa.string(),
        "content": pa.string(),
        "name": pa.string(),
        "time": pa.string(),
        "parts": pa.string(),
        "metadata": pa.string(),
    }
)
_UTTERANCE = pa.struct({"speaker": pa.string(), "text": pa.string()})
_TURN = pa.struct(
    {
        "number": pa.int64(),
        "after": pa.int64(),
        "context": pa.list_(_UTTERANCE),
        "references": _TEXTS,
    }
)
_SCALE = pa.struct({"aspect": pa.string(), "lowest": pa.float64(), "highest": pa.float64()})
_OF_ITEM: dict[str, pa.DataType] = {"dialogue_id": pa.string(), "turn": pa.int64()}
SCHEMAS: dict[str, pa.Schema] = {
    "corpus": pa.schema(
        {
            "name": pa.string(),
            "part": pa.string(),
            "simulated": pa.bool_(),
            "description": pa.string(),
            "aspects": _TEXTS,
            "main_aspect": pa.string(),
            "lowest": pa.float64(),
            "highest": pa.float64(),
            "scales": pa.list_(_SCALE),
            "language": pa.string(),
        }
    ),
    "systems": pa.schema({"name": pa.string(), "kind": pa.string(), "description": pa.string()}),
    "raters": pa.schema({"name": pa.string(), "kind": pa.string()}),
    "dialogues": pa.schema(
        {
            "dialogue_id": pa.string(),
            "persona": _TEXTS,
            "partner_persona": _TEXTS,
            "messages": pa.list_(_MESSAGE),
            "turns": pa.list_(_TURN),
            "interactive": pa.bool_(),
            "knowledge": _TEXTS,
            "metadata": pa.string(),
        }
    ),
    "responses": pa.schema(
        {
            **_OF_ITEM,
            "system": pa.string(),
            "sample": pa.int64(),
            "text": pa.string(),
            "parts": pa.string(),
            "metadata": pa.string(),
        }
    ),
    "ratings": pa.schema(
        {
            **_OF_ITEM,
            "system": pa.string(),
            "rater": pa.string(),
            "aspect": pa.string(),
            "score": pa.float64(),
            "comment": pa.string(),
        }
    ),
    "labels": pa.schema(
        {
            **_OF_ITEM,
            "system": pa.string(),
            "message": pa.int64(),
            "rater": pa.string(),
            "question": pa.string(),
            "values": _TEXTS,
            "is_list": pa.bool_(),
        }
    ),
    "preferences": pa.schema(
        {
            **_OF_ITEM,
            "system_a": pa.string(),
            "sample_a": pa.int64(),
            "system_b": pa.string(),
            "sample_b": pa.int64(),
            "preferred": pa.string(),
            "rater": pa.string(),
            "aspect": pa.string(),
            "comment": pa.string(),
            "metadata": pa.string(),
        }
    ),
}
"""Columns of the tables of records. ``parts`` and ``metadata``, whose keys differ from row to row,
are JSON in a string; "" stands for none."""
SCORE_SCHEMAS: dict[str, pa.Schema] = {
    "metric_scores": pa.schema(
        {
            "metric": pa.string(),
            "signature": pa.string(),
            "system": pa.string(),
            "level": pa.string(),
            "dialogue_id": pa.string(),
            "turn": pa.int64(),
            "score": pa.float64(),
        }
    ),
    "submitted_metrics": pa.schema(
        {
            "metric": pa.string(),
            "signature": pa.string(),
            "level": pa.string(),
            "higher_is_better": pa.bool_(),
            "submitted_by": pa.string(),
            "link": pa.string(),
            "file_sha256": pa.string(),
        }
    ),
}
ALWAYS = ("corpus", "systems", "raters", "dialogues", "responses")
"""Tables that are there with no row, too: who reads them needs not ask which there are."""


def path_of(folder: Path, table: str) -> Path:
    """Where a table of a dataset folder lies.

    Args:
        folder: the dataset folder.
        table: its name, a key of ``SCHEMAS`` or ``SCORE_SCHEMAS``.

    Returns:
        Path of the Parquet file.
    """
    return folder / "data" / f"{table}.parquet"


class _Tables:
    """The Parquet files that are being written, some rows of each in memory."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self.folder = folder
        self.files = files
        self.waiting: dict[str, list[Mapping[str, Any]]] = {}
        self.writers: dict[str, pq.ParquetWriter] = {}
        self.counts: Counter[str] = Counter()

    def add(self, table: str, row: Mapping[str, Any]) -> None:
        rows = self.waiting.setdefault(table, [])
        rows.append(row)
        self.counts[table] += 1
        if len(rows) == ROWS_AT_ONCE:
            self.write(table)

    def write(self, table: str) -> None:
        schema = SCHEMAS.get(table) or SCORE_SCHEMAS[table]
        if table not in self.writers:
            writer = pq.ParquetWriter(path_of(self.folder, table), schema, compression="zstd")
            self.writers[table] = self.files.enter_context(writer)
        rows = self.waiting.pop(table, [])
        self.writers[table].write_table(pa.Table.from_pylist(rows, schema))


def write(records: Iterable[Record], scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write a corpus and its metric scores as Parquet tables with a dataset card.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        scores: metric scores.
        folder: existing, empty folder.
    """
    (folder / "data").mkdir()
    corpus, raters, signatures = CorpusRecord(), Counter[str](), set[str]()
    submitted: dict[SubmittedRow, None] = {}
    with ExitStack() as files:
        tables = _Tables(folder, files)
        for record in records:
            table, row = table_row(record)
            tables.add(table, row)
            if isinstance(record, CorpusRecord):
                corpus = record
            elif isinstance(record, RaterRecord):
                raters[record.kind] += 1
        for system_scores in scores:
            signatures.add(system_scores.signature)
            for score in score_rows(system_scores):
                tables.add("metric_scores", score._asdict())
            if metric := submitted_row(system_scores):
                submitted[metric] = None
        for metric in submitted:
            tables.add("submitted_metrics", metric._asdict())
        for table in (*ALWAYS, *tables.waiting):
            if table in tables.waiting or table not in tables.writers:
                tables.write(table)
        counts = {name: tables.counts[name] for name in (*SCHEMAS, *SCORE_SCHEMAS)}
        written = [name for name in counts if name in tables.writers]
    card = dataset_card(corpus, {name: counts[name] for name in written}, raters, signatures)
    (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")


def table_row(record: Record) -> tuple[str, dict[str, Any]]:
    """The row of a record.

    Args:
        record: any record of ``annotations.formats.records``.

    Returns:
        (name of its table, a key of ``SCHEMAS``; its row by column).
    """
    match record:
        case CorpusRecord():
            return "corpus", {
                **_fields(record, "name", "part", "simulated", "description", "main_aspect"),
                "aspects": list(record.aspects),
                "lowest": record.scale[0],
                "highest": record.scale[1],
                "scales": [
                    {"aspect": aspect, "lowest": low, "highest": high}
                    for aspect, low, high in record.scales
                ],
                "language": record.language,
            }
        case SystemRecord():
            return "systems", _fields(record, "name", "kind", "description")
        case RaterRecord():
            return "raters", _fields(record, "name", "kind")
        case DialogueRecord():
            return "dialogues", {
                "dialogue_id": record.id,
                "persona": list(record.persona),
                "partner_persona": list(record.partner_persona),
                "messages": [_message(message) for message in record.messages],
                "turns": [
                    {
                        "number": turn.number,
                        "after": turn.after,
                        "context": [{"speaker": u.speaker, "text": u.text} for u in turn.context],
                        "references": list(turn.references),
                    }
                    for turn in record.turns
                ],
                "interactive": record.interactive,
                "knowledge": list(record.knowledge),
                "metadata": _json(record.metadata),
            }
        case ResponseRecord():
            return "responses", {
                **_fields(record, "dialogue_id", "turn", "system", "sample", "text"),
                "parts": _json(record.parts),
                "metadata": _json(record.metadata),
            }
        case RatingRecord():
            return "ratings", _fields(record, *SCHEMAS["ratings"].names)
        case LabelRecord():
            is_list = isinstance(record.value, tuple)
            return "labels", {
                **_fields(record, "dialogue_id", "turn", "system", "message", "rater", "question"),
                "values": list(record.value) if is_list else [record.value],
                "is_list": is_list,
            }
        case PreferenceRecord():
            return "preferences", {
                name: _json(record.metadata) if name == "metadata" else getattr(record, name)
                for name in SCHEMAS["preferences"].names
            }


def _fields(record: Record, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _message(message: Message) -> dict[str, str]:
    return {
        "role": message.role,
        "content": message.text,
        "name": message.name,
        "time": message.time,
        "parts": _json(message.parts),
        "metadata": _json(message.metadata),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) if value else ""


EXPORTER = Exporter(
    name="dataset",
    summary="Parquet tables with a dataset card, as the Hugging Face Hub takes them",
    write=write,
)
