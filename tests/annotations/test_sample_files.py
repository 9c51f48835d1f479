"""Sample files of public formats of chats, preferences, traces and research sets: what the folder
says of each is what its importer reads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.checks import Checker
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
)

FORMATS = {
    "chatbot_arena_battles.json": "chatbot-arena",
    "conture.json": "conture",
    "dstc10_dial_eval.json": "dstc10",
    "dstc10_turn_eval.json": "dstc10",
    "dstc11": "dstc11",
    "hf_conversational.jsonl": "messages",
    "hf_daily_dialog.jsonl": "dailydialog-hub",
    "hf_preference.jsonl": "preferences",
    "hf_unpaired_preference.jsonl": "unpaired-preferences",
    "langfuse_trace_api.json": "langfuse",
    "langfuse_traces.json": "langfuse",
    "lmsys_chat_1m.jsonl": "lmsys-chat",
    "mt_bench_fastchat": "mt-bench",
    "mt_bench_human_judgments.jsonl": "mt-bench-human",
    "openai_batch": "openai-batch",
    "openai_messages.jsonl": "messages",
    "openai_preference.jsonl": "openai-preferences",
    "openinference_spans.jsonl": "openinference",
    "otel_genai.json": "otel-genai",
    "parlai.txt": "parlai",
    "parlai_conversations.jsonl": "parlai-conversations",
    "personachat_self_original.json": "personachat-candidates",
    "sharegpt.json": "sharegpt",
    "soda.jsonl": "soda",
    "summeval.jsonl": "summeval",
    "tc_usr_data.json": "usr-topical-chat",
    "wildchat.jsonl": "wildchat",
}


@pytest.fixture
def expected(data: Path) -> dict[str, Any]:
    path = data / "formats" / "expected.json"
    if not path.is_file():
        pytest.skip("the sample files of public formats are not here")
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", FORMATS)
def test_its_format_is_recognised(data: Path, expected: dict[str, Any], name: str) -> None:
    assert likely_format(data / "formats" / name) == (FORMATS[name], "")


@pytest.mark.parametrize("name", FORMATS)
def test_it_holds_what_the_folder_says(data: Path, expected: dict[str, Any], name: str) -> None:
    problems = Problems(name)
    path = data / "formats" / name
    records = list(importers()[FORMATS[name]].read_with(path, "", problems, Checker(problems)))
    found = counted(records, problems)
    wanted = {key: one for key, one in expected[name]["counts"].items() if one is not None}
    assert {key: found[key] for key in wanted} == wanted
    missing = [one for one in expected[name]["exact"] if not is_held(one, records)]
    assert missing == KNOWN_DIFFERENCES.get(name, [])


KNOWN_DIFFERENCES = {
    # A system's second conversation is no item of its own: the vote is about its last answer.
    "chatbot_arena_battles.json": [
        {
            "what": "preference",
            "dialogue": "b7e4",
            "turn": None,
            "a": "ivy-13b",
            "b": "ivy-13b",
            "winner": "b",
            "rater": "arena_user_3",
            "aspect": "overall",
        }
    ],
}


def test_fed_has_every_score_and_reason(data: Path) -> None:
    (part,) = survey(importers()["fed"], data / "fed" / "fed_data.json")
    # 375 turns of 9 aspects and 125 conversations of 11, five raters each.
    assert part.counts.ratings + part.counts.labels == (375 * 9 + 125 * 11) * 5
    assert (part.counts.systems, part.counts.raters) == (3, 5)


def test_conversations_of_dstc9_are_held_once(data: Path) -> None:
    (part,) = survey(importers()["dstc9"], data / "dstc9" / "chatbot1_sample.json")
    assert (part.counts.dialogues, part.counts.raters, part.counts.ratings) == (2, 3, 44)


def test_grade_s_files_have_references_and_scores(data: Path) -> None:
    parts = survey(importers()["grade-files"], data / "grade")
    assert [part.part for part in parts] == ["convai2", "dailydialog", "empatheticdialogues"]
    assert [part.counts.responses for part in parts] == [600, 300, 300]
    of_rows = survey(importers()["grade"], data / "grade" / "human_judgement.json")
    assert {part.part: part.counts.ratings for part in parts} == {
        part.part: part.counts.ratings for part in of_rows
    }


def counted(records: list[Record], problems: Problems) -> dict[str, Any]:
    """What a corpus holds, in the words of the folder."""
    dialogues = [one for one in records if isinstance(one, DialogueRecord)]
    responses = [one for one in records if isinstance(one, ResponseRecord)]
    ratings = [one for one in records if isinstance(one, RatingRecord)]
    labels = [one for one in records if isinstance(one, LabelRecord)]
    votes = [one for one in records if isinstance(one, PreferenceRecord)]
    raters = {one.name: one.kind for one in records if isinstance(one, RaterRecord)}
    if "identified" in raters.values():
        # Who is only a place in a list is no name that the file gives.
        raters = {name: kind for name, kind in raters.items() if kind != "anonymous"}
    messages = [message for one in dialogues for message in one.messages]
    remarks = [one for one in labels if one.question.startswith("comment")]
    classes = [one for one in labels if one not in remarks]
    winners = Counter(vote.preferred for vote in votes)
    calls = [
        part
        for parts in (
            *(message.parts for message in messages),
            *(
                one["parts"]
                for d in dialogues
                for one in d.metadata.get("tool_calls_as_answers", ())
            ),
        )
        for part in parts
        if part["type"] == "tool_call"
    ]
    arms = {
        (vote.dialogue_id, *arm)
        for vote in votes
        for arm in ((vote.system_a, vote.sample_a), (vote.system_b, vote.sample_b))
    }
    answered = {(one.dialogue_id, one.turn) for one in responses}
    knowledge = sum(len(one.knowledge) for one in dialogues)
    return {
        "dialogues": len(dialogues),
        "messages": len(messages),
        "turns": len(answered) or sum(len(one.turns) for one in dialogues),
        "systems": sorted({one.system for one in responses}),
        "responses": len(responses),
        "empty_responses": sum(not one.text for one in responses),
        "raters": sorted(raters),
        "aspects": sorted({one.aspect for one in ratings}),
        "scores": len(ratings),
        "label_aspects": sorted({one.question for one in classes}),
        "labels": len(classes),
        "preferences": {
            "total": len(votes),
            **{winner: winners[winner] for winner in ("a", "b", "tie", "both_bad")},
        },
        "references": sum(len(turn.references) for one in dialogues for turn in one.turns),
        "tool_calls": len(calls),
        "comments": len(remarks) + sum(bool(one.comment) for one in ratings),
        "skipped": problems.skipped_count,
        "longest_text": max(len(one.text) for one in (*messages, *responses)),
        "conversations": len(arms),
        "participants": sorted({message.speaker for message in messages}),
        "persona_lines": sum(len(one.persona) for one in dialogues),
        "context_lines": knowledge,
        "knowledge": knowledge,
        "distractors": sum(
            len(others) for one in dialogues for others in one.metadata.get("distractors", ())
        ),
        "paraphrases": sum(len(message.metadata.get("paraphrases", ())) for message in messages),
    }


def is_held(value: dict[str, Any], records: list[Record]) -> bool:
    return any(_is(value, record) for record in records)


def _is(value: dict[str, Any], record: Record) -> bool:
    what = value["what"]
    if what == "message":
        if not isinstance(record, DialogueRecord) or record.id != value["dialogue"]:
            return False
        message = record.messages[value["index"]]
        speaker = value["role_or_speaker"]
        return message.text == value["text"] and speaker in ("", message.speaker)
    if isinstance(record, ResponseRecord) and what == "response":
        found: dict[str, Any] = {"text": record.text}
    elif isinstance(record, RatingRecord) and what == "score":
        found = {"rater": record.rater, "aspect": record.aspect, "score": record.score}
    elif isinstance(record, LabelRecord) and what == "label":
        found = {"rater": record.rater, "aspect": record.question, "label": record.value}
    elif isinstance(record, PreferenceRecord) and what == "preference":
        systems = {"a": record.system_a, "b": record.system_b}
        found = {**systems, "winner": record.preferred, "rater": record.rater}
        found["aspect"] = record.aspect
    else:
        return False
    found |= {"what": what, "dialogue": record.dialogue_id, "turn": record.turn}
    if not isinstance(record, PreferenceRecord):
        found["system"] = record.system
    # What the file does not say is not checked; a turn of None says: the whole conversation.
    open_keys = {key for key, one in value.items() if one is None and key != "turn"}
    return {key: found[key] for key in value if key not in open_keys} == {
        key: one for key, one in value.items() if key not in open_keys
    }
