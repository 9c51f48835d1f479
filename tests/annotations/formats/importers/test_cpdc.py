"""The importer of the CPD challenge's dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotations.formats.records import DialogueRecord, ResponseRecord
from tests.annotations.formats.importers.helpers import (
    file_of,
    of_type,
    problems,
    read,
    real_file,
    surveyed,
)


def dialogue(**fields: Any) -> dict[str, Any]:
    """Seven turns; the context of turn k has 2k + 1 utterances."""
    turns = {
        f"turn_{k}": {
            "persona A": ["i am anna"],
            "persona B": ["i am ben", "i cook"],
            "dialogue": [
                {"persona_id": "AB"[n % 2], "text": f"line {n}"} for n in range(2 * k + 1)
            ],
            "gold_reference": f"line {2 * k + 1}",
        }
        for k in range(7)
    }
    return {**turns, **fields}


def test_a_dialogue_has_seven_turns_with_gold_answers(tmp_path: Path) -> None:
    records = read("cpdc", file_of(tmp_path, [dialogue(dialog_id="d1")]))
    (record,) = of_type(records, DialogueRecord)
    assert record.id == "d1"
    assert [turn.number for turn in record.turns] == list(range(7))
    assert [len(turn.context) for turn in record.turns] == [1, 3, 5, 7, 9, 11, 13]
    assert record.turns[6].references == ("line 13",)
    assert of_type(records, ResponseRecord) == []


def test_the_target_is_persona_b(tmp_path: Path) -> None:
    (record,) = of_type(read("cpdc", file_of(tmp_path, [dialogue()])), DialogueRecord)
    assert (record.persona, record.partner_persona) == (("i am ben", "i cook"), ("i am anna",))


def test_without_an_id_the_place_in_the_file_is_the_id(tmp_path: Path) -> None:
    records = of_type(read("cpdc", file_of(tmp_path, [dialogue(), dialogue()])), DialogueRecord)
    assert [record.id for record in records] == ["0", "1"]


def test_a_missing_turn_is_named(tmp_path: Path) -> None:
    content = dialogue()
    del content["turn_6"]
    assert problems("cpdc", file_of(tmp_path, [dialogue(), content])) == [
        "file.json: $[1].turn_6: is missing"
    ]


def test_an_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    found = problems("cpdc", file_of(tmp_path, [dialogue(dialog_id="d"), dialogue(dialog_id="d")]))
    assert found == ["file.json: $[1].dialog_id: the dialogue 'd' occurs twice"]


def test_a_persona_that_changes_between_turns_is_refused(tmp_path: Path) -> None:
    content = dialogue()
    content["turn_3"]["persona A"] = ["i am someone else"]
    assert problems("cpdc", file_of(tmp_path, [content])) == [
        "file.json: $[0].turn_3.persona A: differs from that of turn_0"
    ]


def test_a_context_that_ends_with_the_target_is_refused(tmp_path: Path) -> None:
    content = dialogue()
    content["turn_0"]["dialogue"].append({"persona_id": "B", "text": "i have spoken"})
    assert problems("cpdc", file_of(tmp_path, [content])) == [
        "file.json: $[0].turn_0.dialogue: must end with an utterance of A, which B answers"
    ]


def test_a_third_speaker_is_refused(tmp_path: Path) -> None:
    content = dialogue()
    content["turn_0"]["dialogue"][0]["persona_id"] = "C"
    assert problems("cpdc", file_of(tmp_path, [content])) == [
        "file.json: $[0].turn_0.dialogue[0].persona_id: must be A or B"
    ]


def test_the_real_file_holds_five_dialogues_of_seven_turns() -> None:
    (part,) = surveyed("cpdc", real_file("cpdc/dummy_data_task1.json"))
    assert (part.counts.dialogues, part.counts.turns, part.counts.systems) == (5, 35, 0)


def test_turns_that_would_be_lost_are_refused(tmp_path: Path) -> None:
    content = dialogue()
    content["turn_7"] = content["turn_6"]
    assert problems("cpdc", file_of(tmp_path, [content])) == [
        "file.json: $[0].turn_7: a dialogue of this format has turn_0 to turn_6 (jsonl: any)"
    ]


def test_an_id_under_another_name_is_refused(tmp_path: Path) -> None:
    assert problems("cpdc", file_of(tmp_path, [dialogue(dialogue_id="d")])) == [
        "file.json: $[0].dialogue_id: is called dialog_id in this format"
    ]


def test_all_references_are_kept_where_there_are_several(tmp_path: Path) -> None:
    content = dialogue()
    content["turn_0"]["gold_references"] = ["line 1", "another"]
    (record,) = of_type(read("cpdc", file_of(tmp_path, [content])), DialogueRecord)
    assert record.turns[0].references == ("line 1", "another")
    content["turn_0"]["gold_references"] = ["another"]
    assert problems("cpdc", file_of(tmp_path, [content])) == [
        "file.json: $[0].turn_0.gold_references: does not hold gold_reference"
    ]
