"""Traces of Langfuse: the export of the table of traces, or traces as the API gives them, with
their observations and scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    USER,
    parsed_json,
    read_message,
    rest_of,
)
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_source import holds_json, read_rows
from annotations.formats.importers.traces import COMMENT, Call, Judgement, conversation_of
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_NAME, MAX_TEXT

_TRACE_KEYS = ("id", "timestamp", "name", "sessionId", "input", "output", "metadata")
_API_KEYS = ("observations", "scores", "htmlPath")
_EXPORT_KEYS = (
    "userId",
    "release",
    "version",
    "environment",
    "tags",
    "bookmarked",
    "public",
    "comments",
    "latency",
    "totalCost",
    "createdAt",
    "updatedAt",
    "externalId",
    "projectId",
    "level",
    "errorCount",
)
_GENERATION = "GENERATION"


class _Sessions:
    """The traces of each session, or of each trace that has none, in the order of the file."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.calls: dict[str, list[tuple[str, Call]]] = {}

    def add(self, trace: JsonObject) -> None:
        trace_id = trace.name("id")
        session = trace.name("sessionId") if trace.value.get("sessionId") else trace_id
        time = trace.value.get("timestamp")
        if trace_id is None or session is None:
            return
        calls = _of_observations(trace) if trace.has("observations") else _of_export(trace)
        for call in calls or ():
            self.calls.setdefault(session, []).append((str(time), call))

    def records(self) -> Iterator[Placed]:
        for session, timed in self.calls.items():
            calls = [call for _, call in sorted(timed, key=lambda one: one[0])]
            yield from conversation_of(session, calls, {}, self.problems)


def _of_export(trace: JsonObject) -> list[Call] | None:
    """The one call of a trace in the export, whose scores are columns named by the score."""
    read = _trace_call(trace)
    if read is None:
        return None
    comments = trace.children("comments") if trace.value.get("comments") else ()
    for index, comment in enumerate(comments or ()):
        text = comment.text("content", MAX_TEXT)
        if text is not None:
            # Who wrote it is an address, which is no name for others to see.
            remark = Judgement(COMMENT, text, "", "", trace.where, f"comments[{index}]")
            read.judgements.append(remark)
    for key, value in trace.value.items():
        if key in (*_TRACE_KEYS, *_EXPORT_KEYS) or not isinstance(value, list):
            continue
        for index, one in enumerate(value):
            score = _score(one)
            if score is None:
                trace.complain(f"{key}[{index}]", "must be a number or a text: a score")
            else:
                judgement = Judgement(key, score, "", "", trace.where, f"{key}[{index}]")
                read.judgements.append(judgement)
    return [read]


def _score(value: Any) -> float | str | None:
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return value if isinstance(value, str) and value.strip() else None


def _trace_call(trace: JsonObject) -> Call | None:
    """What a trace itself says of its input and output; its name is the system's."""
    system = trace.name("name") if trace.value.get("name") else ASSISTANT
    given, output = _messages_in(trace, "input", USER), _messages_in(trace, "output", ASSISTANT)
    if system is None or given is None or output is None:
        return None
    about = {key: trace.value[key] for key in _EXPORT_KEYS if key in trace.value}
    about.pop("comments", None)
    inner = trace.value.get("metadata")
    about |= inner if isinstance(inner, dict) else {} if inner is None else {"metadata": inner}
    about["trace"] = trace.value["id"]
    return Call(given, output, system, trace.where, about)


def _messages_in(row: JsonObject, key: str, role: str) -> tuple[Message, ...] | None:
    """The messages of an input or output: a list, an object with ``messages``, one message, or a
    text."""
    value = row.value.get(key)
    if value is None:
        return ()
    path = row.field(key)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value, path = value["messages"], f"{path}.messages"
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        # The answer of OpenAI's interface
        value = [one["message"] for one in value["choices"][:1] if "message" in one]
    if isinstance(value, dict) and "role" in value:
        value = [value]
    is_messages = isinstance(value, list) and all(
        isinstance(one, dict) and "role" in one for one in value
    )
    if not is_messages:
        return (Message(role, _text(value)),)
    objects = [
        JsonObject(one, row.where, f"{path}[{index}]", row.problems)
        for index, one in enumerate(value)
    ]
    return all_or_none([read_message(one) for one in objects])


