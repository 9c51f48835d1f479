"""Evaluation logs of Inspect (``inspect_ai``), as JSON or as its archives ``.eval``: samples with
what the model answered, and scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    is_answer,
    logged_conversation,
    read_messages,
    rest_of,
)
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.evaluations import (
    Evaluations,
    add_score,
    present,
    text_of,
    texts_of,
)
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import MAX_OBJECT, json_rows, object_members
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.importers.table_source import number_in
from annotations.formats.records import ASSISTANT, Message

_HEADER = "header.json"
_KNOWN = (
    *("id", "epoch", "input", "target", "messages", "output", "scores", "score", "choices"),
    *("metadata", "store", "events", "attachments", "model_usage", "sandbox", "files", "uuid"),
    *("timelines", "events_data", "setup"),
)
_BEGINNING = re.compile(r'\s*\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":')
_NUMBERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partially correct, no answer."""


def _samples(path: Path, problems: Problems) -> Iterator[tuple[str, JsonObject]]:
    """Samples of all logs, each with the model that was evaluated."""
    if path.is_dir():
        headers = {one.parent: one for one in files_of(path, _HEADER)}
        for file in files_of(path, ".json"):
            own = problems_of(problems, path, file)
            archive = headers.get(file.parent.parent)
            if file.parent.name == "samples" and archive is not None:
                for where, value in json_rows(file, own):
                    row = JsonObject.of(value, f"{own.file}:{where}", problems)
                    if row is not None:
                        yield _model(archive, own), row
            elif not any(one in headers for one in file.parents):
                for system, row in _samples_of_log(file, own):
                    yield system, row
        return
    yield from _samples_of_log(path, problems)


def _model(header: Path, problems: Problems) -> str:
    for _, key, value in object_members(header, problems):
        if key == "eval" and isinstance(value, dict):
            return clean_name(value.get("model")) or ASSISTANT
    return ASSISTANT


def _samples_of_log(file: Path, problems: Problems) -> Iterator[tuple[str, JsonObject]]:
    system = ASSISTANT
    for where, key, value in object_members(file, problems, MAX_OBJECT):
        if key == "eval" and isinstance(value, dict):
            system = clean_name(value.get("model")) or system
        elif key == "samples" and where.endswith("]"):
            row = JsonObject.of(value, where, problems)
            if row is not None:
                yield system, row


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(sum(one.stat().st_size for one in files_of(path, ".json")), problems)
    evaluations = Evaluations()
    logs: list[Placed] = []
    for model, row in _samples(path, problems):
        output = row.value.get("output")
        answered = output if isinstance(output, dict) else {}
        system = clean_name(answered.get("model")) if model in ("", ASSISTANT) else model
        question = _question(row)
        messages = read_messages(row, "messages") if row.value.get("messages") else question
        if question is None or messages is None:
            continue
        answers = [one for one in messages[len(question) :] if is_answer(one)]
        name = clean_name(row.value.get("id"))
        system = system or ASSISTANT
        if len(answers) > 1:
            logs += _conversation(row, evaluations.ids.distinct(name), messages, system)
            continue
        text = answers[0].text if answers else _completion(answered)
        if not text and row.value.get("error"):
            row.problems.skip(row.where, row.field("error"), "ended in an error: no answer")
            continue
        before = messages[: messages.index(answers[0])] if answers else question
        dialogue = evaluations.dialogue(name, before, system, row.where)
        dialogue.metadata |= _metadata(row)
        dialogue.add_turn(0, None, texts_of(row.value.get("target")))
        parts = answers[0].parts if answers else ()
        dialogue.add_response(0, system, text, row.where, field=row.field("output"), parts=parts)
        _score(row, dialogue, system, 0)
    yield from evaluations.records()
    yield from logs


def _question(row: JsonObject) -> tuple[Message, ...] | None:
    value = row.value.get("input")
    if isinstance(value, list):
        return read_messages(row, "input")
    return prompted(value) if isinstance(value, str) and value.strip() else ()


def _completion(output: dict[str, Any]) -> str:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        content = "\n".join(one for one in texts if isinstance(one, str))
    return text_of(content if content is not None else output.get("completion"))


def _conversation(
    row: JsonObject, name: str, messages: tuple[Message, ...], system: str
) -> Iterator[Placed]:
    """A sample in which the model spoke more than once is judged as a whole."""
    judged = CrossedDialogue(name, row.where, messages)
    _score(row, judged, system, None)
    metadata = _metadata(row)
    if targets := texts_of(row.value.get("target")):
        metadata["target"] = list(targets)
    yield from logged_conversation(judged.id, messages, system, row.where, metadata=metadata)
    yield from judged.judgements


def _metadata(row: JsonObject) -> dict[str, Any]:
    inner = row.value.get("metadata")
    metadata = present({**rest_of(row, _KNOWN), **(inner if isinstance(inner, dict) else {})})
    if choices := row.value.get("choices"):
        metadata["choices"] = choices
    return metadata


def _score(row: JsonObject, dialogue: CrossedDialogue, system: str, turn: int | None) -> None:
    scores = row.value.get("scores")
    if not isinstance(scores, dict):
        scores = {"score": row.value["score"]} if row.value.get("score") else {}
    for scorer, score in scores.items():
        found = score if isinstance(score, dict) else {"value": score}
        value = found.get("value")
        for aspect, one in (value if isinstance(value, dict) else {scorer: value}).items():
            if isinstance(one, str):
                number = _NUMBERS.get(one, number_in(one))
                one = one if number is None else number
            reason = found.get("explanation")
            add_score(dialogue, system, aspect, one, row.where, turn=turn, comment=reason)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        is_archive = any(
            f"{one.removesuffix(_HEADER)}samples/" in " ".join(sample.members)
            for one in sample.members
            if one.endswith(_HEADER)
        )
        logs = [one for one in sample.members if one.endswith(".json")]
        is_log = bool(logs) and _is_log(sample.member(logs[0]))
        return 0.9 if is_archive or is_log else 0.0
    return 0.9 if _is_log(sample) else 0.0


def _is_log(sample: FileSample) -> bool:
    return sample.kind.startswith("json") and _BEGINNING.match(sample.text) is not None


_DESCRIPTION = """\
An evaluation log of Inspect: JSON, an archive `.eval`, or a folder of logs. A sample is a dialogue
with its `input`, `target` is the reference, and what the model answered is the response of the
model evaluated; answers of several models to one sample are compared. A sample in which the model
spoke more than once is a conversation of its own, judged as a whole. Each of `scores` is a score of
the rater `dataset` (C is 1, P 0.5, I and N 0; other words are labels), with the explanation as the
comment. `metadata` and `choices` are metadata; a sample that ended in an error is left out and
reported."""
_EXAMPLE = (
    '{"version": 2, "status": "success", "eval": {"task": "baking", "model": "openai/baker-1"}, '
    '"samples": [{"id": 1, "epoch": 1, "input": "Is the oven hot?", "target": "Not yet.", '
    '"messages": [{"role": "user", "content": "Is the oven hot?"}, {"role": "assistant", "content":'
    ' "Not yet."}], "output": {"model": "baker-1", "choices": []}, "scores": {"match": {"value": '
    '"C", "explanation": "The same."}}}]}\n'
)

IMPORTER = Importer(
    name="inspect",
    summary="evaluation logs of Inspect (JSON, .eval or a folder)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
