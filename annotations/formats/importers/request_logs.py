"""Logs of a language model's API: what was asked and what was answered, a call a record (OpenAI's
chat completions and responses, Anthropic's messages, runs of LangSmith and Braintrust)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    is_answer,
    read_messages,
    rest_of,
    system_prompt,
    tool_call,
)
from annotations.formats.importers.collected import clean_name, score_of
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import DATASET, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.records import ASSISTANT, Message, RatingRecord

_PAIRS = (("request", "response"), ("inputs", "outputs"), ("input", "output"))
_LISTS = ("messages", "input", "contents", "chat_history")
_TEXTS = ("prompt", "input", "question", "query", "text", "content")
_ANSWERS = ("output", "answer", "text", "content", "output_text", "result", "response")
_SCORES = ("scores", "feedback_stats")
"""Braintrust's, and LangSmith's means."""
_NO_ANSWERS = ("tool", "retriever", "prompt", "parser", "embedding")
"""Types of LangSmith's runs in which no model answers."""
_IDS = ("id", "run_id", "request_id", "trace_id")


def _keys(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Names of the two fields, of which one at least is no text."""
    for request_key, response_key in _PAIRS:
        values = record.get(request_key), record.get(response_key)
        if None not in values and any(isinstance(one, dict | list) for one in values):
            return request_key, response_key
    return None


def _request_messages(row: JsonObject, key: str) -> tuple[Message, ...] | None:
    """The messages of a request: a list, an object with one or with a text, or a text."""
    value = row.value[key]
    if isinstance(value, str):
        return prompted(value)
    if isinstance(value, list):
        return read_messages(row, key)
    request = row.child(key)
    if request is None:
        return None
    _, prompt = system_prompt(request)
    before = (prompt,) if prompt else ()
    for name in _LISTS:
        if isinstance(listed := value.get(name), list):
            if len(listed) == 1 and isinstance(listed[0], list):  # LangChain: a list a prompt
                request = replace(request, value={**value, name: listed[0]})
            messages = read_messages(request, name)
            return None if messages is None else (*before, *messages)
    text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    if text is None:
        row.complain(key, "has no messages, and no prompt")
        return None
    return (*before, *prompted(text))


def _answered(value: Any) -> list[dict[str, Any]]:
    """The answers in OpenAI's layout of a message; several choices are several answers."""
    if isinstance(value, str):
        return [{"role": ASSISTANT, "content": value}]
    if isinstance(value, list):
        return _of_items(value)
    if not isinstance(value, dict):
        return []
    if isinstance(choices := value.get("choices"), list):
        return [one for choice in choices if isinstance(choice, dict) for one in _choice(choice)]
    if isinstance(generations := value.get("generations"), list):
        return [one for each in generations for one in _generated(each)]
    if isinstance(message := value.get("message"), dict):
        return [message]
    if isinstance(items := value.get("output", value.get("messages")), list):
        return _of_items(items)
    if isinstance(value.get("content"), list):
        return [{"role": ASSISTANT, "content": value["content"]}]
    text = next((value[name] for name in _ANSWERS if isinstance(value.get(name), str)), None)
    return [] if text is None else [{"role": ASSISTANT, "content": text}]


def _choice(choice: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(choice.get("message"), dict):
        yield choice["message"]
    elif isinstance(choice.get("text"), str):
        yield {"role": ASSISTANT, "content": choice["text"]}


def _generated(value: Any) -> Iterator[dict[str, Any]]:
    """LangChain's generations, a list of them a prompt."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict) and isinstance(one.get("message"), dict):
            yield one["message"]
        elif isinstance(one, dict) and isinstance(one.get("text"), str):
            yield {"role": ASSISTANT, "content": one["text"]}


def _of_items(items: list[Any]) -> list[dict[str, Any]]:
    """One answer of the items of a response: texts, and calls of tools."""
    texts: list[str] = []
    parts: list[dict[str, Any]] = []
    for item in items:
        content = item.get("content") if isinstance(item, dict) else item
        if isinstance(item, dict) and item.get("type") == "function_call":
            parts.append(tool_call(item.get("name"), item.get("arguments"), item.get("call_id")))
        elif isinstance(item, dict) and item.get("role", ASSISTANT) != ASSISTANT:
            continue
        elif isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            inner = [one.get("text") for one in content if isinstance(one, dict)]
            texts += [one for one in inner if isinstance(one, str)]
    spoken = [{"type": "text", "text": text} for text in texts]
    return [{"role": ASSISTANT, "content": [*spoken, *parts]}] if spoken or parts else []


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        if row.value.get("run_type") in _NO_ANSWERS:
            row.problems.skip(row.where, "run_type", f"is {row.value['run_type']}: no answer")
            continue
        keys = _keys(row.value)
        if keys is None:
            row.complain("", "has no request and response")
            continue
        yield from _records_of_row(row, number, *keys)


def _records_of_row(
    row: JsonObject, number: int, request_key: str, response_key: str
) -> Iterator[Placed]:
    messages = _request_messages(row, request_key)
    wrapped = replace(row, value={response_key: _answered(row.value[response_key])})
    answers = read_messages(wrapped, response_key)
    if messages is None or answers is None:
        return
    if not any(is_answer(one) for one in answers):
        row.problems.skip(row.where, response_key, "holds no answer")
        return
    systems = (
        (row.value.get(key) or {}).get("model")
        for key in (response_key, request_key)
        if isinstance(row.value.get(key), dict)
    )
    system = clean_name(next(filter(None, systems), None) or row.value.get("model")) or ASSISTANT
    name = next((clean_name(row.value[key]) for key in _IDS if row.value.get(key)), str(number))
    metadata = rest_of(row, (request_key, response_key, "model", *_SCORES, *_IDS))
    if isinstance(request := row.value[request_key], dict):
        metadata |= {key: one for key, one in request.items() if key not in (*_LISTS, *_TEXTS)}
        metadata.pop("model", None)
    dialogue = CrossedDialogue(name, row.where, messages, metadata)
    for answer in answers:
        if is_answer(answer):
            dialogue.add_response(
                0,
                system,
                answer.text,
                row.where,
                field=response_key,
                parts=answer.parts,
                metadata=answer.metadata,
            )
    for key in _SCORES:
        scores = row.value.get(key)
        for aspect, value in scores.items() if isinstance(scores, dict) else ():
            score = score_of(value.get("avg") if isinstance(value, dict) else value)
            if score is not None:
                rating = RatingRecord(name, 0, system, DATASET, aspect, score)
                dialogue.judgements.append((rating, row.where, f"{key}.{aspect}"))
    yield from dialogue.records()


def _detect(sample: FileSample) -> float:
    keys = _keys(sample.record)
    if keys is None or sample.keys & {"sessionId", "messages"}:
        return 0.0
    value = sample.record[keys[0]]
    has_text = isinstance(value, dict) and any(key in value for key in (*_LISTS, *_TEXTS))
    is_list = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return 0.5 if has_text or is_list or isinstance(value, str) else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines: a call of a model a record, with `request` and `response` (or `input`
and `output`, `inputs` and `outputs`) as OpenAI's, Anthropic's and LangChain's have them. Each is a
dialogue; each choice is a response, or a further sample, of the system that the answer's `model`
names, else the request's. `scores`, numbers by name, and the means of `feedback_stats` are scores
of the rater `dataset`; LangSmith's runs of tools and retrievers are left out. All other
fields are metadata; a record without an answer is left out and reported."""
_EXAMPLE = (
    '{"request": {"model": "baker-1", "messages": [{"role": "user", "content": "Is the oven hot?"}'
    ']}, "response": {"choices": [{"message": {"role": "assistant", "content": "Not yet."}}]}}\n'
)

IMPORTER = Importer(
    name="request-logs",
    summary="logs of a language model's API: request and response a record",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
