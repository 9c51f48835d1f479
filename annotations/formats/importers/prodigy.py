"""Annotations of Prodigy, as ``prodigy db-out`` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.annotated_text import add_last_reply, dialogue_of, system_of
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import Collection, clean_name
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_source import number_in

ACCEPT = "accept"
_USED = ("text", "meta", "accept", "answer", "options", "config", "_annotator_id", "_session_id")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read Prodigy's annotations.

    Args:
        path: JSON lines.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: the last line of ``text`` is the system's reply. The accepted option
        is a score on the aspect ``accept`` where its id is a number, else a label. What was
        rejected or ignored is skipped; its response stays.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    collection = Collection(problems)
    for line, record in json_rows(path, problems):
        if isinstance(record, dict) and isinstance(record.get("text"), str):
            _take(collection, record, line, problems)
        else:
            problems.add(line, "text", "is missing")
    yield from collection.records()


def _take(collection: Collection, record: dict[str, Any], line: Where, problems: Problems) -> None:
    meta = record.get("meta") if isinstance(record.get("meta"), dict) else {}
    fields = {**record, **(meta or {})}
    system = system_of(fields)
    name = dialogue_of(fields) or clean_name(record.get("_input_hash")) or str(line)
    one, number = add_last_reply(collection, name, record["text"], system, line)
    rater = clean_name(record.get("_annotator_id") or record.get("_session_id")) or "annotator"
    others = {
        key: value for key, value in (meta or {}).items() if key not in ("system", "dialog_id")
    }
    others |= {
        key: value
        for key, value in record.items()
        if key not in _USED and key not in ("_timestamp", "_input_hash")
    }
    one.describe(number, system, others)
    answer = record.get("answer", "accept")
    if answer != "accept":
        problems.skip(line, "answer", f"is {str(answer)[:50]}")
        return
    chosen = record.get("accept")
    words = []
    for option in chosen if isinstance(chosen, list) else ["accept"]:
        score = number_in(str(option))
        if score is not None:
            one.rate(number, system, rater, ACCEPT, score, line)
        else:
            words.append(str(option))
    if words:
        one.label(
            number, system, rater, ACCEPT, words[0] if len(words) == 1 else tuple(words), line
        )


def _detect(sample: FileSample) -> float:
    return 0.95 if {"text", "answer", "_task_hash"} <= sample.keys else 0.0


_DESCRIPTION = """\
What `prodigy db-out` writes: `text` with lines `Speaker: text`, `accept`, `answer`, and `dialog_id`
and `system` in `meta`."""
_EXAMPLE = (
    '{"text": "U: Is it raining?\\nS: Not yet.", "meta": {"dialog_id": "d1", "system": "north-1"}, '
    '"_task_hash": 5, "accept": [3], "answer": "accept", "_annotator_id": "study-ann"}\n'
)

IMPORTER = Importer(
    name="prodigy",
    summary="annotations of Prodigy (JSON lines of db-out)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
