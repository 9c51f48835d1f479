"""A dataset folder as the Hugging Face Hub takes it: one Parquet table for each kind of record, and
the dataset card ``README.md``, whose heading names the tables.

``datasets.load_dataset(folder, "responses")`` reads it; the importer ``dataset`` reads it back as
the same corpus version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from itertools import accumulate, chain
from operator import attrgetter
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
    TurnRecord,
    Utterance,
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
TABLES: dict[type[Record], str] = {
    CorpusRecord: "corpus",
    SystemRecord: "systems",
    RaterRecord: "raters",
    DialogueRecord: "dialogues",
    ResponseRecord: "responses",
    RatingRecord: "ratings",
    LabelRecord: "labels",
    PreferenceRecord: "preferences",
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
        self.waiting: dict[str, list[Any]] = {}
        self.writers: dict[str, pq.ParquetWriter] = {}
        self.counts: Counter[str] = Counter()

    def add(self, table: str, row: Any) -> None:
        rows = self.waiting.setdefault(table, [])
        rows.append(row)
        if len(rows) == ROWS_AT_ONCE:
            self.write(table)

    def write(self, table: str) -> None:
        schema = SCHEMAS.get(table) or SCORE_SCHEMAS[table]
        if table not in self.writers:
            writer = pq.ParquetWriter(path_of(self.folder, table), schema, compression="zstd")
            self.writers[table] = self.files.enter_context(writer)
        rows = self.waiting.pop(table, [])
        self.counts[table] += len(rows)
        columns = [_column(rows, table, column) for column in schema]
        self.writers[table].write_table(pa.Table.from_arrays(columns, schema=schema))


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
            tables.add(TABLES[type(record)], record)
            if isinstance(record, CorpusRecord):
                corpus = record
            elif isinstance(record, RaterRecord):
                raters[record.kind] += 1
        for system_scores in scores:
            signatures.add(system_scores.signature)
            for score in score_rows(system_scores):
                tables.add("metric_scores", score)
            if metric := submitted_row(system_scores):
                submitted[metric] = None
        for metric in submitted:
            tables.add("submitted_metrics", metric)
        for table in (*ALWAYS, *tables.waiting):
            if table in tables.waiting or table not in tables.writers:
                tables.write(table)
        counts = {name: tables.counts[name] for name in (*SCHEMAS, *SCORE_SCHEMAS)}
        written = [name for name in counts if name in tables.writers]
    card = dataset_card(corpus, {name: counts[name] for name in written}, raters, signatures)
    (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")


def _column(rows: Sequence[Any], table: str, column: pa.Field) -> pa.Array:
    """A column of some rows, made at once: rows as dictionaries take several times as long."""
    if table == "dialogues" and column.name == "messages":
        return _in_lists([row.messages for row in rows], _messages)
    if table == "dialogues" and column.name == "turns":
        return _in_lists([row.turns for row in rows], _turns)
    value = _VALUES.get((table, column.name)) or attrgetter(column.name)
    values = map(value, rows)
    return pa.array(
        list(map(_json, values) if column.name in JSON_COLUMNS else values), column.type
    )


JSON_COLUMNS = ("parts", "metadata")
_VALUES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("corpus", "lowest"): lambda corpus: corpus.scale[0],
    ("corpus", "highest"): lambda corpus: corpus.scale[1],
    ("dialogues", "dialogue_id"): attrgetter("id"),
    ("labels", "values"): lambda label: (
        [label.value] if isinstance(label.value, str) else label.value
    ),
    ("labels", "is_list"): lambda label: not isinstance(label.value, str),
}
"""Of columns that do not have the name of a field."""


def _in_lists(lists: Sequence[Sequence[Any]], make: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Lists of what ``make`` makes of all their elements, one after the other."""
    values = make(list(chain.from_iterable(lists)))
    ends = accumulate(map(len, lists), initial=0)
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)


def _messages(messages: list[Message]) -> pa.Array:
    return _struct(
        _MESSAGE,
        [message.role for message in messages],
        [message.text for message in messages],
        [message.name for message in messages],
        [message.time for message in messages],
        [_json(message.parts) for message in messages],
        [_json(message.metadata) for message in messages],
    )


def _turns(turns: list[TurnRecord]) -> pa.Array:
    return _struct(
        _TURN,
        [turn.number for turn in turns],
        [turn.after for turn in turns],
        _in_lists([turn.context for turn in turns], _utterances),
        [turn.references for turn in turns],
    )


def _utterances(utterances: list[Utterance]) -> pa.Array:
    return _struct(
        _UTTERANCE, [one.speaker for one in utterances], [one.text for one in utterances]
    )


def _struct(type: pa.StructType, *columns: Any) -> pa.Array:
    fields = list(type)
    arrays = [pa.array(column, field.type) for field, column in zip(fields, columns, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) if value else ""


EXPORTER = Exporter(
    name="dataset",
    summary="Parquet tables with a dataset card, as the Hugging Face Hub takes them",
    write=write,
)
