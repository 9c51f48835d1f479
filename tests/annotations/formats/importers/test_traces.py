"""Traces: what each call repeats of the history is stored once, and scores find their response."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.openinference import nested
from annotations.formats.importers.registry import likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, read

SYSTEM = ("system", "Be brief.")
HOT, NOT_YET = ("user", "Hot?"), ("assistant", "Not yet.")
NOW, YES = ("user", "And now?"), ("assistant", "Yes.")


def trace(number: int, given: list[tuple[str, str]], answer: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "timestamp": f"2026-03-01T10:00:0{number}Z",
        "name": "baker",
        "sessionId": "s",
        "input": [{"role": role, "content": text} for role, text in given],
        "output": {"role": "assistant", "content": answer},
        "metadata": {"locale": "en", "try": number},
        **more,
    }


@pytest.mark.parametrize(
    "second",
    [
        pytest.param([SYSTEM, HOT, NOT_YET, NOW], id="the whole history"),
        pytest.param([SYSTEM, NOW], id="the new message alone"),
        pytest.param([SYSTEM, NOT_YET, NOW], id="the end of the history"),
        pytest.param([NOW], id="not even the prompt"),
    ],
)
def test_a_session_is_one_conversation(tmp_path: Path, second: list[tuple[str, str]]) -> None:
    calls = [trace(2, second, "Yes."), trace(1, [SYSTEM, HOT], "Not yet.")]
    records = read("langfuse", file_of(tmp_path, calls))
    (dialogue,) = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [SYSTEM, HOT, NOT_YET, NOW, YES]
    assert dialogue.interactive
    assert dialogue.metadata == {"locale": "en"}
    assert [
        (one.turn, one.text, one.metadata["try"]) for one in of_type(records, ResponseRecord)
    ] == [
        (0, "Not yet.", 1),
        (1, "Yes.", 2),
    ]


def test_a_message_that_is_said_again_is_no_history(tmp_path: Path) -> None:
    calls = [
        trace(1, [HOT], "Not yet."),
        trace(2, [NOW], "Yes."),
        trace(3, [HOT], "Not yet."),
    ]
    (dialogue,) = of_type(read("langfuse", file_of(tmp_path, calls)), DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        *(HOT, NOT_YET, NOW, YES, HOT, NOT_YET)
    ]


def test_columns_of_an_export_are_scores_labels_and_remarks(tmp_path: Path) -> None:
    call = trace(1, [HOT], "Not yet.", helpful=[1, 0.5], tone=["warm"], none=None)
    call["comments"] = [{"content": "too short", "author_email": "ann@example.org"}]
    records = read("langfuse", file_of(tmp_path, [call]))
    assert of_type(records, RatingRecord) == [
        RatingRecord("s", 0, "baker", "rater 1", "helpful", 1.0),
        RatingRecord("s", 0, "baker", "rater 2", "helpful", 0.5),
    ]
    assert of_type(records, LabelRecord) == [
        LabelRecord("s", 0, "baker", "rater 1", "comment", "too short"),
        LabelRecord("s", 0, "baker", "rater 1", "tone", "warm"),
    ]
    assert "example.org" not in repr(records)


def test_systems_that_take_turns_are_no_interactive_dialogue(tmp_path: Path) -> None:
    second = trace(2, [HOT, NOT_YET, NOW], "Yes.", name="cook")
    records = read("langfuse", file_of(tmp_path, [trace(1, [HOT], "Not yet."), second]))
    assert not of_type(records, DialogueRecord)[0].interactive
    assert [one.system for one in of_type(records, ResponseRecord)] == ["baker", "cook"]


def test_a_score_of_the_api_is_about_its_observation_or_the_conversation(tmp_path: Path) -> None:
    observation = {
        "id": "o1",
        "type": "GENERATION",
        "startTime": "2026-03-01T10:00:00Z",
        "model": "baker-1",
        "input": [{"role": "user", "content": "Hot?"}],
        "output": {"role": "assistant", "content": "Not yet."},
    }
    scores = [
        {"name": "right", "observationId": "o1", "value": 1, "authorUserId": "ann"},
        {"name": "clear", "observationId": None, "value": 0.5, "comment": "so so"},
        {"name": "tone", "observationId": "o1", "dataType": "CATEGORICAL", "value": 0}
        | {"stringValue": "cold", "authorUserId": "ann"},
    ]
    call = trace(1, [HOT], "Not yet.", observations=[observation], scores=scores)
    records = read("langfuse", file_of(tmp_path, json.dumps(call, indent=1)))
    assert of_type(records, RatingRecord) == [
        RatingRecord("s", 0, "baker-1", "ann", "right", 1.0),
        RatingRecord("s", None, "baker-1", "rater 1", "clear", 0.5, "so so"),
    ]
    assert of_type(records, LabelRecord) == [LabelRecord("s", 0, "baker-1", "ann", "tone", "cold")]


def test_flattened_attributes_are_nested_again() -> None:
    flat = {
        "m.1.text": "b",
        "m.0.text": "a",
        "m.0.role": "user",
        "session.id": "s",
        "m.2.text": None,
    }
    assert nested(flat) == {
        "m": [{"text": "a", "role": "user"}, {"text": "b"}],
        "session": {"id": "s"},
    }


def test_an_annotation_may_be_score_label_and_explanation(tmp_path: Path) -> None:
    span = {
        "context": {"trace_id": "x"},
        "attributes": {
            "openinference.span.kind": "LLM",
            "llm.model_name": "baker-1",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Hot?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Not yet.",
            "annotations.0.annotation.name": "true",
            "annotations.0.annotation.annotator_kind": "LLM",
            "annotations.0.annotation.score": 1,
            "annotations.0.annotation.label": "yes",
            "annotations.0.annotation.explanation": "it is cold",
        },
    }
    records = read("openinference", lines_of(tmp_path, [span]))
    assert of_type(records, RatingRecord) == [
        RatingRecord("x", 0, "baker-1", "LLM", "true", 1.0, "it is cold")
    ]
    assert of_type(records, LabelRecord) == [LabelRecord("x", 0, "baker-1", "LLM", "true", "yes")]


def test_a_table_of_traces_holds_json_in_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "traces.csv"
    row = ["t1", "2026-01-01T10:00:00Z", "baker", "s1", '[{"role": "user", "content": "Hot?"}]']
    row += ['"Not \\"yet\\"."', "{}", "[0.5]", '["warm"]', ""]
    heads = ["id", "timestamp", "name", "sessionId", "input", "output", "metadata", "tact"]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*heads, "tone", "tags"], row])
    name, _ = likely_format(path)
    records = read(name or "", path)
    (dialogue,) = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Hot?", 'Not "yet".']
    assert [(one.aspect, one.score) for one in of_type(records, RatingRecord)] == [("tact", 0.5)]
    assert [(one.question, one.value) for one in of_type(records, LabelRecord)] == [
        ("tone", "warm")
    ]
