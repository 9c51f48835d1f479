"""Exports of doccano: one file of JSON lines a member, or one for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.annotated_text import add_last_reply, dialogue_of, system_of
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import Collection, clean_name
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import conversation
from annotations.formats.importers.table_source import (
    holds_json,
    is_missing,
    number_in,
    read_rows,
)

ASPECT = "label"
_USED = ("text", "label", "Comments", "system", "model", "dialog_id")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read doccano's exports.

    Args:
        path: folder of files, or one file; a file's name is the rater.
        _part: ignored, one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: the last line of a text is the system's reply. A label that is a
        number is a score, another one a label, both on the aspect ``label``.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    collection = Collection(problems)
    files = [one for ending in ("jsonl", "csv") for one in sorted(path.glob(f"*.{ending}"))]
    for file in files if path.is_dir() else [path]:
        rater = clean_name(file.stem)
        own = problems_of(problems, path, file)
        rows = json_rows(file, own) if holds_json(file) else _rows_of_table(file, own)
        for line, record in rows:
            where = line if file == path else f"{file.name}:{line}"
            if isinstance(record, dict) and isinstance(record.get("text"), str):
                _take(collection, record, rater, where)
            else:
                problems.add(where, "text", "is missing")
    yield from collection.records()


def _rows_of_table(path: Path, problems: Problems) -> Iterator[tuple[Where, dict[str, Any]]]:
    """Rows of CSV as the records of JSON lines: labels stand in one cell, with ``#`` between."""
    for line, row in read_rows(path, problems):
        labels = [one.strip() for one in row.get("label", "").split("#") if one.strip()]
        comments = [one for one in (row.get("Comments", ""),) if not is_missing(one)]
        rest = {key: cell for key, cell in row.items() if not is_missing(cell)}
        text = row.get("text") or row.get("data")
        rest.pop("data", None)
        yield line, {**rest, "text": text, "label": labels, "Comments": comments}


def _take(collection: Collection, record: dict[str, Any], rater: str, line: Where) -> None:
    system = system_of(record)
    name = dialogue_of(record) or clean_name(record.get("id"))
    one, number = add_last_reply(collection, name, record["text"], system, line)
    labels = record.get("label") if isinstance(record.get("label"), list) else []
    spans = [label for label in labels or [] if not isinstance(label, str)]
    others = {key: value for key, value in record.items() if key not in _USED}
    one.describe(number, system, others)
    if spans:
        one.describe(number, system, {f"spans of {rater}": spans})
    words = []
    for label in labels or []:
        if isinstance(label, str):
            score = number_in(label)
            if score is None:
                words.append(label)
            else:
                one.rate(number, system, rater, ASPECT, score, line)
    if words:
        value = words[0] if len(words) == 1 else tuple(words)
        one.label(number, system, rater, ASPECT, value, line)
    comments = record.get("Comments")
    for text in comments if isinstance(comments, list) else []:
        if isinstance(text, str) and text.strip():
            one.comment(number, system, rater, text.strip(), line)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        lines = [name for name in sample.members if name.endswith((".jsonl", ".csv"))]
        is_flat = bool(lines) and len(lines) == len(sample.members)
        return 0.9 if is_flat and _detect(sample.member(lines[0])) else 0.0
    if {"id", "text", "label", "Comments"} <= sample.keys:
        return 0.8
    # Without comments these are headings that others have, too: the text must be a conversation
    texts = [str(row.get("text", row.get("data", ""))) for row in sample.rows]
    is_doccano = sample.kind == "table" and {"id", "label"} <= sample.keys
    is_talk = any(len(conversation(text)) > 1 for text in texts)
    return 0.7 if is_doccano and sample.keys & {"text", "data"} and is_talk else 0.0


_DESCRIPTION = """\
A folder (or zip file) with one file a member, whose name is the rater, as JSON lines or CSV: `text`
(or `data`) with lines `Speaker: text`, `label` (in CSV with `#` between several), `Comments`, and
`dialog_id` and `system` as metadata."""
_EXAMPLE = (
    '{"id": 1, "text": "user: Is it raining?\\nbot: Not yet.", "dialog_id": "d1", '
    '"system": "north-1", "label": ["4"], "Comments": []}\n'
)

IMPORTER = Importer(
    name="doccano",
    summary="exports of doccano: one file a rater (folder, zip, JSON lines or CSV)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
