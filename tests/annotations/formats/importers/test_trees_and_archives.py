"""Chats that are trees (ChatGPT, OpenAssistant), logs without speakers (MultiWOZ), judgments alone,
and archives of what is read by itself."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    PreferenceRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, problems, read

CHAT = [{"role": "user", "content": "Is it hot?"}, {"role": "assistant", "content": "Not yet."}]


def node(parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    model = {"metadata": {"model_slug": "m1"}} if role == "assistant" else {}
    message = {"author": {"role": role}, "content": content, **model, **more}
    return {"parent": parent, "message": message}


TREE: dict[str, Any] = {
    "root": {"parent": None, "message": None},
    "hidden": node(
        "root", "system", "Secret.", metadata={"is_visually_hidden_from_conversation": True}
    ),
    "u1": node("hidden", "user", "Is it hot?"),
    "a1": node("u1", "assistant", "First try."),
    "a2": node("u1", "assistant", "Not yet."),
    "u2": node("a2", "user", "And now?"),
    "old": node("a2", "user", "And then?"),
    "call": node("u2", "assistant", '{"x": 1}', recipient="thermometer"),
    "tool": node("call", "tool", "200"),
    "a3": node("tool", "assistant", "Now it is."),
}
CHATGPT = {"title": "Oven", "conversation_id": "c1", "current_node": "a3", "mapping": TREE}


def test_the_path_to_the_current_node_is_the_conversation(tmp_path: Path) -> None:
    path = file_of(tmp_path, [CHATGPT])
    assert likely_format(path) == ("chatgpt", "")
    records = read("chatgpt", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        *(("user", "Is it hot?"), ("assistant", "Not yet."), ("user", "And now?")),
        *(("assistant", ""), ("tool", "200"), ("assistant", "Now it is.")),
    ]
    assert dialogue.messages[3].parts[0]["arguments"] == {"x": 1}
    assert (dialogue.id, dialogue.metadata) == ("c1", {"title": "Oven"})


def test_an_answer_that_was_generated_again_is_a_further_sample(tmp_path: Path) -> None:
    found = of_type(read("chatgpt", file_of(tmp_path, [CHATGPT])), ResponseRecord)
    assert [(one.turn, one.system, one.sample, one.text) for one in found] == [
        (0, "m1", 0, "Not yet."),
        (1, "m1", 0, "Now it is."),
        (0, "m1", 1, "First try."),
    ]


def test_an_edited_message_is_reported(tmp_path: Path) -> None:
    (part,) = survey(importers()["chatgpt"], file_of(tmp_path, [CHATGPT]))
    assert [str(one) for one in part.skipped] == [
        "file.json: $[0].mapping: 1 edited message was answered before: not read"
    ]


def test_without_a_current_node_the_newest_message_is_the_last(tmp_path: Path) -> None:
    tree = {**TREE, "late": node("old", "assistant", "Later.", create_time=1_700_000_000.5)}
    path = file_of(tmp_path, [{**CHATGPT, "current_node": None, "mapping": tree}])
    [dialogue] = of_type(read("chatgpt", path), DialogueRecord)
    last = dialogue.messages[-1]
    assert (last.text, last.time) == ("Later.", "2023-11-14T22:13:20.500000+00:00")


def test_a_tree_that_bites_its_tail_ends(tmp_path: Path) -> None:
    tree = {"a": node("b", "user", "x"), "b": node("a", "assistant", "y")}
    path = file_of(tmp_path, [{**CHATGPT, "current_node": "b", "mapping": tree}])
    [dialogue] = of_type(read("chatgpt", path), DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["x", "y"]


def test_branches_that_bite_their_tail_end(tmp_path: Path) -> None:
    tree = {
        "a": node("b", "assistant", "x"),
        "c": node("a", "assistant", "z"),
        "b": node("a", "assistant", "y"),
    }
    path = file_of(tmp_path, [{**CHATGPT, "current_node": "c", "mapping": tree}])
    [dialogue] = of_type(read("chatgpt", path), DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["y", "x", "z"]


def test_thumbs_of_an_export_are_scores(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    thumbs = [
        {"id": "a3", "rating": "thumbs_up", "content": '{"text": "Right."}'},
        {"message_id": "a2", "rating": "thumbsDown"},
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([CHATGPT]))
        archive.writestr("message_feedback.json", json.dumps(thumbs))
        archive.writestr("user.json", json.dumps({"email": "ann@example.org"}))
        archive.writestr("chat.html", "<html>")
    assert likely_format(path) == ("chatgpt", "")
    found = of_type(read("chatgpt", path), RatingRecord)
    assert [(one.turn, one.rater, one.score, one.comment) for one in found] == [
        (0, "user", 0.0, ""),
        (1, "user", 1.0, "Right."),
    ]


def message(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"message_id": name, "parent_id": parent, "role": role, "text": text, **more}


FLAT = [
    message("p", None, "prompter", "Is it hot?", lang="en"),
    message("a", "p", "assistant", "Hot!", rank=1),
    message("b", "p", "assistant", "Not yet.", rank=0, labels={"quality": {"value": 0.75}}),
    message("c", "p", "assistant", "Spam", deleted=True),
    message("q", "b", "prompter", "And now?"),
    message("d", "q", "assistant", "Now it is.", synthetic=True, model_name="m1"),
    message("e", "d", "prompter", "Good."),
]


def nested(name: str) -> dict[str, Any]:
    [root] = [one for one in FLAT if one["message_id"] == name]
    below = [nested(one["message_id"]) for one in FLAT if one["parent_id"] == name]
    return {**root, "replies": below}


@pytest.mark.parametrize("layout", ["tree", "messages"])
def test_a_prompt_with_ranked_answers_is_a_dialogue(tmp_path: Path, layout: str) -> None:
    trees = [{"message_tree_id": "p", "prompt": nested("p")}]
    path = lines_of(tmp_path, trees if layout == "tree" else FLAT)
    assert likely_format(path) == ("oasst", "")
    records = read("oasst", path)
    dialogues = of_type(records, DialogueRecord)
    assert {one.id: [said.text for said in one.messages] for one in dialogues} == {
        "p": ["Is it hot?"],
        "q": ["Is it hot?", "Not yet.", "And now?"],
        "e": ["Is it hot?", "Not yet.", "And now?", "Now it is.", "Good."],
    }
    found = of_type(records, ResponseRecord)
    assert [(one.dialogue_id, one.system, one.sample, one.text) for one in found] == [
        ("p", "assistant", 0, "Not yet."),
        ("p", "assistant", 1, "Hot!"),
        ("q", "m1", 0, "Now it is."),
    ]
    [vote] = of_type(records, PreferenceRecord)
    assert (vote.sample_a, vote.sample_b, vote.preferred) == (0, 1, "a")
    [rating] = of_type(records, RatingRecord)
    assert (rating.aspect, rating.score) == ("quality", 0.75)
    (part,) = survey(importers()["oasst"], path)
    assert part.skipped_count == 1


def test_a_message_whose_parent_is_elsewhere_is_reported(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [*FLAT, message("z", "lost", "assistant", "Where?")])
    (part,) = survey(importers()["oasst"], path)
    assert "'lost' is not in the file" in str(part.skipped[-1])


LOG = [
    {"text": "a train please", "metadata": {}, "dialog_act": {"Train-Inform": []}},
    {"text": "where to?", "metadata": {"train": {"day": ""}}},
]
COLUMNS = {"turn_id": ["0", "1"], "speaker": [0, 1], "utterance": ["a train please", "where to?"]}


@pytest.mark.parametrize(
    "content",
    [{"A1.json": {"goal": {}, "log": LOG}}, [{"dialogue_id": "A1.json", "turns": COLUMNS}]],
)
def test_a_log_of_multiwoz_is_by_user_and_system_in_turn(tmp_path: Path, content: Any) -> None:
    path = file_of(tmp_path, content)
    assert likely_format(path) == ("multiwoz", "")
    records = read("multiwoz", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [(dialogue.id, one.role, one.text) for one in dialogue.messages] == [
        ("A1.json", "user", "a train please"),
        ("A1.json", "assistant", "where to?"),
    ]
    assert [one.text for one in of_type(records, ResponseRecord)] == ["where to?"]


PROMPT = (
    "[Question]\nIs it hot?\n\n[The Start of Assistant's Answer]\nNot yet.\n"
    "[The End of Assistant's Answer]"
)
SHOWN = (
    "<|The Start of Assistant A's Conversation with User|>\n\n### User:\nIs it hot?\n\n"
    "### Assistant A:\nNot yet.\n\n### User:\nAnd now?\n\n### Assistant A:\nNow it is.\n\n"
    "<|The End of Assistant A's Conversation with User|>"
)


def test_judgments_alone_hold_what_was_judged(tmp_path: Path) -> None:
    base = {"question_id": 81, "model": "m1", "judge": ["gpt", "single-v1"]}
    lines = [
        {**base, "user_prompt": PROMPT, "score": 8, "turn": 1},
        {**base, "user_prompt": SHOWN, "score": 5, "turn": 2},
    ]
    path = lines_of(tmp_path, lines)
    assert likely_format(path) == ("mt-bench", "")
    records = read("mt-bench", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Is it hot?", "And now?"]
    assert [(one.turn, one.text) for one in of_type(records, ResponseRecord)] == [
        (0, "Not yet."),
        (1, "Now it is."),
    ]
    assert [one.score for one in of_type(records, RatingRecord)] == [8.0, 5.0]


# --- archives -------------------------------------------------------------------------------------


def tar_of(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def parquet_of_chats() -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"messages": CHAT}]), target)
    return target.getvalue()


LINE = (json.dumps({"messages": CHAT}) + "\n").encode()
MEMBERS = {
    "lines": {"./chats/1.jsonl": LINE, "./chats/2.jsonl": LINE},
    "parquet": {"data/1.parquet": parquet_of_chats(), "data/2.parquet": parquet_of_chats()},
}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_archive_is_the_folder_that_it_holds(tmp_path: Path, mode: str) -> None:
    path = tar_of(tmp_path / "chats.tar", MEMBERS["lines"], mode)
    assert likely_format(path) == ("messages", "")
    assert len(of_type(read("messages", path), DialogueRecord)) == 2


@pytest.mark.parametrize("packing", ["tar", "zip"])
def test_parquet_in_an_archive_is_read(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"chats.{packing}"
    if packing == "tar":
        tar_of(path, MEMBERS["parquet"])
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in MEMBERS["parquet"].items():
                archive.writestr(name, data)
    assert likely_format(path) == ("messages", "")
    assert len(of_type(read("messages", path), DialogueRecord)) == 2


@pytest.mark.parametrize("kind", ["link", "outside"])
def test_a_tar_member_that_leaves_the_folder_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bad.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("a.jsonl" if kind == "link" else "../a.jsonl")
        if kind == "link":
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    shown = "'a.jsonl'" if kind == "link" else "'../a.jsonl'"
    assert problems("messages", path) == [f"bad.tar.gz: has a member that is not taken: {shown}"]


def test_a_tar_bomb_is_refused(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "bomb.tar.gz", {"a.jsonl": bytes(40 * 1024**2)})
    assert problems("messages", path) == ["bomb.tar.gz: would unpack to more than 16,777,216 bytes"]


@pytest.mark.parametrize(("levels", "is_read"), [(2, True), (5, False)])
def test_an_archive_in_archives_is_not_unpacked_for_ever(
    tmp_path: Path, levels: int, is_read: bool
) -> None:
    data, name = LINE, "1.jsonl"
    for level in range(levels):
        path = tmp_path / f"{level}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, data)
        data, name = path.read_bytes(), path.name
    if is_read:
        assert len(of_type(read("messages", path), DialogueRecord)) == 1
    else:
        assert "is a zip archive" in problems("messages", path)[0]


# --- logs of calls --------------------------------------------------------------------------------

ASKED = [{"role": "user", "content": "Is it hot?"}]
CHOICE = {"message": {"role": "assistant", "content": "Not yet."}}


def constructed(kind: str, text: str) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": text}}


CALLS: dict[str, dict[str, Any]] = {
    "chat completions": {
        "request": {"model": "alias", "messages": ASKED},
        "response": {"model": "m1", "choices": [CHOICE]},
    },
    "responses": {
        "model": "m1",
        "input": "Is it hot?",
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": "Not yet."}]},
        ],
    },
    "messages": {
        "request": {"model": "m1", "messages": ASKED},
        "response": {"role": "assistant", "content": [{"type": "text", "text": "Not yet."}]},
    },
    "runs": {
        "inputs": {"question": "Is it hot?"},
        "outputs": {"output": "Not yet."},
        "model": "m1",
    },
    "runs of LangChain": {
        "run_type": "llm",
        "inputs": {"messages": [[constructed("HumanMessage", "Is it hot?")]]},
        "outputs": {"generations": [[{"message": constructed("AIMessageChunk", "Not yet.")}]]},
        "model": "m1",
    },
}


@pytest.mark.parametrize("layout", CALLS)
def test_a_call_of_a_model_is_a_dialogue_with_its_answer(tmp_path: Path, layout: str) -> None:
    path = lines_of(tmp_path, [CALLS[layout]])
    assert likely_format(path) == ("request-logs", "")
    records = read("request-logs", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [("user", "Is it hot?")]
    [response] = of_type(records, ResponseRecord)
    assert (response.system, response.text) == ("m1", "Not yet.")


def test_choices_are_samples_and_scores_are_ratings(tmp_path: Path) -> None:
    other = {"message": {"role": "assistant", "content": "Soon."}}
    row = {
        "request": {"messages": ASKED},
        "response": {"choices": [CHOICE, other]},
        "scores": {"fluency": 0.5, "note": "x"},
    }
    records = read("request-logs", lines_of(tmp_path, [row]))
    assert [(one.sample, one.text) for one in of_type(records, ResponseRecord)] == [
        (0, "Not yet."),
        (1, "Soon."),
    ]
    [rating] = of_type(records, RatingRecord)
    assert (rating.aspect, rating.rater, rating.score) == ("fluency", "dataset", 0.5)


def test_means_of_feedback_are_scores_and_runs_of_tools_are_left_out(tmp_path: Path) -> None:
    judged = {**CALLS["runs"], "feedback_stats": {"tact": {"n": 2, "avg": 0.75}, "note": None}}
    path = lines_of(tmp_path, [judged, {**CALLS["runs"], "run_type": "tool"}])
    records = read("request-logs", path)
    assert [(one.aspect, one.score) for one in of_type(records, RatingRecord)] == [("tact", 0.75)]
    (part,) = survey(importers()["request-logs"], path)
    assert (part.counts.responses, part.skipped_count) == (1, 1)


def test_a_call_without_an_answer_is_reported(tmp_path: Path) -> None:
    failed = {"request": {"messages": ASKED}, "response": {"error": "timeout"}}
    path = lines_of(tmp_path, [CALLS["messages"], failed])
    (part,) = survey(importers()["request-logs"], path)
    assert [str(one) for one in part.skipped] == ["file.jsonl:2: response: holds no answer"]
