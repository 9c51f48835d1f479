"""Test runs of DeepEval: test cases with the metrics that judged them, of single answers and of
conversations."""

from __future__ import annotations

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
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.evaluations import add_score, present, text_of, texts_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import object_members
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.records import ASSISTANT

_CASES = ("testCases", "test_cases")
_CONVERSATIONS = ("conversationalTestCases", "conversational_test_cases")
_RESULTS = ("testResults", "test_results")
_TEXTS = ("input", "turns", "actualOutput", "actual_output", "expectedOutput", "expected_output")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")
_KNOWN = (*_TEXTS, *_METRICS, "name", "context", "trace")


def _value(row: JsonObject, *keys: str) -> Any:
    """The first of the fields that is there: camel case in files, snake case in Python."""
    return next((row.value[key] for key in keys if row.value.get(key) is not None), None)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    system, number = ASSISTANT, 0
    for _, key, value in object_members(path, problems):
        if key == "hyperparameters" and isinstance(value, dict):
            system = clean_name(value.get("model")) or system
    for where, key, value in object_members(path, problems):
        if key in (*_CASES, *_CONVERSATIONS, *_RESULTS) and where.endswith("]"):
            number += 1
            row = JsonObject.of(value, where, problems)
            if row is not None:
                yield from _records_of_case(row, number, system)


def _records_of_case(row: JsonObject, number: int, system: str) -> Iterator[Placed]:
    metadata = present(rest_of(row, _KNOWN))
    if name := clean_name(row.value.get("name")):
        metadata["name"] = name
    if isinstance(row.value.get("turns"), list):
        turns = read_messages(row, "turns")
        if turns is None:
            return
        judged = CrossedDialogue(str(number), row.where, turns)
        if any(map(is_answer, turns)):
            _judge(row, judged, system, None)
        yield from logged_conversation(
            judged.id, turns, system, row.where, field="turns", metadata=metadata
        )
        yield from judged.judgements
        return
    question = text_of(row.value.get("input"))
    answered = _value(row, "actualOutput", "actual_output")
    messages = prompted(question) if question else ()
    dialogue = CrossedDialogue(str(number), row.where, messages, metadata)
    context = row.value.get("context")
    dialogue.knowledge = texts_of(context) if isinstance(context, list) else ()
    dialogue.add_turn(0, None, texts_of(_value(row, "expectedOutput", "expected_output")))
    if answered is None:
        row.problems.skip(row.where, "actualOutput", "is missing: no answer")
        return
    dialogue.add_response(0, system, text_of(answered), row.where, field="actualOutput")
    _judge(row, dialogue, system, 0)
    yield from dialogue.records()


def _judge(row: JsonObject, dialogue: CrossedDialogue, system: str, turn: int | None) -> None:
    metrics = _value(row, *_METRICS)
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, dict):
            add_score(
                dialogue,
                system,
                str(metric.get("name", metric.get("metric", ""))),
                metric.get("score"),
                row.where,
                turn=turn,
                rater=metric.get("evaluationModel", metric.get("evaluation_model")),
                comment=metric.get("reason"),
            )


def _detect(sample: FileSample) -> float:
    if sample.kind not in ("json object", "json lines"):
        return 0.0
    return 0.9 if sample.keys & {*_CASES, *_CONVERSATIONS, *_RESULTS} else 0.0


_DESCRIPTION = """\
The JSON of a test run of DeepEval. A test case is a dialogue: `input` is what the user says,
`actualOutput` the response, `expectedOutput` a reference, `context` knowledge. A conversational
test case is a conversation whose assistant is judged as a whole. Each of `metricsData` is a score
by the `evaluationModel`, else by the rater `dataset`, with its reason as the comment. The system is
the model of the `hyperparameters`, else `assistant`. All other fields are metadata; a case without
an answer is left out and reported."""
_EXAMPLE = (
    '{"testCases": [{"name": "oven", "input": "Is the oven hot?", "actualOutput": "Not yet.", '
    '"expectedOutput": "No.", "success": true, "metricsData": [{"name": "Answer Relevancy", '
    '"score": 0.9, "reason": "It answers.", "evaluationModel": "judge-1"}]}]}\n'
)

IMPORTER = Importer(
    name="deepeval",
    summary="test runs of DeepEval (JSON)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
