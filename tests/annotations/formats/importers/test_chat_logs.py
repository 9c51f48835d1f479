"""Logs of conversations with one system."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    DialogueRecord,
    Message,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)
from tests.annotations.formats.importers.helpers import (
    file_of,
    lines_of,
    of_type,
    problems,
    read,
)

ASK = {"role": "user", "content": "Is the oven hot?"}
ANSWER = {"role": "assistant", "content": "Not yet."}


def dialogues(records: list[Record]) -> list[DialogueRecord]:
    return of_type(records, DialogueRecord)


def test_an_answer_is_a_turn_after_the_messages_before_it(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [{"messages": [ASK, ANSWER, ASK, ANSWER], "model": "baker"}])
    records = read("messages", path)
    (dialogue,) = dialogues(records)
    assert dialogue.interactive
    assert dialogue.turns == (TurnRecord(0, after=1), TurnRecord(1, after=3))
    assert of_type(records, SystemRecord) == [SystemRecord("baker")]
    assert of_type(records, ResponseRecord) == [
        ResponseRecord("1", 0, "baker", "Not yet."),
        ResponseRecord("1", 1, "baker", "Not yet."),
    ]


def test_a_call_of_a_tool_is_a_part_and_no_response(tmp_path: Path) -> None:
    function = {"name": "heat", "arguments": '{"to": 200}'}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    records = read("messages", lines_of(tmp_path, [{"messages": [ASK, call, result, ANSWER]}]))
    (dialogue,) = dialogues(records)
    assert dialogue.messages[1] == Message(
        "assistant",
        "",
        parts=({"type": "tool_call", "name": "heat", "arguments": {"to": 200}, "id": "c"},),
    )
    assert dialogue.messages[2].metadata == {"tool_call_id": "c"}
    assert [one.text for one in of_type(records, ResponseRecord)] == ["Not yet."]


@pytest.mark.parametrize(
    ("content", "text", "parts"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb", ()),
        ([{"type": "image"}, "c"], "c", ({"type": "image"},)),
        (None, "", ()),
    ],
)
def test_content_may_be_a_list_of_parts(
    tmp_path: Path, content: Any, text: str, parts: tuple[Any, ...]
) -> None:
    path = lines_of(tmp_path, [{"messages": [{"role": "user", "content": content}]}])
    (message,) = dialogues(read("messages", path))[0].messages
    assert (message.text, message.parts) == (text, parts)


def test_a_refusal_is_the_text_where_there_is_no_other(tmp_path: Path) -> None:
    refusal = {"role": "assistant", "content": None, "refusal": "I cannot say."}
    records = read("messages", lines_of(tmp_path, [{"messages": [refusal]}]))
    assert [one.text for one in of_type(records, ResponseRecord)] == ["I cannot say."]


def test_what_else_a_record_holds_is_metadata(tmp_path: Path) -> None:
    message = {**ASK, "weight": 0, "name": "ann"}
    record = {"messages": [message, ANSWER], "tools": [{"type": "function"}], "metadata": {"x": 1}}
    (dialogue,) = dialogues(read("messages", lines_of(tmp_path, [record])))
    assert dialogue.metadata == {"tools": [{"type": "function"}], "x": 1}
    assert (dialogue.messages[0].name, dialogue.messages[0].metadata) == ("ann", {"weight": 0})


def test_ids_are_used_where_the_first_record_has_one(tmp_path: Path) -> None:
    records = [{"id": 7, "messages": [ASK]}, {"messages": [ASK]}, {"id": 7, "messages": [ASK]}]
    found = dialogues(read("messages", lines_of(tmp_path, records)))
    assert [one.id for one in found] == ["7", "2", "7 #2"]
    found = dialogues(read("messages", lines_of(tmp_path, records[1:])))
    assert [one.id for one in found] == ["1", "2"]


def test_a_record_without_messages_is_left_out_and_reported(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [{"messages": []}, {"messages": [ASK]}])
    reported = Problems("file.jsonl")
    records = list(importers()["messages"].read_with(path, "", reported, None))
    assert [one.id for one in dialogues(records)] == ["2"]
    assert [str(one) for one in reported.skipped] == [
        "file.jsonl:1: messages: is empty: no conversation"
    ]


@pytest.mark.parametrize("layout", ["array", "lines", "one object"])
def test_records_may_be_an_array_lines_or_one_object(tmp_path: Path, layout: str) -> None:
    import json

    record = {"messages": [ASK, ANSWER]}
    content = {
        "array": json.dumps([record]),
        "lines": "\ufeff" + json.dumps(record) + "\r\n",
        "one object": json.dumps(record, indent=1),
    }[layout]
    (dialogue,) = dialogues(read("messages", file_of(tmp_path, content)))
    assert [message.text for message in dialogue.messages] == ["Is the oven hot?", "Not yet."]


def test_a_fault_names_line_and_field(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [{"messages": [{"role": "user", "content": 1}]}, {"messages": "x"}])
    assert problems("messages", path) == [
        "file.jsonl:1: messages[0].content: must be a string or a list of parts, not a number",
        "file.jsonl:2: messages: must be a list, not a string",
    ]


def test_sharegpt_speaks_other_words(tmp_path: Path) -> None:
    said = [
        {"from": "human", "value": "How hot?"},
        {"from": "function_call", "value": '{"name": "heat", "arguments": {}}'},
        {"from": "observation", "value": "200"},
        {"from": "gpt", "value": "200 degrees."},
    ]
    path = file_of(tmp_path, [{"id": "a", "system": "Be brief.", "conversations": said}])
    (dialogue,) = dialogues(read("sharegpt", path))
    assert [message.role for message in dialogue.messages] == [
        *("system", "user", "assistant", "tool", "assistant")
    ]
    assert dialogue.messages[2].parts == ({"type": "tool_call", "name": "heat", "arguments": {}},)
    assert dialogue.metadata == {"id": "a"}


def test_what_is_said_of_each_message_is_its_metadata(tmp_path: Path) -> None:
    record = {
        "conversation_id": "c",
        "model": "baker",
        "conversation": [ASK, ANSWER],
        "openai_moderation": [{"flagged": False}, {"flagged": True}],
        "language": "English",
    }
    (dialogue,) = dialogues(read("lmsys-chat", lines_of(tmp_path, [record])))
    assert [message.metadata for message in dialogue.messages] == [
        {"openai_moderation": {"flagged": False}},
        {"openai_moderation": {"flagged": True}},
    ]
    assert dialogue.metadata == {"language": "English"}


def request(custom_id: str, content: str, model: str = "baker") -> dict[str, Any]:
    messages = [{"role": "user", "content": content}]
    return {"custom_id": custom_id, "body": {"model": model, "messages": messages}}


def answer(custom_id: str, *texts: str) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": text}} for text in texts]
    body = {"model": "baker-1", "choices": choices}
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def test_a_batch_is_joined_by_custom_id(tmp_path: Path) -> None:
    lines_of(tmp_path, [request("a", "Hot?"), request("b", "Cold?"), request("c", "Hot?")])
    (tmp_path / "file.jsonl").rename(tmp_path / "input.jsonl")
    failed = {"custom_id": "b", "response": {"status_code": 400, "body": {}}, "error": None}
    lines_of(tmp_path, [answer("c", "No."), failed, answer("a", "Yes.", "Maybe.")])
    reported = Problems("batch")
    records = list(importers()["openai-batch"].read_with(tmp_path, "", reported, None))
    assert [one.id for one in dialogues(records)] == ["1", "2"]
    found = of_type(records, ResponseRecord)
    assert [(one.dialogue_id, one.text, one.sample) for one in found] == [
        *(("1", "No.", 0), ("1", "Yes.", 1), ("1", "Maybe.", 2))
    ]
    assert {one.system for one in found} == {"baker-1"}
    assert [one.message for one in reported.skipped] == ["'b' failed: 400"]


def test_answers_alone_are_no_corpus(tmp_path: Path) -> None:
    (found,) = problems("openai-batch", lines_of(tmp_path, [answer("a", "Yes.")]))
    assert found.endswith("give a folder with the file of requests, too")


def test_what_wildchat_says_about_people_is_not_read(tmp_path: Path) -> None:
    people = {"hashed_ip": "ab12", "header": {"user-agent": "x"}, "country": "X", "state": "Y"}
    messages = [{**ASK, **people, "toxic": False}, {**ANSWER, **people, "language": "English"}]
    row = {"conversation_hash": "c", "model": "baker", "conversation": messages, "turn": 1}
    (dialogue,) = dialogues(read("wildchat", lines_of(tmp_path, [{**row, **people}])))
    assert dialogue.metadata == {"turn": 1}
    assert [one.metadata for one in dialogue.messages] == [
        {"toxic": False},
        {"language": "English"},
    ]


def test_a_file_is_surveyed_in_a_fraction_of_its_size(tmp_path: Path) -> None:
    """4,000 messages of 2,000 characters, 8 MB; what is held is one conversation and the ids."""
    path = tmp_path / "chats.jsonl"
    said = [
        {"role": "assistant" if place % 2 else "user", "content": "x" * 2_000}
        for place in range(10)
    ]
    with path.open("w", encoding="utf-8") as file:
        for number in range(400):
            file.write(json.dumps({"id": f"c{number}", "messages": said}) + "\n")
    tracemalloc.start()
    try:
        (found,) = survey(importers()["messages"], path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.counts.messages == 4_000
    assert peak < 2_000_000
