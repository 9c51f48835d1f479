"""Records of Argilla 2: ``records.to_json``, ``to_disk``, or ``records.to_datasets`` as rows (JSON
lines, Parquet); also of records that this project exported."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotations.formats.importers.annotated_items import KEY, AnnotatedItems
from annotations.formats.importers.annotated_text import is_comment, system_of
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    Collection,
    Conversation,
    add_log,
    clean_name,
    score_of,
)
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import chat_messages, conversation

KINDS = ("responses", "conversations", "pairs")
"""Folders of an export, in the order in which they are read."""
_SUFFIX = ".responses"
_REFERENCES = ("reference", "references", "gold")
_RESPONSES = ("response", "answer", "output", "completion", "generation")
_CONTEXTS = ("prompt", "context", "instruction", "question", "input", "text")
_LONG = 8
"""Words of an answer that is a text, not a category."""

Answer = tuple[str, str, Any, str]
"""Question, rater, value, status."""


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read Argilla's records.

    Args:
        path: JSON array of records with ``fields`` and ``responses``, or JSON lines with columns
            ``QUESTION.responses``, ``QUESTION.responses.users`` and ``QUESTION.responses.status``;
            or a folder with ``records.json``, or with such folders.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. A field with messages is the conversation, its last reply what is
        rated; fields of texts are a context and a response. Numbers are scores, names labels, free
        text comments. Discarded answers and drafts are skipped. Suggestions are metadata.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    collection, items = Collection(problems), AnnotatedItems(problems)
    files = [path]
    if path.is_dir():
        below = ("", *KINDS)
        files = [file for name in below if (file := path / name / "records.json").is_file()]
    for file in files:
        own = problems_of(problems, path, file)
        for number, (element, record) in enumerate(json_rows(file, own), 1):
            where = element if file == path else f"{own.file}:{element}"
            if not isinstance(record, dict):
                problems.add(where, "", "must be an object")
                continue
            name = clean_name(record.get("id") or record.get("external_id")) or str(number)
            if isinstance(record.get("fields"), dict):
                fields, answers = record["fields"], _nested_answers(record)
                described = record.get("metadata")
                metadata = dict(described) if isinstance(described, dict) else {}
                extra = {key: record[key] for key in ("suggestions", "vectors") if record.get(key)}
            else:
                fields, answers, metadata = _flat(record)
                extra = {}
            if KEY in metadata:
                _take_back(items, metadata[KEY], fields, answers, where)
            else:
                _take(collection, name, fields, metadata, answers, where, extra)
    if items and collection.conversations:
        problems.add("", "", f"holds records with metadata.{KEY} beside others: import them apart")
    yield from items.records() if items else collection.records()


def _take_back(
    items: AnnotatedItems,
    written: Any,
    fields: Mapping[str, Any],
    answers: list[Answer],
    where: Where,
) -> None:
    """A record of this project's export."""
    try:
        origin = json.loads(written) if isinstance(written, str) else None
    except (ValueError, RecursionError):
        origin = None
    item = items.item(origin, f"metadata.{KEY}", fields.get("context"), where)
    if item is None:
        return
    judgements = item.origin.value.get("judgements")
    for question, user, value, status in answers:
        of_question = judgements.get(question) if isinstance(judgements, dict) else None
        known = of_question.get(user) if isinstance(of_question, dict) else None
        if status not in ("submitted", None):
            items.problems.skip(where, question, f"is {str(status)[:50]}")
            continue
        if isinstance(known, dict) and known.get("list") is True and isinstance(value, str):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(value)
        if value is not None:
            items.judge(item, question, user, value, known, where)
    items.finish(item)


def _nested_answers(record: Mapping[str, Any]) -> list[Answer]:
    responses = record.get("responses")
    if isinstance(responses, list):  # version 1: an object a person
        return [
            (
                question,
                clean_name(one.get("user_id")),
                given["value"],
                one.get("status", "submitted"),
            )
            for one in responses
            if isinstance(one, dict) and isinstance(one.get("values"), dict)
            for question, given in one["values"].items()
            if isinstance(given, dict) and "value" in given
        ]
    return [
        (question, clean_name(one.get("user_id")), one.get("value"), one.get("status", "submitted"))
        for question, given in (responses if isinstance(responses, dict) else {}).items()
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict)
    ]


