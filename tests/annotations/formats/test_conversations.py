"""Conversations of any participants: what holds of their records, whatever file they come from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from annotations import formats
from annotations.formats.importers.canonical import (
    TYPE_NAMES,
    Digest,
    canonical_line,
    record_as_json,
)
from annotations.formats.importers.checks import MAX_DEPTH, MAX_VALUES, Checker, json_fault
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
    letter_of,
    target_of,
)
from tests.annotations.formats.exporters.helpers import small_corpus

SCHEMA_FILE = Path(formats.__file__).parent / "jsonl.schema.json"
SYSTEM_PROMPT = Message("system", "Be brief.")
ASKED = Message("user", "What is in the pot?", "ann", time="2026-11-27T10:00:00Z")
CALL = Message("assistant", "", parts=({"type": "tool_call", "name": "look", "arguments": "{}"},))
RESULT = Message("tool", "Leeks.", metadata={"seconds": 0.5})
ANSWER = Message("assistant", "Leeks.")
CONVERSATION = DialogueRecord(
    "soup",
    (),
    (),
    (TurnRecord(0, after=2, references=("Leeks.",)), TurnRecord(1, after=4)),
    (SYSTEM_PROMPT, ASKED, CALL, RESULT, ANSWER),
    knowledge=("Leeks are green.",),
    metadata={"topic": "food"},
)
RECORDS: list[Record] = [
    CorpusRecord(),
    SystemRecord("cook"),
    SystemRecord("guest"),
    RaterRecord("r1"),
    CONVERSATION,
    ResponseRecord("soup", 1, "cook", "Leeks.", metadata={"seed": 1}),
    ResponseRecord("soup", 1, "guest", ""),
    ResponseRecord("soup", 1, "cook", "Leeks?", sample=1),
    RatingRecord("soup", 1, "cook", "r1", "overall", 4.0),
    LabelRecord("soup", 1, "cook", "r1", "tone", ("warm", "short")),
    LabelRecord("soup", None, "", "r1", "topic", "food", message=1),
    PreferenceRecord("soup", 1, "cook", "guest", "a", "r1"),
    PreferenceRecord("soup", 1, "cook", "cook", "tie", "r1", sample_b=1),
    PreferenceRecord("soup", None, "cook", "guest", "both_bad", "r1", "style"),
]


def digest_of(records: list[Record]) -> str:
    digest = Digest()
    for record in records:
        digest.add(record)
    return digest.hexdigest()


def faults(records: list[Record]) -> list[str]:
    problems = Problems("f")
    checker = Checker(problems)
    for record in records:
        checker.accepts(record, "", "")
    checker.finish()
    return [str(problem) for problem in problems.found]


def changed(place: int, **changes: Any) -> list[Record]:
    records = list(RECORDS)
    records[place] = replace(records[place], **changes)  # type: ignore[type-var]
    return records


def test_a_turn_s_context_is_what_was_said_before_it() -> None:
    first, second = CONVERSATION.turns
    assert CONVERSATION.context_of(first) == (
        Utterance("system", "Be brief."),
        Utterance("ann", "What is in the pot?"),
    )
    assert CONVERSATION.context_of(second)[2:] == (
        Utterance("assistant", ""),
        Utterance("tool", "Leeks."),
    )
    own = TurnRecord(2, (Utterance("A", "hi"),))
    assert CONVERSATION.context_of(own) == own.context


def test_every_kind_of_record_is_accepted_and_counted() -> None:
    problems = Problems("f")
    checker = Checker(problems)
    assert all(checker.accepts(record, "", "") for record in RECORDS)
    counts = checker.counts
    assert (counts.messages, counts.turns, counts.responses) == (5, 2, 3)
    assert (counts.ratings, counts.labels, counts.preferences) == (1, 2, 3)


@pytest.mark.parametrize(
    ("place", "changes", "fault"),
    [
        (4, {"messages": (Message("", "x"),)}, "messages[0].role: is empty"),
        (
            4,
            {"messages": (replace(ASKED, time="noon"),)},
            "messages[0].time: must be a time in ISO 8601 such as 2026-11-27T10:00:00Z",
        ),
        (
            4,
            {"messages": (replace(CALL, parts=({"name": "look"},)),)},
            "messages[0].parts[0]: must have a type, a string",
        ),
        (
            4,
            {"messages": (Message("user", "x" * 200_001),)},
            "messages[0].text: has 200,001 characters; at most 200,000 are allowed",
        ),
        (
            4,
            {"turns": (TurnRecord(0, after=6), TurnRecord(1, after=4))},
            "turns[0].after: must be 0 to 5, the number of the dialogue's messages",
        ),
        (
            4,
            {"turns": (TurnRecord(0, (Utterance("A", "x"),), after=1), TurnRecord(1, after=4))},
            "turns[0].after: stands beside a context; a turn has one of both",
        ),
        (
            4,
            {"metadata": {"a": "\0"}},
            "metadata: holds a text that holds a NUL character (character 1)",
        ),
        (4, {"interactive": True}, "system: is a second one in an interactive dialogue"),
        (7, {"sample": -1}, "sample: must be 0 or more"),
        (7, {"sample": 0}, "the system 'cook' answers turn 1 of dialogue 'soup' twice"),
        (6, {"sample": 1}, "sample: 'guest' has no sample 0 at turn 1 before it"),
        (9, {"value": ("",)}, "value[0]: is empty"),
        (9, {"rater": "r2"}, "rater: the rater 'r2' is not known"),
        (10, {"message": 5}, "message: the dialogue 'soup' has no such message"),
        (
            10,
            {"turn": 1, "system": "cook"},
            "message: stands beside a turn or system; a label is of one thing",
        ),
        (11, {"system_b": "cook"}, "system_b: is the same response as that of system_a"),
        (11, {"turn": 0}, "turn: 'cook' has no response at turn 0 of dialogue 'soup'"),
        (11, {"preferred": "c"}, "preferred: must be one of a, b, tie, both_bad"),
        (12, {"sample_b": 2}, "sample_b: 'cook' has no sample 2 at turn 1 of dialogue 'soup'"),
        (13, {"sample_a": 1}, "sample_a: must be 0 where a preference is of whole dialogues"),
    ],
)
def test_a_fault_is_named(place: int, changes: dict[str, Any], fault: str) -> None:
    assert faults(changed(place, **changes))[0].startswith(f"f: {fault}")


@pytest.mark.parametrize("place", [7, 9, 11])
def test_a_record_that_comes_twice_is_refused(place: int) -> None:
    assert [fault.endswith("twice") or "twice with" in fault for fault in faults(
        [*RECORDS, RECORDS[place]]
    )] == [True]  # fmt: skip


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return {"a": value}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([], "must be an object"),
        ({1: 2}, "has a key that is not a string"),
        ({"a": float("nan")}, "holds a number that is too large"),
        ({"a": 10**309}, "holds a number that is too large"),
        ({"a": {2}}, "holds set, which is not JSON"),
        (nested(MAX_DEPTH), f"is nested more than {MAX_DEPTH} deep"),
        (nested(10**5), f"is nested more than {MAX_DEPTH} deep"),
        (dict.fromkeys(map(str, range(10**5)), 1), f"holds more than {MAX_VALUES:,} values"),
        ({"a\ud800": 1}, "has a key that holds half of a surrogate pair (character 2)"),
        ({"a": [None, True, 1.5, "x", {"b": []}]}, ""),
    ],
)
def test_metadata_is_json_that_can_be_stored(value: Any, fault: str) -> None:
    assert json_fault(value) == fault


def test_a_dialogue_of_315_turns_is_accepted() -> None:
    messages = tuple(
        Message("user" if place % 2 else "assistant", f"line {place}") for place in range(630)
    )
    turns = tuple(TurnRecord(number, after=2 * number) for number in range(315))
    assert faults([CorpusRecord(), DialogueRecord("d", (), (), turns, messages)]) == []


def test_a_digest_does_not_see_where_labels_and_samples_stand() -> None:
    moved = [RECORDS[place] for place in (5, 7, 9, 6, 8, 10)]
    assert digest_of([*RECORDS[:5], *moved, *RECORDS[11:]]) == digest_of(RECORDS)


def test_raters_stand_behind_the_systems_in_a_digest() -> None:
    """Wherever they come before the first dialogue: older versions keep their digest."""
    system, rater, dialogue = RECORDS[1], RECORDS[3], RECORDS[4]
    lines = [canonical_line(one).encode() + b"\n" for one in (system, rater, dialogue)]
    no_ratings = hashlib.sha256().digest()
    expected = hashlib.sha256(b"".join(lines) + no_ratings).hexdigest()
    assert digest_of([system, rater, dialogue]) == expected
    assert digest_of([rater, system, dialogue]) == expected


@pytest.mark.parametrize("place", range(4, len(RECORDS)))
def test_a_digest_sees_every_record(place: int) -> None:
    assert digest_of(RECORDS[:place] + RECORDS[place + 1 :]) != digest_of(RECORDS)


def test_what_a_record_does_not_have_is_not_written() -> None:
    turn = TurnRecord(0, references=("hello",))
    assert canonical_line(DialogueRecord("d", (), (), (turn,))) == (
        '{"id":"d","partner_persona":[],"persona":[],"turns":[{"context":[],"number":0,'
        '"references":["hello"]}],"type":"dialogue"}'
    )
    assert canonical_line(ResponseRecord("d", 0, "echo", "hi")) == (
        '{"dialogue_id":"d","system":"echo","text":"hi","turn":0,"type":"response"}'
    )


EVERYTHING = (
    replace(
        CONVERSATION,
        persona=("I cook.",),
        partner_persona=('I say "hm".',),
        interactive=True,
        turns=(
            TurnRecord(0, (Utterance("A", "one\\\n"), Utterance("B", "två 🌧")), ("x", "y")),
            TurnRecord(1, (Utterance("A", "one"),), after=2),
        ),
    ),
    ResponseRecord("soup", 1, "cook", "Leeks.", 2, ({"type": "call"},), {"seed": 1e22}),
    RatingRecord("soup", 1, "cook", "r1", "overall", -0.1, "hm"),
)


@pytest.mark.parametrize(
    "record",
    [
        *RECORDS,
        *EVERYTHING,
        RatingRecord("soup", None, "cook", "r1", "overall", 1e22),
        RatingRecord("soup", None, "cook", "r1", "overall", 4),
        replace(
            CONVERSATION, turns=(), messages=(Message("a", "\x7f\u2028", metadata={"b": 2.0}),)
        ),
    ],
)
def test_a_line_is_the_record_s_json_with_sorted_keys(record: Record) -> None:
    assert canonical_line(record) == json.dumps(
        record_as_json(record), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


@pytest.mark.parametrize("record", EVERYTHING, ids=lambda record: type(record).__name__)
def test_a_line_has_every_field(record: Record) -> None:
    """Of the kinds whose keys are written out: a new field would be missing in their digests."""
    names = {field.name for field in fields(record)}
    assert set(json.loads(canonical_line(record))) == names | {"type"}


def test_numbers_that_are_equal_are_written_alike() -> None:
    """PostgreSQL gives 1e22 back as 10000000000000000000000."""
    one, other = ({"n": 1e22, "m": [2.0]}, {"n": 10**22, "m": [2]})
    assert canonical_line(replace(CONVERSATION, metadata=one)) == canonical_line(
        replace(CONVERSATION, metadata=other)
    )


# --- the schema -----------------------------------------------------------------------------------

DOCUMENT = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
SCHEMA = Draft202012Validator(DOCUMENT)


def test_the_schema_is_one() -> None:
    assert meta.is_valid(DOCUMENT)


@pytest.mark.parametrize("records", [RECORDS, small_corpus()], ids=["version 2", "version 1"])
def test_every_line_of_an_export_is_of_the_schema(records: list[Record]) -> None:
    assert [[one.message for one in SCHEMA.iter_errors(record_as_json(record))] for record in (
        records
    )] == [[]] * len(records)  # fmt: skip


def test_the_schema_has_every_field_of_the_records() -> None:
    for kind, name in TYPE_NAMES.items():
        own = {"type", *(field.name for field in fields(kind))}
        assert set(DOCUMENT["$defs"][name]["properties"]) == own
    assert set(DOCUMENT["$defs"]["message"]["properties"]) == {
        field.name for field in fields(Message)
    }


@pytest.mark.parametrize(
    "line",
    [
        {"type": "dialogue", "id": "d"},
        {"type": "dialogue", "id": "d", "messages": [{"role": "user"}]},
        {"type": "dialogue", "id": "d", "messages": [], "turns": [{"number": 0}]},
        {"type": "response", "dialogue_id": "d", "turn": 0, "system": "s", "text": "", "txt": ""},
    ],
)
def test_the_schema_refuses_what_the_importer_refuses(line: dict[str, Any], tmp_path: Path) -> None:
    assert not SCHEMA.is_valid(line)
    file = tmp_path / "corpus.jsonl"
    file.write_text(f'{{"type": "corpus"}}\n{json.dumps(line)}\n', encoding="utf-8")
    with pytest.raises(ImportFailed):
        list(importers()["jsonl"].read(file))


def test_prompts_name_the_assistant_b() -> None:
    assert [letter_of(one) for one in ("A", "B", "user", "assistant", "tool", "ann")] == [
        "A", "B", "A", "B", "tool", "ann",
    ]  # fmt: skip


def test_the_assistant_answers_a_conversation_of_roles() -> None:
    assert target_of((Utterance("A", "hi"), Utterance("B", "hello"))) == target_of(()) == "B"
    assert target_of(CONVERSATION.context_of(CONVERSATION.turns[0])) == "assistant"
