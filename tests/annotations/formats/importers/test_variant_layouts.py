"""Known formats as other versions and programs write them: nothing that they judge is lost."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.importers.speakers import with_prompt
from annotations.formats.records import DialogueRecord, LabelRecord, PreferenceRecord, RatingRecord
from tests.annotations.formats.importers.helpers import (
    file_of,
    lines_of,
    of_type,
    problems,
    surveyed,
)
from tests.annotations.formats.importers.test_evaluation_logs import recognised, scores, texts


def table_of(folder: Path, *rows: list[Any]) -> Path:
    path = folder / "table.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def messages_of(records: list[Any]) -> list[tuple[str, str]]:
    [dialogue] = of_type(records, DialogueRecord)
    return [(one.role, one.text) for one in dialogue.messages]


CHAT = [{"role": "user", "content": "Hot?"}, {"role": "assistant", "content": "No."}]


def test_a_winner_may_be_true(tmp_path: Path) -> None:
    names = ["id", "model_a", "model_b", "prompt", "response_a", "response_b"]
    heads = [*names, "winner_model_a", "winner_model_b", "winner_tie"]
    path = table_of(
        tmp_path, heads, ["1", "x", "y", "Hot?", "No.", "Yes.", "False", "True", "False"]
    )
    [vote] = of_type(recognised(path), PreferenceRecord)
    assert (vote.system_a, vote.system_b, vote.preferred) == ("x", "y", "b")


def test_preferences_of_a_table(tmp_path: Path) -> None:
    heads = ["prompt", "chosen", "rejected", "chosen_score", "rejected_score"]
    records = recognised(table_of(tmp_path, heads, ["Hot?", "No.", "Yes.", "4.5", "2"]))
    assert texts(records) == [("1", "chosen", "No."), ("1", "rejected", "Yes.")]
    assert [one[2:] for one in scores(records)] == [
        ("chosen", "score", 4.5),
        ("rejected", "score", 2.0),
    ]


def test_chats_are_named_by_their_conversation_and_model(tmp_path: Path) -> None:
    record = {"conversation_id": "c7", "model_name": "baker", "messages": CHAT}
    assert texts(recognised(lines_of(tmp_path, [record]))) == [("c7", "baker", "No.")]


def test_ratings_of_a_short_export_of_label_studio(tmp_path: Path) -> None:
    row = {"id": 1, "dialogue": CHAT, "quality": [{"rating": 4}], "tone": {"choices": ["a", "b"]}}
    row |= {"topic": "ovens", "annotator": 3, "annotation_id": 9, "lead_time": 1.5, "pace": 2}
    records = recognised(file_of(tmp_path, [row, {**row, "annotator": 4, "annotation_id": 10}]))
    assert [(one.rater, one.aspect, one.score) for one in of_type(records, RatingRecord)] == [
        *(("3", "quality", 4.0), ("3", "pace", 2.0), ("4", "quality", 4.0), ("4", "pace", 2.0)),
    ]
    assert of_type(records, LabelRecord)[0].value == ("a", "b")
    assert of_type(records, DialogueRecord)[0].metadata == {"topic": "ovens"}


def test_answers_of_argilla_s_first_version(tmp_path: Path) -> None:
    answers = {"user_id": "ann", "status": "submitted", "values": {"tact": {"value": 4}}}
    record = {"fields": {"prompt": "Hot?", "response": "No."}, "responses": [answers]}
    path = file_of(tmp_path, [{**record, "suggestions": [], "external_id": "e1"}])
    assert scores(recognised(path)) == [("e1", 0, "assistant", "tact", 4.0)]


def test_mean_scores_of_outputs(tmp_path: Path) -> None:
    row = {"doc_id": "d", "source": "Hot?\nNo.\nNow?\n", "reference": "Yes.", "context": "Ovens."}
    rows = [
        {**row, "system_id": name, "system_output": name, "scores": {"coherence": 2.5, "odd": None}}
        for name in ("x", "y")
    ]
    records = recognised(file_of(tmp_path, rows))
    assert messages_of(records) == [("user", "Hot?"), ("assistant", "No."), ("user", "Now?")]
    assert texts(records) == [("d", "x", "x"), ("d", "y", "y")]
    assert [one[2:] for one in scores(records)] == [
        ("x", "coherence", 2.5),
        ("y", "coherence", 2.5),
    ]
    [dialogue] = of_type(records, DialogueRecord)
    assert (dialogue.knowledge, dialogue.turns[0].references) == (("Ovens.",), ("Yes.",))


@pytest.mark.parametrize(
    ("context", "roles"),
    [
        ("Hot?\nNo.", ["user", "assistant"]),
        ("User: Hot?", ["user"]),
        ('["Hot?", "No."]', ["user", "assistant"]),
        ("", []),
    ],
)
def test_before_a_prompt_the_assistant_spoke_last(context: str, roles: list[str]) -> None:
    assert [one.role for one in with_prompt(context, "And now?")] == [*roles, "user"]


def test_without_a_prompt_the_user_spoke_last() -> None:
    assert [one.role for one in with_prompt("Hot?\nNo.\nNow?", "")] == [
        *("user", "assistant", "user")
    ]


def test_a_text_that_is_cut_where_its_style_changes(tmp_path: Path) -> None:
    cut = ["Not ", {"type": "bold", "text": "yet"}, "."]
    said = [{"from": "Ann", "text": "Hot?"}, {"from": "Bob", "text": cut}]
    records = recognised(file_of(tmp_path, {"name": "kitchen", "messages": said}))
    assert messages_of(records) == [("Ann", "Hot?"), ("Bob", "Not yet.")]


def test_a_transcript_in_chatml(tmp_path: Path) -> None:
    said = [("system", "Be brief."), ("user", "Hot?\nNow?"), ("assistant", "No.")]
    text = "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in said)
    records = recognised(lines_of(tmp_path, [{"text": text}]))
    assert messages_of(records) == said
    assert texts(records) == [("1", "assistant", "No.")]


def test_the_answer_of_openai_s_interface_in_a_trace(tmp_path: Path) -> None:
    trace = {"id": "t", "timestamp": "2026-01-01T10:00:00Z", "name": "baker", "sessionId": None}
    trace |= {"input": {"messages": CHAT[:1]}, "output": {"choices": [{"message": CHAT[1]}]}}
    assert texts(recognised(lines_of(tmp_path, [trace]))) == [("t", "baker", "No.")]


def test_a_system_prompt_beside_an_instruction_names_no_system(tmp_path: Path) -> None:
    row = {"system": "Be brief.", "instruction": "Hot?", "input": "", "output": "No."}
    assert texts(recognised(lines_of(tmp_path, [row]))) == [("1", "assistant", "No.")]


def test_texts_of_people_in_turn(tmp_path: Path) -> None:
    records = recognised(lines_of(tmp_path, [{"id": "d", "utterances": ["Hot?", "No."]}]))
    assert messages_of(records) == [("speaker", "Hot?"), ("speaker", "No.")]


def test_rows_that_judge_whole_conversations(tmp_path: Path) -> None:
    said = "User: Hot?\nBot: Not\nyet.\nUser: Now?"
    heads = ["id", "conversation", "model", "annotator", "coherence", "fluent"]
    rows = [["c1", said, "baker", one, score, "yes"] for one, score in (("ann", 4), ("bob", 5))]
    records = recognised(table_of(tmp_path, heads, *rows))
    assert messages_of(records) == [("user", "Hot?"), ("assistant", "Not\nyet."), ("user", "Now?")]
    assert texts(records) == [("c1", "baker", "Not\nyet.")]
    assert scores(records) == [
        *(("c1", None, "baker", "coherence", 4.0), ("c1", None, "baker", "coherence", 5.0))
    ]
    assert [(one.rater, one.turn) for one in of_type(records, LabelRecord)] == [
        *(("ann", None), ("bob", None))
    ]


@pytest.mark.parametrize("name", ["label-studio", "argilla", "potato", "prodigy", "doccano"])
@pytest.mark.parametrize("layout", ["lines", "array", "data", "indented"])
def test_tools_exports_are_read_in_any_layout_of_json(
    tmp_path: Path, name: str, layout: str
) -> None:
    """As a program that passes them on may have written them."""
    example = importers()[name].example
    records = [json.loads(example)] if example[0] == "{" else json.loads(example)
    written = {
        "lines": "".join(json.dumps(one) + "\n" for one in records),
        "array": json.dumps(records),
        "data": json.dumps({"version": "1", "data": records}),
        "indented": json.dumps(records, indent=1),
    }
    (as_example,) = surveyed(name, file_of(tmp_path, example, "example.json"))
    path = file_of(tmp_path, written[layout], "exported.json")
    assert likely_format(path) == (name, "")
    (found,) = surveyed(name, path)
    assert found.counts == as_example.counts


@pytest.mark.parametrize("indent", [None, 1])
def test_a_data_frame_as_pandas_writes_it(tmp_path: Path, indent: int | None) -> None:
    """Column by column, each with its rows' labels."""
    frame = {
        "prompt": {"0": "Hot?", "1": "Now?"},
        "response": {"0": "No.", "1": "Yes."},
        "score": {"0": 4, "1": None},
    }
    path = file_of(tmp_path, json.dumps(frame, indent=indent))
    records = recognised(path)
    assert [text for _, _, text in texts(records)] == ["No.", "Yes."]
    assert [one[-1] for one in scores(records)] == [4.0]
    path = file_of(tmp_path, {**frame, "score": 4})
    assert problems("table", path) == [
        "file.json: $.score: must be an object with a value a row, as the first column is"
    ]


@pytest.mark.parametrize(
    ("column", "heading"),
    [
        *(("score", "human_score"), ("score", "Judgement"), ("aspect", "attribute")),
        *(("response", "Response text"), ("dialog_id", "session")),
    ],
)
def test_columns_of_a_table_have_other_names(tmp_path: Path, column: str, heading: str) -> None:
    example = importers()["table"].example
    (wanted,) = surveyed("table", file_of(tmp_path, example, "example.csv"))
    path = file_of(tmp_path, example.replace(column, heading, 1), "renamed.csv")
    assert likely_format(path) == ("table", "")
    (found,) = surveyed("table", path)
    assert found.digest == wanted.digest


def test_a_row_that_is_no_object_is_no_table(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"conversation": "User: Hot?\nBot: No.", "tact": 4}, ["x"]])
    assert likely_format(path)[0] == "table"
    assert problems("table", path) == ["file.json: $[1]: is no object with the columns as keys"]
