"""Spans of OpenInference (Phoenix): messages in flattened attributes, annotations beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    name_or,
    parsed_json,
    read_message,
)
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.traces import Call, Judgement, conversation_of
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_ASPECT, MAX_TEXT

MAX_DEPTH = 12
"""Parts of a key between dots."""
_KIND, _SESSION = "openinference.span.kind", "session.id"


def nested(attributes: dict[str, Any]) -> dict[str, Any]:
    """Undo the flattening of attributes.

    Args:
        attributes: keys such as ``llm.input_messages.0.message.role``.

    Returns:
        Objects within objects; where all keys of one are numbers, a list in their order.
    """
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if value is None:  # of another span's columns, in a table
            continue
        *path, last = key.split(".", MAX_DEPTH)
        branch = tree
        for step in path:
            inner = branch.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            branch = inner
        else:
            branch.setdefault(last, value)
    return {key: _with_lists(value) for key, value in tree.items()}


def _with_lists(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or depth > 2 * MAX_DEPTH:
        return value
    inner = {key: _with_lists(one, depth + 1) for key, one in value.items()}
    if inner and all(key.isascii() and key.isdigit() and len(key) < 7 for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    sessions: dict[str, list[tuple[str, Call]]] = {}
    about: dict[str, dict[str, Any]] = {}
    for _, span in numbered_objects(path, problems):
        attributes = span.child("attributes")
        if attributes is None:
            continue
        tree = nested(attributes.value)
        if attributes.value.get(_KIND, _at(tree, *_KIND.split("."))) != "LLM":
            continue
        session = _at(tree, *_SESSION.split(".")) or _at(span.value, "context", "trace_id")
        if not isinstance(session, str | int) or isinstance(session, bool):
            span.complain("attributes", f"has no {_SESSION} and the span no trace_id")
            continue
        call = _call(span, tree)
        if call is not None:
            sessions.setdefault(str(session), []).append((str(span.value.get("start_time")), call))
            metadata = parsed_json(tree.get("metadata"))
            known = about.setdefault(str(session), {})
            known.update(metadata if isinstance(metadata, dict) else {})
    for session, timed in sessions.items():
        calls = [call for _, call in sorted(timed, key=lambda one: one[0])]
        yield from conversation_of(session, calls, about[session], problems)


def _at(tree: Any, *path: str) -> Any:
    for step in path:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def _call(span: JsonObject, tree: dict[str, Any]) -> Call | None:
    llm = JsonObject.of(tree.get("llm"), span.where, span.problems, "attributes.llm")
    if llm is None:
        return None
    given, output = _messages(llm, "input_messages"), _messages(llm, "output_messages")
    system = name_or(llm, "model_name", ASSISTANT)
    if given is None or output is None or system is None:
        return None
    rest = {
        key: value
        for key, value in llm.value.items()
        if key not in ("input_messages", "output_messages", "model_name")
    }
    call = Call(given, output, system, span.where, rest)
    annotations = tree.get("annotations")
    for index, one in enumerate(annotations if isinstance(annotations, list) else ()):
        path = f"attributes.annotations.{index}.annotation"
        inner = JsonObject.of(_at(one, "annotation"), span.where, span.problems, path)
        if inner is not None:
            call.judgements += _judgements(inner)
    return call


def _messages(llm: JsonObject, key: str) -> tuple[Message, ...] | None:
    if not llm.has(key):
        return ()
    items = llm.items(key)
    if items is None:
        return None
    messages = []
    for index, item in enumerate(items):
        path = f"{llm.field(key)}.{index}.message"
        message = JsonObject.of(_at(item, "message"), llm.where, llm.problems, path)
        messages.append(None if message is None else read_message(_as_chat(message)))
    return all_or_none(messages)


def _as_chat(message: JsonObject) -> JsonObject:
    """The message with its tool calls and contents as OpenAI has them."""
    value = dict(message.value)
    if isinstance(value.get("tool_calls"), list):
        value["tool_calls"] = [_at(one, "tool_call") or one for one in value["tool_calls"]]
    contents = value.get("contents")
    if isinstance(contents, list) and "content" not in value:
        del value["contents"]
        value["content"] = [_at(one, "message_content") or one for one in contents]
    return JsonObject(value, message.where, message.path, message.problems)


def _judgements(annotation: JsonObject) -> Iterator[Judgement]:
    name = annotation.text("name", MAX_ASPECT)
    by_model = annotation.value.get("annotator_kind") == "LLM"
    rater = name_or(annotation, "identifier", "LLM" if by_model else "")
    has_comment = annotation.value.get("explanation") is not None
    comment = annotation.text("explanation", MAX_TEXT, True) if has_comment else ""
    if name is None or rater is None or comment is None:
        return
    place = (annotation.where, annotation.path)
    if annotation.value.get("score") is not None:
        score = annotation.number("score")
        if score is not None:
            yield Judgement(name, score, rater, comment, *place)
            comment = ""
    if annotation.value.get("label") is not None:
        label = annotation.text("label", MAX_TEXT)
        if label is not None:
            yield Judgement(name, label, rater, comment, *place)


def _detect(sample: FileSample) -> float:
    attributes = sample.record.get("attributes")
    keys = " ".join(attributes) if isinstance(attributes, dict) else ""
    return 0.95 if "openinference" in keys or "llm.input_messages" in keys else 0.0


_DESCRIPTION = """\
JSON lines or a JSON array of spans with `attributes` in OpenInference's names. Spans of the kind
`LLM` with one `session.id`, else one trace, are one dialogue: what a span repeats of the history is
stored once. The system is `llm.model_name`. An annotation's `score` is a score on an open scale,
its `label` a label, its `explanation` the comment; its rater is `identifier`, `LLM` for a model,
else anonymous. Token counts and other attributes are metadata of the response."""
_EXAMPLE = (
    '{"name": "chat", "context": {"trace_id": "x1"}, "start_time": "2026-03-01T09:00:00Z", '
    '"attributes": {"openinference.span.kind": "LLM", "llm.model_name": "baker-1", '
    '"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Is the '
    'oven hot?", "llm.output_messages.0.message.role": "assistant", '
    '"llm.output_messages.0.message.content": "Not yet.", "session.id": "s1", '
    '"annotations.0.annotation.name": "correct", "annotations.0.annotation.score": 1}}\n'
)

IMPORTER = Importer(
    name="openinference",
    summary="spans of OpenInference (Phoenix), with annotations",
    stream=with_head(_body, rater_kinds={"LLM": "aggregate"}),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
