"""Conversations out of files of several formats, told by their first line."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from annotations.formats.importers.problems import ImportFailed
from tests.workers.training.talk import texts
from workers.training.core.conversations import read_dialogues, recognised

FILES = {
    "dailydialog": '{"fold": "train", "dialogue": [{"text": "hi"}, {"text": "hello"}, {"text": "bye"}]}\n',
    "dailydialog text": "hi __eou__ hello __eou__ bye __eou__\n",
    "personachat": "1 your persona: i row .\n2 __SILENCE__\thi\n3 hello\tbye\n",
    "jsonl": (
        '{"type": "corpus"}\n{"type": "dialogue", "id": "0", "persona": [], "partner_persona": '
        '[], "turns": [{"number": 0, "context": [{"speaker": "B", "text": "hi"}, {"speaker": "A", '
        '"text": "hello"}], "references": ["bye"]}]}\n'
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_format_is_recognised_and_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    path.write_text("\n" + FILES[kind], encoding="utf-8")
    assert recognised(path) == kind.split()[0]
    (dialogue,) = read_dialogues(path)
    assert texts(dialogue) == ["hi", "hello", "bye"]
    assert [utterance.speaker for utterance in dialogue.utterances] == ["B", "A", "B"]
    assert dialogue.personas == ((), ("i row .",) if kind == "personachat" else ())


def test_a_file_of_the_challenge_is_recognised(tmp_path: Path) -> None:
    turn = {
        "persona A": [],
        "persona B": [],
        "gold_reference": "b",
        "dialogue": [{"persona_id": "A", "text": "a"}],
    }
    path = tmp_path / "file"
    path.write_text(json.dumps([{f"turn_{number}": turn for number in range(7)}]), encoding="utf-8")
    assert [texts(dialogue) for dialogue in read_dialogues(path)] == [["a", "b"]]


def test_both_sides_of_a_conversation_are_one_dialogue_with_both_personas(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(
        "1 your persona: i cook .\n2 hi\thello\n3 how are you ?\tfine\n"
        "1 your persona: i row .\n2 __SILENCE__\thi\n3 hello\thow are you ?\n",
        encoding="utf-8",
    )
    (dialogue,) = read_dialogues(path)
    assert texts(dialogue) == ["hi", "hello", "how are you ?", "fine"]
    assert dialogue.personas == (("i row .",), ("i cook .",))


@pytest.mark.parametrize("content", ["", "words\n", "2 your persona: a line is missing\n", "\0"])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(
        ImportFailed,
        match=r"^file: (is empty|does not begin like dailydialog, personachat, jsonl, cpdc)",
    ):
        read_dialogues(path)


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ImportFailed, match=r"file: there is no format 'convai2'; there are messages, .*cpdc, usr, "
    ):
        read_dialogues(tmp_path / "file", "convai2")


def test_faults_are_named_by_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(
        '{"dialogue": [{"text": "a"}, {"text": "b"}]}\n{"dialogue": [{"text": "a"}, {"text": 1}]}\n'
    )
    with pytest.raises(
        ImportFailed, match=r"^file:2: dialogue\[1\].text: must be a string, not a number$"
    ):
        read_dialogues(path)


def test_the_real_file(data: Path) -> None:
    # 1,000 dialogues with 8,069 utterances, of which 5 dialogues (44 utterances) are told again.
    dialogues = read_dialogues(data / "dailydialog/valid.json")
    assert (len(dialogues), sum(len(dialogue.utterances) for dialogue in dialogues)) == (995, 8025)
    speakers = [[utterance.speaker for utterance in dialogue.utterances] for dialogue in dialogues]
    assert all(one != two for said in speakers for one, two in pairwise(said))