def _flat(record: Mapping[str, Any]) -> tuple[dict[str, Any], list[Answer], dict[str, Any]]:
    """Fields, answers and metadata of a row: messages and texts of fields stand beside metadata."""
    questions = [key.removesuffix(_SUFFIX) for key in record if key.endswith(_SUFFIX)]
    answers: list[Answer] = []
    for question in questions:
        values, users, states = (
            column if isinstance(column := record.get(f"{question}{_SUFFIX}{part}"), list) else []
            for part in ("", ".users", ".status")
        )
        for place, value in enumerate(values):
            user = users[place] if place < len(users) else ""
            state = states[place] if place < len(states) else "submitted"
            answers.append((question, clean_name(user), value, state))
    others = {
        key: value
        for key, value in record.items()
        if not any(key.startswith(f"{question}{_SUFFIX}") for question in questions)
        and key not in ("id",)
        and value is not None
    }
    is_field = (*_REFERENCES, *_RESPONSES, *_CONTEXTS)
    fields = {key: one for key, one in others.items() if isinstance(one, list) or key in is_field}
    return fields, answers, {key: one for key, one in others.items() if key not in fields}


def _take(
    collection: Collection,
    name: str,
    fields: Mapping[str, Any],
    metadata: dict[str, Any],
    answers: list[Answer],
    where: Where,
    extra: Mapping[str, Any],
) -> None:
    one = collection.conversation(name, where)
    system = system_of(metadata)
    references = [fields[key] for key in _REFERENCES if isinstance(fields.get(key), str)]
    chat = next(
        (
            found
            for value in fields.values()
            if isinstance(value, list) and value and (found := chat_messages(value))
        ),
        None,
    )
    if chat is not None:
        one.messages = chat
        add_log(one, system, where)
    else:
        context = next((fields[key] for key in _CONTEXTS if isinstance(fields.get(key), str)), "")
        reply = next((fields[key] for key in _RESPONSES if isinstance(fields.get(key), str)), None)
        if reply is None and not context.strip():
            message = f"have neither messages nor a text named {_CONTEXTS[0]} or {_RESPONSES[0]}"
            collection.problems.add(where, "fields", message)
        one.turn(0, where, conversation(context) if context.strip() else ())
        if reply is not None:
            one.response(0, system, reply, where)
    last = max(one.turns)
    for reference in references:
        if reference.strip():
            one.turn(last, where, one.turns[last].context, reference)
    used = {key for key in fields if chat is None and key in (*_CONTEXTS, *_RESPONSES)}
    others = {
        key: value
        for key, value in fields.items()
        if isinstance(value, str) and key not in used and key not in _REFERENCES
    }
    one.metadata.update({**metadata, **others, **extra})
    comments = []
    for question, rater, value, status in answers:
        if status not in ("submitted", None):
            collection.problems.skip(where, question, f"is {str(status)[:50]}")
        elif not one.responses:
            collection.problems.skip(where, question, "rates a record without a response")
        elif isinstance(value, str) and (is_comment(question) or len(value.split()) > _LONG):
            comments.append((rater, value))
        else:
            _judge(one, last, system, question, rater, value, where)
    for rater, text in comments:
        one.comment(last, system, rater, text, where)


def _judge(
    one: Conversation,
    number: int,
    system: str,
    question: str,
    rater: str,
    value: Any,
    where: Where,
) -> None:
    score = score_of(value)
    if score is not None:
        one.rate(number, system, rater, question, score, where)
    elif isinstance(value, str):
        one.label(number, system, rater, question, value, where)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        one.label(number, system, rater, question, tuple(value), where)
    elif value is not None:  # a ranking, or spans
        one.metadata.setdefault(f"{question}{_SUFFIX}", {})[rater] = value


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        below = ("", *(f"{kind}/" for kind in KINDS))
        pairs = ({f"{one}records.json", f"{one}.argilla/settings.json"} for one in below)
        return 0.95 if any(pair <= set(sample.members) for pair in pairs) else 0.0
    if {"fields", "responses", "suggestions"} <= sample.keys:
        return 0.95
    has_columns = any(key.endswith(f"{_SUFFIX}.status") for key in sample.keys)
    return 0.95 if has_columns else 0.0


_DESCRIPTION = """\
What `records.to_json` writes, or the rows of `records.to_datasets`: a field with messages, or texts
`prompt` and `response`; `system` in the metadata; responses to questions."""
_EXAMPLE = """\
[{"id": "1", "fields": {"chat": [
    {"role": "user", "content": "Is it raining?"}, {"role": "assistant", "content": "Not yet."}]},
  "metadata": {"system": "north-1"}, "suggestions": {},
  "responses": {"quality": [{"value": 4, "user_id": "ann"}]}}]
"""

IMPORTER = Importer(
    name="argilla",
    summary="records of Argilla 2 (to_json, or rows of to_datasets)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
