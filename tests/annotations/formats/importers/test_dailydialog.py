"""The importer of DailyDialog, in both layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.conversations import MAX_UTTERANCES
from annotations.formats.records import DialogueRecord
from tests.annotations.formats.importers.helpers import (
    file_of,
    lines_of,
    of_type,
    problems,
    read,
    real_file,
    surveyed,
)


def line(*texts: Any, **fields: Any) -> dict[str, Any]:
    return {
        "fold": "train",
        "topic": "work",
        "dialogue": [{"text": text, "act": "inform"} for text in texts],
        **fields,
    }


def dialogues(path: Path) -> list[DialogueRecord]:
    return of_type(read("dailydialog", path), DialogueRecord)


def test_every_answer_of_b_is_a_turn_and_b_speaks_last(tmp_path: Path) -> None:
    (dialogue,) = dialogues(lines_of(tmp_path, [line(" a ", "b", "c", "d")]))
    assert [
        (turn.number, [(u.speaker, u.text) for u in turn.context], turn.references)
        for turn in dialogue.turns
    ] == [
        (0, [("A", "a")], ("b",)),
        (1, [("A", "a"), ("B", "b"), ("A", "c")], ("d",)),
    ]


def test_with_an_odd_number_of_lines_b_begins(tmp_path: Path) -> None:
    (dialogue,) = dialogues(lines_of(tmp_path, [line("a", "b", "c")]))
    assert [([u.speaker for u in turn.context], turn.references) for turn in dialogue.turns] == [
        (["B", "A"], ("c",))
    ]


def test_ids_count_dialogues(tmp_path: Path) -> None:
    path = file_of(tmp_path, "a __eou__ b __eou__\n\nc __eou__ d __eou__\n")
    assert [dialogue.id for dialogue in dialogues(path)] == ["0", "1"]


def test_both_layouts_hold_the_same_corpus(tmp_path: Path) -> None:
    as_json = lines_of(tmp_path, [line("Hi .", "Hello ."), line("Why ?", "So .", "Oh .")])
    as_text = file_of(
        tmp_path, "Hi . __eou__ Hello . __eou__\r\nWhy ?__eou__So .__eou__Oh . __eou__"
    )
    (one,), (other,) = surveyed("dailydialog", as_json), surveyed("dailydialog", as_text)
    assert one.digest == other.digest
    assert (one.counts.dialogues, one.counts.turns, one.counts.systems) == (2, 2, 0)


def test_the_splits_are_not_mixed(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [line("a", "b"), line("c", "d", fold="test")])
    assert problems("dailydialog", path) == [
        (
            "file.jsonl:2: fold: is 'test' where the first dialogue's is 'train'; import each "
            "fold by itself"
        )
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"fold": "train"}, "dialogue: is missing"),
        (line("a"), "dialogue: a dialogue has two utterances or more"),
        (line("a", ""), "dialogue[1].text: is empty"),
        (line("a", None), "dialogue[1].text: must be a string, not null"),
        ({"dialogue": "a __eou__ b __eou__"}, "dialogue: must be a list, not a string"),
        ({"dialogue": ["a", "b"]}, "dialogue[0]: must be an object, not a string"),
        (
            line("a", "b" * 200_001),
            "dialogue[1].text: has 200,001 characters; at most 200,000 are allowed",
        ),
        (
            line(*["a"] * (MAX_UTTERANCES + 1)),
            "dialogue: more than 20,000 utterances in one dialogue",
        ),
        (line("a", "b", fold=1), "fold: must be a string, not a number"),
    ],
)
def test_faults_in_json_are_named(tmp_path: Path, content: Any, message: str) -> None:
    assert f"file.jsonl:2: {message}" in problems(
        "dailydialog", lines_of(tmp_path, [line("a", "b"), content])
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a __eou__ b",
            "does not end in __eou__: the line is cut off, or the file is not DailyDialog's",
        ),
        (
            "a __eou__ b __eo",
            "does not end in __eou__: the line is cut off, or the file is not DailyDialog's",
        ),
        ("a __eou__", "a dialogue has two utterances or more"),
        ("a __eou__ __eou__ c __eou__", "utterance 2: is empty"),
        ("a __eou__ " * 20_001, "more than 20,000 utterances in one dialogue"),
        (
            "a __eou__ " + "b" * 200_001 + " __eou__",
            "utterance 2: has 200,001 characters; at most 200,000 are allowed",
        ),
        ("a __eou__ b\0 __eou__", "holds a NUL byte (byte 12 of the line)"),
    ],
)
def test_faults_in_text_are_named(tmp_path: Path, text: str, message: str) -> None:
    assert problems("dailydialog", file_of(tmp_path, f"a __eou__ b __eou__\n{text}\n")) == [
        f"file.json:2: {message}"
    ]


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"a __eou__ b __eou__\r\ncaf\xe9 __eou__ b __eou__\r\n")
    assert problems("dailydialog", path) == ["file.json:2: is not UTF-8 (byte 4 of the line)"]


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    whole = lines_of(tmp_path, [line("a", "b"), line("c", "d")]).read_bytes()
    (found,) = problems("dailydialog", file_of(tmp_path, whole[:-20]))
    assert found.startswith("file.json:2: is not JSON: ")
    assert found.endswith("in the middle of this line")


def test_the_real_validation_split() -> None:
    (part,) = surveyed("dailydialog", real_file("dailydialog/valid.json"))
    # 8,069 utterances; every second one from the last is an answer of B's, 3,851 of them to
    # something.
    assert (part.counts.dialogues, part.counts.turns, part.counts.responses) == (1_000, 3_851, 0)
