"""Files of training and attention items: what is taken, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotations.campaigns.plan.check_items import (
    Answers,
    BadCheckFile,
    CheckItem,
    read_check_items,
)

CORPUS = Answers(
    turns={"d0": [0, 1], "d1": [0], "empty": []},
    answered={"echo": frozenset({("d0", 0), ("d0", 1), ("d1", 0)}), "dull": frozenset({("d0", 0)})},
)
GOOD: dict[str, Any] = {
    "role": "training",
    "dialogue": "d0",
    "turn": 1,
    "system": "echo",
    "lowest": 1,
    "highest": 2,
}


def lines(*records: object) -> bytes:
    return "\n".join(
        record if isinstance(record, str) else json.dumps(record) for record in records
    ).encode()


def faults(data: bytes, level: Any = "turn") -> list[str]:
    with pytest.raises(BadCheckFile) as refused:
        read_check_items(data, level, CORPUS)
    return [str(fault) for fault in refused.value.faults]


def test_a_system_s_response_and_an_own_text() -> None:
    own = {
        "role": "attention",
        "dialogue": "d1",
        "turn": 0,
        "text": "Blue.",
        "lowest": 1,
        "highest": 1,
    }
    assert read_check_items(lines(GOOD, "", own), "turn", CORPUS) == [
        CheckItem("training", "d0", 1, "echo", (), 1, 2),
        CheckItem("attention", "d1", 0, None, ("Blue.",), 1, 1),
    ]


def test_at_dialogue_level_a_text_for_each_turn() -> None:
    own = {
        "role": "training",
        "dialogue": "d0",
        "texts": ["a", "b"],
        "lowest": 5,
        "highest": 5,
        "feedback": "Fine.",
    }
    assert read_check_items(lines(own), "dialogue", CORPUS) == [
        CheckItem("training", "d0", None, None, ("a", "b"), 5, 5, "Fine.")
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"role": "regular"}, "line 1, role: must be training or attention"),
        ({"role": None}, "line 1, role"),
        ({"dialogue": "d9"}, "line 1, dialogue: the corpus has no dialogue 'd9'"),
        ({"dialogue": "empty"}, "line 1, dialogue"),
        ({"dialogue": 0}, "line 1, dialogue: must be"),
        ({"turn": 7}, "line 1, turn: dialogue 'd0' has no turn 7"),
        ({"turn": True}, "line 1, turn"),
        ({"turn": "1"}, "line 1, turn"),
        ({"system": "nobody"}, "line 1, system: the corpus has no system 'nobody'"),
        ({"system": "dull"}, "line 1, system: 'dull' has no response at turn 1"),
        ({"system": ["echo"]}, "line 1, system"),
        ({"text": "both"}, "line 1, system: name either"),
        ({"texts": ["x"]}, "line 1, texts: this campaign takes text"),
        ({"lowest": 0}, "line 1, lowest: must be a whole number from 1 to 5"),
        ({"lowest": 1.5}, "line 1, lowest"),
        ({"lowest": True}, "line 1, lowest"),
        ({"highest": 6}, "line 1, highest"),
        ({"lowest": 3}, "line 1, highest: is below lowest (2 < 3)"),
        ({"feedback": 3}, "line 1, feedback: must be text"),
        ({"feedback": "a\0b"}, "line 1, feedback: holds a NUL character"),
        ({"feedback": "x" * 2001}, "line 1, feedback: has 2,001 characters"),
        ({"pk": 3}, "line 1, pk: is not known"),
    ],
)
def test_a_fault_names_its_line_and_field(change: dict[str, Any], said: str) -> None:
    (fault,) = faults(lines({**GOOD, **change}))
    assert fault.startswith(said)


@pytest.mark.parametrize("line", ["{", "[]", "3", '"text"', "[" * 100_000])
def test_what_is_no_object_is_refused(line: str) -> None:
    (fault,) = faults(lines(line))
    assert fault.startswith("line 1: ")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"turn": 0}, "turn"),
        ({"texts": ["one"]}, "texts"),
        ({"texts": "ab"}, "texts"),
        ({"texts": ["a", ""]}, "texts"),
    ],
)
def test_faults_at_dialogue_level(change: dict[str, Any], field: str) -> None:
    good = {"role": "training", "dialogue": "d0", "texts": ["a", "b"], "lowest": 1, "highest": 2}
    (fault,) = faults(lines({**good, **change}), "dialogue")
    assert fault.startswith(f"line 1, {field}:")


def test_a_system_must_have_answered_the_whole_dialogue() -> None:
    (fault,) = faults(
        lines({"role": "training", "dialogue": "d0", "system": "dull", "lowest": 1, "highest": 2}),
        "dialogue",
    )
    assert "no response at turn 1" in fault


def test_the_same_item_twice_is_refused() -> None:
    assert faults(lines(GOOD, GOOD)) == ["line 2: the same item is in line 1"]


def test_the_twentieth_fault_is_the_last_one_named() -> None:
    assert len(faults(lines(*[{**GOOD, "role": "x"}] * 50))) == 20


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_of_nothing_is_refused(data: bytes) -> None:
    assert faults(data) == ["the file holds no items"]


def test_a_file_of_another_encoding_is_refused() -> None:
    assert faults(b"\xff\xfe{") == ["the file is not UTF-8 (byte 1)"]


def test_a_file_beyond_the_limit_is_refused() -> None:
    assert faults(b" " * 1_000_001) == [
        "the file has 1,000,001 bytes; at most 1,000,000 are allowed"
    ]


def test_an_attention_item_shows_no_system_s_response() -> None:
    """It could come to the rater a second time."""
    assert faults(lines({**GOOD, "role": "attention"})) == [
        "line 1, system: does not belong to an attention item: give a text of your own"
    ]
