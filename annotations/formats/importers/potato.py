"""Annotations of Potato (Pei et al. 2022): the live store of version 2, its export as JSON lines,
and the ``annotated_instances.jsonl`` of version 1."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.annotated_text import add_logged_text, is_comment, system_of
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    ASSISTANT,
    Collection,
    Conversation,
    clean_name,
)
from annotations.formats.importers.fields import kind_of
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_source import is_missing, number_in, read_rows

MAX_STATE = 64 * 1024**2
"""Bytes of one rater's state."""
STATE, INSTANCES = "user_state.json", "annotated_instances.jsonl"
_BREAK = re.compile(r"<\s*br\s*/?\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{1,200}>")
_TRUE = ("true", "on", "1")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read Potato's annotations.

    Args:
        path: folder of a task (``user_state.json`` of each rater, and the items), folder of version
            1 (``RATER/annotated_instances.jsonl``), or a file of ``potato.export --format jsonl``.
        _part: ignored, one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: an item is a dialogue, its last reply what is rated. An answer that
        is a number is a score, a ticked box a label, a text box a comment. Consent and surveys are
        no ratings. The export has no texts: its items are empty conversations.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    collection = Collection(problems)
    if path.is_file() and "label_annotations" in FileSample.of(path).keys:
        _take_version_1(path, path, collection, problems)
        yield from collection.records()
        return
    if path.is_file():
        for line, record in json_rows(path, problems):
            if isinstance(record, dict) and isinstance(record.get("labels"), dict):
                item = collection.conversation(clean_name(record.get("instance_id")), line)
                _add_item(item, line)
                answers = _answers_by_schema(record["labels"])
                _take(item, 0, ASSISTANT, clean_name(record.get("user_id")), answers, line)
            else:
                problems.add(line, "labels", "is missing")
        yield from collection.records()
        return
    systems: dict[str, str] = {}
    for file in sorted(path.rglob("*")):
        if file.name == INSTANCES:
            _take_version_1(path, file, collection, problems)
        elif file.suffix in (".jsonl", ".json", ".csv", ".tsv") and file.name != STATE:
            _take_items(path, file, collection, systems, problems)
    for file in sorted(path.rglob(STATE)):
        _take_state(path, file, collection, systems, problems)
    yield from collection.records()


def _take_items(
    folder: Path, file: Path, collection: Collection, systems: dict[str, str], problems: Problems
) -> None:
    """Items have an id and a text; other files of a task do not."""
    own = problems_of(problems, folder, file)
    is_table = file.suffix in (".csv", ".tsv")
    rows: Iterable[tuple[Where, Any]] = read_rows(file, own) if is_table else json_rows(file, own)
    for place, row in rows:
        where = f"{own.file}:{place}"
        if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
            return
        name = clean_name(row["id"])
        systems[name] = system_of(row)
        one, _ = add_logged_text(collection, name, row["text"], systems[name], where)
        others = {key: value for key, value in row.items() if key not in ("id", "text")}
        one.metadata.update(others)


def _take_state(
    folder: Path, file: Path, collection: Collection, systems: dict[str, str], problems: Problems
) -> None:
    where = problems_of(problems, folder, file).file
    state = _state(file, where, problems)
    rater = clean_name(state.get("user_id")) or file.parent.name
    given = state.get("instance_id_to_label_to_value")
    for name, pairs in (given if isinstance(given, dict) else {}).items():
        item = collection.conversation(clean_name(name), where)
        if not item.turns:
            _add_item(item, where)
        answers = [
            (str(label.get("schema", "")), str(label.get("name", "")), value)
            for label, value in _pairs(pairs)
            if isinstance(label, dict)
        ]
        number = max(item.turns)
        _take(item, number, systems.get(item.id, ASSISTANT), rater, answers, where)
        spans = state.get("instance_id_to_span_to_value")
        if isinstance(spans, dict) and spans.get(name):
            item.metadata[f"spans of {rater}"] = spans[name]


def _pairs(listed: Any) -> list[list[Any]]:
    pairs = listed if isinstance(listed, list) else []
    return [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]


def _state(file: Path, where: Where, problems: Problems) -> dict[str, Any]:
    try:
        if file.stat().st_size > MAX_STATE:
            raise ValueError("is too large")
        state = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(state, dict):
            raise ValueError(f"must be an object, not {kind_of(state)}")
    except (OSError, ValueError, RecursionError) as error:
        problems.add(where, "", f"is not readable: {str(error)[:100]}")
        return {}
    return state


def _take_version_1(path: Path, file: Path, collection: Collection, problems: Problems) -> None:
    rater = clean_name(file.parent.name)
    own = problems_of(problems, path, file)
    for line, record in json_rows(file, own):
        where = line if file == path else f"{own.file}:{line}"
        if not isinstance(record, dict) or not isinstance(record.get("label_annotations"), dict):
            problems.add(where, "label_annotations", "is missing")
            continue
        name = clean_name(record.get("id"))
        shown = str(record.get("displayed_text", ""))
        text = html.unescape(_TAG.sub("", _BREAK.sub("\n", shown)))
        one, number = add_logged_text(collection, name, text, ASSISTANT, where)
        _take(one, number, ASSISTANT, rater, _answers_by_schema(record["label_annotations"]), where)
        extra = {
            key: record[key] for key in ("span_annotations", "behavioral_data") if record.get(key)
        }
        if extra:
            one.metadata.setdefault("annotations", {})[rater] = extra


def _answers_by_schema(labels: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        (schema, name, value)
        for schema, answers in labels.items()
        if isinstance(answers, dict)
        for name, value in answers.items()
    ]


def _add_item(item: Conversation, where: Where) -> None:
    """An item whose text is not in the file: there is something that was rated all the same."""
    item.turn(0, where)
    item.response(0, ASSISTANT, "", where)


def _take(
    item: Conversation,
    number: int,
    system: str,
    rater: str,
    answers: list[tuple[str, str, Any]],
    where: Where,
) -> None:
    if not item.responses:
        item.response(number, system, "", where)
    system = next(iter(item.responses.values()))[1].system
    ticked: dict[str, list[str]] = {}
    comments = []
    for schema, name, value in answers:
        text = "" if value is None else str(value).strip()
        if is_missing(text):
            continue
        score = number_in(text)
        if text.casefold() in _TRUE and number_in(name) is None:
            ticked.setdefault(schema, []).append(name)
        elif score is not None:
            item.rate(number, system, rater, schema, score, where)
        elif is_comment(schema) or is_comment(name):
            comments.append(text)
        else:
            ticked.setdefault(schema, []).append(text)
    for schema, names in ticked.items():
        value_of = names[0] if len(names) == 1 else tuple(names)
        item.label(number, system, rater, schema, value_of, where)
    for text in comments:
        item.comment(number, system, rater, text, where)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        names = {name.rpartition("/")[2] for name in sample.members}
        return 0.95 if names & {STATE, INSTANCES} else 0.0
    is_export = {"instance_id", "user_id", "labels"} <= sample.keys
    return 0.95 if is_export or "label_annotations" in sample.keys else 0.0


_DESCRIPTION = """\
The folder of a task (or a zip file of it): `annotation_output/RATER/user_state.json` and the data
files; or what `potato.export --format jsonl` writes; or version 1's
`RATER/annotated_instances.jsonl`."""
_EXAMPLE = """\
{"instance_id": "i1", "user_id": "ann", "labels": {"quality": {"4": "4"}}}
"""

IMPORTER = Importer(
    name="potato",
    summary="annotations of Potato: a task's folder, its export (JSON lines), or version 1",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
