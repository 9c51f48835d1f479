"""A baseline answers a round's dialogues, whole or without what speaker B said, and writes a file
to hand in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workers.baselines import __main__ as command
from workers.baselines.dialogue_file import read_dialogues


def entry(hidden: bool, turns: int = 3, name: str = "d1") -> dict[str, Any]:
    """A dialogue in the form that participants download."""

    def line(place: int) -> dict[str, Any]:
        if place % 2 and hidden:
            return {"persona_id": "B", "text": None, "turn": place // 2}
        return {"persona_id": "AB"[place % 2], "text": f"{name} line {place}"}

    return {
        "dialog_id": name,
        **{
            f"turn_{number}": {
                "persona A": ["i am A."],
                "persona B": ["i am B."],
                "dialogue": [line(place) for place in range(2 * number + 1)],
                **({} if hidden else {"gold_reference": f"{name} line {2 * number + 1}"}),
            }
            for number in range(turns)
        },
    }


def file_of(folder: Path, content: Any) -> Path:
    path = folder / "dialogues.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_whole_dialogues_are_answered_from_the_gold_history(tmp_path: Path) -> None:
    (dialogue,) = read_dialogues(file_of(tmp_path, [entry(hidden=False)]))
    place = dialogue.turns[1].place("d1", own={0: "mine"})
    assert [utterance.text for utterance in place.context] == [
        "d1 line 0",
        "d1 line 1",
        "d1 line 2",
    ]
    assert (place.persona, place.partner_persona) == (("i am B.",), ("i am A.",))


def test_its_own_answers_take_the_place_of_what_is_left_out(tmp_path: Path) -> None:
    (dialogue,) = read_dialogues(file_of(tmp_path, [entry(hidden=True)]))
    place = dialogue.turns[2].place("d1", own={0: "first of mine", 1: "second of mine"})
    said = [(utterance.speaker, utterance.text) for utterance in place.context]
    assert said == [
        ("A", "d1 line 0"),
        ("B", "first of mine"),
        ("A", "d1 line 2"),
        ("B", "second of mine"),
        ("A", "d1 line 4"),
    ]


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("baseline", ["echo", "dull", "verbose"])
def test_the_file_answers_every_turn_once(tmp_path: Path, hidden: bool, baseline: str) -> None:
    path = file_of(tmp_path, [entry(hidden), entry(hidden, name="d2")])
    assert (
        command.main([str(path), "--baseline", baseline, "--to", str(tmp_path / "out.json")]) == 0
    )
    answers = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [list(answer) for answer in answers] == [["dialog_id", "turn_0", "turn_1", "turn_2"]] * 2
    if baseline == "echo":
        assert answers[1] == {
            "dialog_id": "d2",
            "turn_0": "d2 line 0",
            "turn_1": "d2 line 2",
            "turn_2": "d2 line 4",
        }


def test_the_same_seed_writes_the_same_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, [entry(True)])
    written = []
    for number, seed in enumerate((1, 1, 2)):
        target = tmp_path / f"{number}.json"
        command.main([str(path), "--baseline", "verbose", "--seed", str(seed), "--to", str(target)])
        written.append(target.read_bytes())
    assert written[0] == written[1] != written[2]


def test_retrieval_takes_answers_of_other_dialogues(tmp_path: Path) -> None:
    path = file_of(tmp_path, [entry(False), entry(False, name="d2")])
    assert (
        command.main([str(path), "--baseline", "retrieval", "--to", str(tmp_path / "out.json")])
        == 0
    )
    first = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))[0]
    assert {first[f"turn_{number}"] for number in range(3)} <= {
        "d2 line 1",
        "d2 line 3",
        "d2 line 5",
    }


def test_retrieval_without_answers_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(tmp_path, [entry(hidden=True)])
    assert (
        command.main([str(path), "--baseline", "retrieval", "--to", str(tmp_path / "out.json")])
        == 1
    )
    assert "--answers FILE" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dialogues.json"]


def broken(**fields: Any) -> list[dict[str, Any]]:
    content = entry(hidden=False)
    content["turn_1"] = {**content["turn_1"], **fields}
    return [content]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "holds no dialogue"),
        ([1], "$[0]: must be an object, not a number"),
        ([{"dialog_id": "d"}], "$[0].turn_0: is missing: no turn to answer"),
        (
            broken(dialogue=[]),
            "$[0].turn_1.dialogue: must end with an utterance of A, which B answers",
        ),
        (
            broken(dialogue=[{"persona_id": "A", "text": None}]),
            "$[0].turn_1.dialogue: must end with an utterance of A, which B answers",
        ),
        (broken(dialogue=[{"persona_id": "A"}]), "$[0].turn_1.dialogue[0].text: is missing"),
        (broken(**{"persona B": "x"}), "$[0].turn_1.persona B: must be a list, not a string"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, said: str
) -> None:
    path = file_of(tmp_path, content)
    assert command.main([str(path), "--baseline", "echo", "--to", str(tmp_path / "out.json")]) == 1
    assert capsys.readouterr().err.strip() == f"dialogues.json: {said}"
    assert not (tmp_path / "out.json").exists()
