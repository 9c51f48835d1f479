"""OpenTelemetry's conventions for generative AI, in OTLP's JSON: spans with messages as
attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    parsed_json,
    read_message,
)
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.traces import Call, conversation_of
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_NAME

CHATS = ("chat", "text_completion", "generate_content")
"""Operations that are calls of a model; agents and tools repeat what these say."""
MAX_DEPTH = 20
_OPERATION, _CONVERSATION = "gen_ai.operation.name", "gen_ai.conversation.id"
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_INSTRUCTIONS = "gen_ai.system_instructions"
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")


@dataclass
class _Session:
    metadata: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[int, Call]] = field(default_factory=list)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    sessions: dict[str, _Session] = {}
    for _, document in numbered_objects(path, problems):
        for resource, span in _spans(document):
            _add(span, resource, sessions)
    for session, held in sessions.items():
        calls = [call for _, call in sorted(held.calls, key=lambda one: one[0])]
        yield from conversation_of(session, calls, held.metadata, problems)


def _spans(document: JsonObject) -> Iterator[tuple[dict[str, Any], JsonObject]]:
    for resource_spans in document.children("resourceSpans") or ():
        has_resource = resource_spans.value.get("resource") is not None
        resource = resource_spans.child("resource") if has_resource else None
        about = _attributes(resource) if resource else {}
        for scope_spans in resource_spans.children("scopeSpans") or ():
            for span in scope_spans.children("spans") or ():
                yield about, span


def _attributes(owner: JsonObject) -> dict[str, Any]:
    """The attributes of a resource or span by key."""
    if owner.value.get("attributes") is None:
        return {}
    found = {}
    for one in owner.children("attributes") or ():
        key = one.text("key", MAX_NAME)
        if key is not None:
            found[key] = _value(one.value.get("value"))
    return found


def _value(value: Any, depth: int = 0) -> Any:
    """What one of OTLP's typed values holds."""
    if not isinstance(value, dict) or len(value) != 1 or depth > MAX_DEPTH:
        return value
    ((kind, inner),) = value.items()
    if kind == "arrayValue" and isinstance(inner, dict):
        values = inner.get("values")
        return [_value(one, depth + 1) for one in values] if isinstance(values, list) else []
    if kind == "kvlistValue" and isinstance(inner, dict):
        pairs = inner.get("values")
        return {
            str(one.get("key")): _value(one.get("value"), depth + 1)
            for one in (pairs if isinstance(pairs, list) else ())
            if isinstance(one, dict)
        }
    if kind == "intValue" and isinstance(inner, str):
        return _integer(inner) if _integer(inner) is not None else inner
    return inner


def _integer(written: object) -> int | None:
    text = str(written)
    return int(text) if len(text) < 20 and text.isascii() and text.lstrip("-").isdigit() else None


def _add(span: JsonObject, resource: dict[str, Any], sessions: dict[str, _Session]) -> None:
    attributes = _attributes(span)
    if attributes.get(_OPERATION) not in CHATS or not attributes.keys() & {_INPUT, _OUTPUT}:
        return
    session = attributes.get(_CONVERSATION) or span.value.get("traceId")
    model = next((attributes[key] for key in _MODELS if attributes.get(key)), ASSISTANT)
    if not isinstance(session, str) or not isinstance(model, str):
        span.complain("attributes", f"{_CONVERSATION}, traceId and the model must be texts")
        return
    prompt = _messages(span, [{"role": SYSTEM, "parts": attributes.get(_INSTRUCTIONS)}])
    given = _messages(span, attributes.get(_INPUT))
    output = _messages(span, attributes.get(_OUTPUT))
    if prompt is None or given is None or output is None:
        return
    if attributes.get(_INSTRUCTIONS):
        given = (*prompt, *given)
    known = (_CONVERSATION, _INPUT, _OUTPUT, _INSTRUCTIONS, _OPERATION, *_MODELS[:1])
    about = {key: value for key, value in attributes.items() if key not in known}
    time = _integer(span.value.get("startTimeUnixNano")) or 0
    held = sessions.setdefault(session, _Session(dict(resource)))
    held.calls.append((time, Call(given, output, model, span.where, about)))


def _messages(span: JsonObject, value: Any) -> tuple[Message, ...] | None:
    """The messages of an attribute, which is JSON in a text, or typed values."""
    found = parsed_json(value)
    if found is None:
        return ()
    path = span.field("attributes")
    if not isinstance(found, list):
        span.complain("attributes", "has messages that are no list of objects, as JSON in a text")
        return None
    objects = [JsonObject.of(_with_parts(one), span.where, span.problems, path) for one in found]
    return all_or_none([None if one is None else read_message(one) for one in objects])


def _with_parts(message: Any) -> Any:
    if isinstance(message, dict) and "parts" in message:
        return {**message, "parts": parsed_json(message["parts"])}
    return message


def _detect(sample: FileSample) -> float:
    return 0.9 if "resourceSpans" in sample.keys and "gen_ai." in sample.text else 0.0


_DESCRIPTION = """\
OTLP's JSON (one object, or one a line) with spans that follow OpenTelemetry's conventions for
generative AI. Spans whose `gen_ai.operation.name` is `chat`, `text_completion` or
`generate_content` with one `gen_ai.conversation.id`, else one trace, are one dialogue; they are
taken in the order of their start, and what a span repeats of the history is stored once. The system
is `gen_ai.response.model`, else `gen_ai.request.model`. Tool calls, their answers and reasoning are
parts of messages. Attributes of the resource are metadata of the dialogue, those of the span of
the response."""
_EXAMPLE = (
    '{"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": [{"traceId": '
    '"a1", "spanId": "1", "startTimeUnixNano": "1", "attributes": [{"key": '
    '"gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": '
    '"gen_ai.response.model", "value": {"stringValue": "baker-1"}}, {"key": '
    '"gen_ai.input.messages", "value": {"stringValue": "[{\\"role\\": \\"user\\", \\"parts\\": '
    '[{\\"type\\": \\"text\\", \\"content\\": \\"Is the oven hot?\\"}]}]"}}, {"key": '
    '"gen_ai.output.messages", "value": {"stringValue": "[{\\"role\\": \\"assistant\\", '
    '\\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \\"Not yet.\\"}]}]"}}]}]}]}]}\n'
)

IMPORTER = Importer(
    name="otel-genai",
    summary="OpenTelemetry's spans of generative AI (OTLP as JSON)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