def _text(value: Any) -> str:
    """A text, the only text of an object, or the value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, str):
            return inner
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return str(type(value).__name__)


def _of_observations(trace: JsonObject) -> list[Call] | None:
    """The calls of a trace of the API: its generations, with its scores."""
    observations = trace.children("observations")
    scores = trace.children("scores") if trace.value.get("scores") is not None else ()
    if observations is None or scores is None:
        return None
    generations = sorted(
        (one for one in observations if one.value.get("type") == _GENERATION),
        key=lambda one: str(one.value.get("startTime")),
    )
    whole = _trace_call(trace)
    if whole is None:
        return None
    calls: dict[str, Call] = {}
    for observation in generations:
        given, output = (
            _messages_in(observation, "input", USER),
            _messages_in(observation, "output", ASSISTANT),
        )
        has_model = bool(observation.value.get("model"))
        system = observation.name("model") if has_model else whole.system
        if given is None or output is None or system is None:
            return None
        known = ("input", "output", "model", "type", "id", "traceId", "metadata")
        about = {**whole.metadata, **rest_of(observation, known)}
        calls[str(observation.value.get("id"))] = Call(given, output, system, trace.where, about)
    made = list(calls.values()) or [whole]
    for score in scores:
        judgement = _api_score(score, score.value.get("observationId") not in calls)
        if judgement is not None:
            call = calls.get(str(score.value.get("observationId")), made[-1])
            call.judgements.append(judgement)
    return made


def _api_score(score: JsonObject, of_conversation: bool) -> Judgement | None:
    name = score.text("name", MAX_NAME)
    is_category = score.value.get("dataType") == "CATEGORICAL"
    value = score.text("stringValue", MAX_TEXT) if is_category else score.number("value")
    rater = score.name("authorUserId") if score.value.get("authorUserId") else ""
    has_comment = score.value.get("comment") is not None
    comment = score.text("comment", MAX_TEXT, True) if has_comment else ""
    if name is None or value is None or rater is None or comment is None:
        return None
    return Judgement(name, value, rater, comment, score.where, score.path, of_conversation)


def _rows(path: Path, problems: Problems) -> Iterator[JsonObject]:
    """Traces; of a table the rows, whose cells are JSON where they are no plain text."""
    if holds_json(path):
        for _, trace in numbered_objects(path, problems):
            yield trace
        return
    for line, cells in read_rows(path, problems):
        values = {key: _of_cell(cell) for key, cell in cells.items()}
        yield JsonObject(values, line, "", problems)


def _of_cell(cell: str) -> Any:
    """What a cell says: JSON, a text as it is or in quotes, or nothing."""
    if cell[:1] == '"':
        quoted = parsed_json(f"[{cell}]")
        return quoted[0] if isinstance(quoted, list) and len(quoted) == 1 else cell
    return parsed_json(cell) if cell.strip() else None


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    sessions = _Sessions(problems)
    for trace in _rows(path, problems):
        sessions.add(trace)
    yield from sessions.records()


def _detect(sample: FileSample) -> float:
    is_trace = sample.keys >= {"sessionId", "input", "output", "timestamp"}
    return 0.9 if is_trace else 0.0


_DESCRIPTION = """\
A JSON array, JSON lines or CSV of traces, as the table of traces exports them, or traces of the API
with `observations` and `scores`. Traces with one `sessionId`, else each trace, are one dialogue:
what a trace repeats of the history is stored once. Of a trace with generations these are read, the
system is their `model`; else the trace's own input and output, and the system is its `name`.
Numbers are scores on an open scale, texts are labels, a comment is a free text. A score of an
observation is about its response, one without about the conversation. Raters are `authorUserId`,
else they are anonymous; addresses of authors are not kept. Tags, metadata
and costs are metadata."""
_EXAMPLE = (
    '[{"id": "t1", "timestamp": "2026-03-01T10:00:00Z", "name": "baker", "sessionId": "s1", '
    '"input": {"messages": [{"role": "user", "content": "Is the oven hot?"}]}, "output": '
    '{"role": "assistant", "content": "Not yet."}, "metadata": {}, "helpfulness": [1]}]\n'
)

IMPORTER = Importer(
    name="langfuse",
    summary="traces of Langfuse, with scores",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
