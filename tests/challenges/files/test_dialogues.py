"""What participants download: the CPD challenge's format, with everything or without what speaker B
said."""

from __future__ import annotations

import json
from pathlib import Path

from annotations.formats.importers.base import survey
from annotations.formats.importers.registry import importers
from annotations.formats.records import DialogueRecord, Message, TurnRecord, Utterance
from leaderboard.challenges.files.dialogues import dialogue_entry, dialogues_document
from leaderboard.challenges.files.layout_file import layout_of

TURNS = 7


def dialogue(name: str = "d1") -> DialogueRecord:
    """Seven turns of a conversation in which A and B alternate."""
    said = [
        Utterance("AB"[place % 2], f"{name} {'AB'[place % 2]}{place // 2} spoke")
        for place in range(2 * TURNS)
    ]
    turns = tuple(
        TurnRecord(number, tuple(said[: 2 * number + 1]), (said[2 * number + 1].text,))
        for number in range(TURNS)
    )
    return DialogueRecord(name, ("i am B.",), ("i am A.",), turns)


def text_of(*dialogues: DialogueRecord, hidden: bool) -> str:
    return "".join(dialogues_document(dialogues, hidden=hidden))


def test_the_public_form_is_what_the_importer_reads(tmp_path: Path) -> None:
    path = tmp_path / "dialogues.json"
    path.write_text(text_of(dialogue(), dialogue("d2"), hidden=False), encoding="utf-8")
    records = [
        record for record in importers()["cpdc"].read(path) if isinstance(record, DialogueRecord)
    ]
    assert records == [dialogue(), dialogue("d2")]
    assert survey(importers()["cpdc"], path)[0].counts.turns == 2 * TURNS


def test_nothing_that_b_said_stands_in_the_hidden_form() -> None:
    text = text_of(dialogue(), hidden=True)
    for turn in dialogue().turns:
        assert turn.references[0] not in text
        assert turn.context[-1].text in text
    assert "gold" not in text


def test_the_hidden_form_says_whose_answer_belongs_where() -> None:
    entry = dialogue_entry(dialogue(), hidden=True)
    assert entry["turn_2"]["dialogue"] == [
        {"persona_id": "A", "text": "d1 A0 spoke"},
        {"persona_id": "B", "text": None, "turn": 0},
        {"persona_id": "A", "text": "d1 A1 spoke"},
        {"persona_id": "B", "text": None, "turn": 1},
        {"persona_id": "A", "text": "d1 A2 spoke"},
    ]


def test_a_history_that_is_not_the_dialogues_own_names_no_turn() -> None:
    first = TurnRecord(0, (Utterance("A", "one"),), ("x",))
    other = TurnRecord(
        1, (Utterance("A", "elsewhere"), Utterance("B", "y"), Utterance("A", "two")), ("z",)
    )
    entry = dialogue_entry(DialogueRecord("d", (), (), (first, other)), hidden=True)
    assert entry["turn_1"]["dialogue"][1] == {"persona_id": "B", "text": None}


def test_a_speaker_who_is_not_a_is_left_out_too() -> None:
    turn = TurnRecord(0, (Utterance("C", "secret"), Utterance("A", "hello")), ("x",))
    assert "secret" not in text_of(DialogueRecord("d", (), (), (turn,)), hidden=True)


def test_several_references_stand_beside_the_first() -> None:
    turn = TurnRecord(0, (Utterance("A", "hello"),), ("x", "y"))
    entry = dialogue_entry(DialogueRecord("d", (), (), (turn,)), hidden=False)
    assert (entry["turn_0"]["gold_reference"], entry["turn_0"]["gold_references"]) == (
        "x",
        ["x", "y"],
    )


def test_both_forms_show_the_same_layout(tmp_path: Path) -> None:
    for hidden in (True, False):
        path = tmp_path / f"{hidden}.json"
        path.write_text(text_of(dialogue(), dialogue("d2"), hidden=hidden), encoding="utf-8")
        assert list(layout_of(path)) == [("d1", tuple(range(TURNS))), ("d2", tuple(range(TURNS)))]


def test_it_is_one_json_list_whatever_is_said() -> None:
    turn = TurnRecord(0, (Utterance("A", 'quote " and \u2028 and ünï 🙂\n'),), ("x",))
    (entry,) = json.loads(text_of(DialogueRecord('"', (), (), (turn,)), hidden=False))
    assert entry["turn_0"]["dialogue"][0]["text"] == 'quote " and \u2028 and ünï 🙂\n'


def test_of_a_conversation_of_roles_the_hidden_form_keeps_prompts_and_users_alone() -> None:
    messages = (
        Message("system", "Be brief."),
        Message("user", "hi", "ann"),
        Message("assistant", "hello"),
        Message("tool", "hello"),
        Message("user", "and now?"),
        Message("assistant", "bye"),
    )
    turns = (TurnRecord(3, after=2, references=("hello",)), TurnRecord(5, after=5))
    dialogue = DialogueRecord("d", (), (), turns, messages, knowledge=("a fact",))
    entry = dialogue_entry(dialogue, hidden=True)
    assert entry["turn_5"]["dialogue"] == [
        {"persona_id": "system", "text": "Be brief."},
        {"persona_id": "ann", "text": "hi"},
        {"persona_id": "assistant", "text": None, "turn": 3},
        {"persona_id": "tool", "text": None},
        {"persona_id": "user", "text": "and now?"},
    ]
    assert entry["turn_3"]["knowledge"] == ["a fact"]
    assert "hello" not in str(entry)
    assert "bye" not in str(dialogue_entry(dialogue, hidden=False))
