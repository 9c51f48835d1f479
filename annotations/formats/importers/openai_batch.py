"""OpenAI's Batch API: the requests, and the answers to them in other files, joined by
``custom_id``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    is_answer,
    read_message,
    read_messages,
    rest_of,
)
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, rows_of_files
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message
from common.text import MAX_NAME

TOOL_CALL_ANSWERS = "tool_calls_as_answers"
"""Metadata of a dialogue: what systems answered by a call of a tool only, which is no response."""


@dataclass
class _Requests:
    """What was asked: equal messages are one dialogue, numbered by their first request."""

    dialogues: dict[str, CrossedDialogue]
    by_custom_id: dict[str, tuple[CrossedDialogue, str]]
    answered: set[str]

    def add(self, row: JsonObject) -> None:
        custom_id = row.text("custom_id", MAX_NAME)
        body = row.child("body")
        messages = read_messages(body, "messages") if body else None
        if custom_id is None or body is None or messages is None:
            return
        if custom_id in self.by_custom_id:
            row.complain("custom_id", f"{custom_id!r} occurs twice")
            return
        key = json.dumps([_words(message) for message in messages])
        dialogue = self.dialogues.get(key)
        if dialogue is None:
            metadata = rest_of(body, ("messages", "model"))
            dialogue = CrossedDialogue(str(len(self.dialogues) + 1), row.where, messages, metadata)
            self.dialogues[key] = dialogue
        model = body.value.get("model")
        self.by_custom_id[custom_id] = dialogue, model if isinstance(model, str) else ""


def _words(message: Message) -> list[Any]:
    return [message.role, message.name, message.text, [dict(part) for part in message.parts]]


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(sum(one.stat().st_size for one in files_of(path, ".jsonl")), problems)
    requests = _Requests({}, {}, set())
    answers = []
    for row in rows_of_files(path, ".jsonl", problems):
        if row.has("body"):
            requests.add(row)
        else:
            answers.append(row)
    if answers and not requests.by_custom_id and not problems.found:
        problems.stop(
            "",
            "",
            "holds answers but not what was asked: give a folder with the file of requests, too",
        )
    for row in answers:
        _add_answer(row, requests)
    for custom_id, (dialogue, _) in requests.by_custom_id.items():
        if custom_id not in requests.answered:
            problems.skip(dialogue.where, "custom_id", f"{custom_id!r} has no answer")
    for dialogue in requests.dialogues.values():
        yield from dialogue.records()


def _add_answer(row: JsonObject, requests: _Requests) -> None:
    custom_id = row.text("custom_id", MAX_NAME)
    if custom_id is None:
        return
    requests.answered.add(custom_id)
    response = row.value.get("response")
    if row.value.get("error") is not None or response is None:
        row.problems.skip(row.where, "error", f"the request {custom_id!r} failed")
        return
    answer = row.child("response")
    status = answer.value.get("status_code") if answer else None
    if answer is None:
        return
    if status != 200:
        row.problems.skip(row.where, "response.status_code", f"{custom_id!r} failed: {status!r}")
        return
    if custom_id not in requests.by_custom_id:
        row.complain("custom_id", f"{custom_id!r} is of no request in these files")
        return
    dialogue, model = requests.by_custom_id[custom_id]
    body = answer.child("body")
    system = body.text("model", MAX_NAME) if body else None
    choices = body.children("choices") if body else None
    if body is None or system is None or choices is None:
        return
    about = {**rest_of(body, ("model", "choices")), "custom_id": custom_id, "asked_model": model}
    for choice in choices:
        inner = choice.child("message")
        message = read_message(inner) if inner else None
        if message is None:
            continue
        if not is_answer(message):
            dialogue.metadata.setdefault(TOOL_CALL_ANSWERS, []).append(
                {"system": system, "parts": list(message.parts)}
            )
            continue
        dialogue.add_response(
            0,
            system,
            message.text,
            row.where,
            field=choice.path,
            parts=message.parts,
            metadata={**about, **rest_of(choice, ("message", "index")), **message.metadata},
        )


def _detect(sample: FileSample) -> float:
    members = [sample.member(name) for name in sample.members if name.endswith(".jsonl")]
    return max((0.95 for one in (sample, *members) if one.keys >= {"custom_id", "body"}), default=0)


_DESCRIPTION = """\
A folder with the file of requests (`custom_id`, `body`) and the files of answers and errors
(`custom_id`, `response`, `error`) of OpenAI's Batch API, or one file with all their lines. Requests
with equal messages are one dialogue, numbered from 1 in the order of the requests; each choice of
an answer is a response of the system that `body.model` of the answer names, several choices are its
samples. An answer that only calls a tool is no response (it is metadata of the dialogue). Failed,
expired and unanswered requests are left out and reported."""
_EXAMPLE = (
    '{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": '
    '"baker", "messages": [{"role": "user", "content": "Is the oven hot?"}]}}\n'
    '{"id": "r1", "custom_id": "a", "response": {"status_code": 200, "body": {"model": "baker-1", '
    '"choices": [{"index": 0, "message": {"role": "assistant", "content": "Not yet."}, '
    '"finish_reason": "stop"}]}}, "error": null}\n'
)

IMPORTER = Importer(
    name="openai-batch",
    summary="OpenAI's Batch API: requests and answers (a folder)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
