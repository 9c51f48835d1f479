"""A dataset folder as the exporter ``dataset`` writes it: Parquet tables, one for each kind of
record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers import columnar
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.jsonl import record_of
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample

NEEDED = ("corpus", "dialogues")
HEADS = {"corpus": "corpus", "systems": "system", "raters": "rater"}
OF_DIALOGUES = {
    "responses": "response",
    "ratings": "rating",
    "labels": "label",
    "preferences": "preference",
}
"""Tables, and the type of their rows, in the order of the records."""
JSON_COLUMNS = ("parts", "metadata")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a dataset folder.

    Args:
        path: the folder. In every table the rows of a dialogue stand together, in the order of the
            dialogues.
        _part: ignored, the folder holds one corpus.
        problems: collects faults. A row with a fault is left out.

    Returns:
        Iterator over the records, each with its table and row. Metric scores are not read.

    Raises:
        ImportFailed: a table that is needed is missing, or a table is damaged.
    """
    for table in NEEDED:
        if not _file(path, table).is_file():
            problems.stop("", "", f"has no data/{table}.parquet")
    for table, type_name in HEADS.items():
        for row, where in _rows(path, table, problems):
            yield from _placed(row, type_name, where, problems)
    tables = {table: _rows(path, table, problems) for table in OF_DIALOGUES}
    following = {table: next(rows, None) for table, rows in tables.items()}
    for dialogue, where in _rows(path, "dialogues", problems):
        yield from _placed(dialogue, "dialogue", where, problems)
        for table, type_name in OF_DIALOGUES.items():
            while (one := following[table]) and one[0].get("dialogue_id") == dialogue.get(
                "dialogue_id"
            ):
                yield from _placed(one[0], type_name, one[1], problems)
                following[table] = next(tables[table], None)
    for row, where in filter(None, following.values()):
        problems.add(
            where,
            "dialogue_id",
            f"{row.get('dialogue_id')!r} is not among the dialogues, or the rows of a dialogue do "
            "not stand together in the dialogues' order",
        )


def _file(folder: Path, table: str) -> Path:
    return folder / "data" / f"{table}.parquet"


def _rows(folder: Path, table: str, problems: Problems) -> Iterator[tuple[dict[str, Any], str]]:
    if _file(folder, table).is_file():
        for number, row in enumerate(columnar.rows(_file(folder, table), problems), start=1):
            yield row, f"{table}[{number}]"


def _placed(
    row: dict[str, Any], type_name: str, where: str, problems: Problems
) -> Iterator[Placed]:
    """The row's record, read as the same line of ``jsonl``."""
    line = JsonObject.of({"type": type_name, **_without_empty(row)}, where, problems)
    assert line is not None
    fields = line.value
    if type_name == "corpus":
        fields["scale"] = [fields.pop("lowest", None), fields.pop("highest", None)]
        if isinstance(fields.get("scales"), list):
            fields["scales"] = [
                [one.get("aspect"), one.get("lowest"), one.get("highest")]
                for one in fields["scales"]
                if isinstance(one, dict)
            ]
    elif type_name == "dialogue":
        fields["id"] = fields.pop("dialogue_id", None)
        for number, message in enumerate(_objects(fields, "messages")):
            message["text"] = message.pop("content", "")
            _parse_json(message, line, f"messages[{number}].")
        for turn in _objects(fields, "turns"):
            if "after" in turn and not turn.get("context"):
                turn.pop("context", None)
        fields.setdefault("persona", [])
        fields.setdefault("partner_persona", [])
        fields.setdefault("turns", [])
    elif type_name in OF_DIALOGUES.values():
        fields.setdefault("turn", None)
    if type_name == "response":
        fields.setdefault("text", "")
    if type_name == "label":
        values = fields.pop("values", [])
        is_list = fields.pop("is_list", False) or not isinstance(values, list) or len(values) != 1
        fields["value"] = values if is_list else values[0]
        fields.setdefault("system", "")
    _parse_json(fields, line, "")
    record = record_of(line)
    if record is not None:
        yield record, where, ""


def _without_empty(row: dict[str, Any]) -> dict[str, Any]:
    """A table has every column in every row; a line leaves out what is not there."""
    return {name: value for name, value in row.items() if value is not None and value != ""}


def _objects(fields: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list, each without what is empty; any other value stays, to be refused."""
    values = fields.get(key)
    if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
        return []
    objects = [_without_empty(one) for one in values]
    fields[key] = objects
    return objects


def _parse_json(fields: dict[str, Any], line: JsonObject, path: str) -> None:
    for key in JSON_COLUMNS:
        if isinstance(written := fields.get(key), str):
            try:
                fields[key] = json.loads(written)
            except (ValueError, RecursionError):
                line.complain(f"{path}{key}", "is not JSON")
                del fields[key]


def _detect(sample: FileSample) -> float:
    there = {f"data/{table}.parquet" for table in NEEDED} <= set(sample.members)
    return 1.0 if sample.kind == "folder" and there else 0.0


IMPORTER = Importer(
    name="dataset",
    summary="a dataset folder with Parquet tables, as dialeval exports it",
    stream=stream,
    detect=_detect,
    description="The folder that the export `dataset` writes, also when it was published and "
    "loaded again: `data/corpus.parquet` and `data/dialogues.parquet`, and beside them "
    "`systems`, `raters`, `responses`, `ratings`, `labels` and `preferences` where there are any.",
)
