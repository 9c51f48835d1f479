"""The importer of PersonaChat and ConvAI2."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotations.formats.records import DialogueRecord
from tests.annotations.formats.importers.helpers import file_of, of_type, problems, read, surveyed

EPISODE = (
    "1 your persona: i row .\n2 your persona: i have two cats .\n3 partner's persona: i bake .\n"
    "4 hi\thello\n5 what do you do ?\ti row .\n"
)


def dialogues(folder: Path, content: str) -> list[DialogueRecord]:
    return of_type(read("personachat", file_of(folder, content)), DialogueRecord)


def test_b_is_who_answers_and_has_your_persona(tmp_path: Path) -> None:
    (dialogue,) = dialogues(tmp_path, EPISODE)
    assert dialogue.persona == ("i row .", "i have two cats .")
    assert dialogue.partner_persona == ("i bake .",)
    assert [
        ([(u.speaker, u.text) for u in turn.context], turn.references) for turn in dialogue.turns
    ] == [
        ([("A", "hi")], ("hello",)),
        ([("A", "hi"), ("B", "hello"), ("A", "what do you do ?")], ("i row .",)),
    ]


def test_a_dialogue_begins_where_the_numbers_do(tmp_path: Path) -> None:
    found = dialogues(tmp_path, EPISODE + "1 a\tb\n2 c\td\n")
    assert [(dialogue.id, len(dialogue.turns), dialogue.persona) for dialogue in found] == [
        ("0", 2, ("i row .", "i have two cats .")),
        ("1", 2, ()),
    ]


def test_candidates_and_rewards_are_passed_over(tmp_path: Path) -> None:
    with_candidates = EPISODE.replace("\thello", "\thello\t\tno|yes|hello").replace(
        "\ti row .", "\ti row .\t1.0\ta|b"
    )
    (one,) = surveyed("personachat", file_of(tmp_path, EPISODE))
    (other,) = surveyed("personachat", file_of(tmp_path, with_candidates.replace("\n", "\r\n")))
    assert one.digest == other.digest


def test_after_a_silence_b_begins(tmp_path: Path) -> None:
    (dialogue,) = dialogues(tmp_path, "1 __SILENCE__\thi\n2 hello\thow are you ?\n")
    (turn,) = dialogue.turns
    assert [(u.speaker, u.text) for u in turn.context] == [("B", "hi"), ("A", "hello")]
    assert turn.references == ("how are you ?",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb", "does not begin with a number and a space"),
        ("7 a\tb", "is numbered 7, and the line before it 5: a line is missing"),
        ("6 a", "has no answer: a tab and the answer follow what the partner says"),
        ("6 a\t", "answer: is empty"),
        ("6 \tb", "text: is empty"),
        ("6 a\tb\tc\td\te", "has 5 columns; at most 4 are known: text, answer, reward, candidates"),
        ("6 __SILENCE__\tb", "text: __SILENCE__ is in the middle of the dialogue"),
        ("6 your persona: ", "your persona: is empty"),
        ("6 a\t" + "b" * 200_001, "answer: has 200,001 characters; at most 200,000 are allowed"),
        ("6 a\tb\0", "holds a NUL byte"),
    ],
)
def test_faults_are_named_once_a_dialogue(tmp_path: Path, line: str, message: str) -> None:
    found = problems("personachat", file_of(tmp_path, f"{EPISODE}{line}\n7 c\td\n8 e\tf\n1 a\tb\n"))
    assert len(found) == 1
    assert found[0].startswith(f"file.json:6: {message}")


def test_a_dialogue_of_which_the_start_is_missing_is_named(tmp_path: Path) -> None:
    found = problems("personachat", file_of(tmp_path, "4 hi\thello\n5 a\tb\n" + EPISODE))
    assert found == ["file.json:1: is numbered 4; a dialogue begins with 1"]


@pytest.mark.parametrize(
    ("content", "count"), [("1 your persona: i row .\n", 0), ("1 __SILENCE__\thi\n", 1)]
)
def test_a_dialogue_in_which_nobody_is_answered_is_named(
    tmp_path: Path, content: str, count: int
) -> None:
    assert problems("personachat", file_of(tmp_path, EPISODE + content)) == [
        f"file.json:6: a dialogue has two utterances or more; this one has {count}"
    ]


def test_a_dialogue_without_end_is_refused_at_its_limit(tmp_path: Path) -> None:
    content = "".join(f"{number} a\tb\n" for number in range(1, 10_100))
    assert problems("personachat", file_of(tmp_path, content)) == [
        "file.json:10001: more than 20,000 utterances in one dialogue"
    ]


def test_a_persona_without_end_is_refused_at_its_limit(tmp_path: Path) -> None:
    content = "".join(f"{number} your persona: i row .\n" for number in range(1, 10_100))
    assert problems("personachat", file_of(tmp_path, content)) == [
        "file.json:101: your persona: more than 100 sentences"
    ]


def test_bytes_that_are_no_utf8_are_named(tmp_path: Path) -> None:
    assert problems("personachat", file_of(tmp_path, b"1 caf\xe9\tb\n")) == [
        "file.json:1: is not UTF-8 (byte 6 of the line)"
    ]
