"""Splits that have nothing in common, and the name of data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from annotations.formats.records import TurnRecord
from tests.workers.training.talk import numbered, talk
from workers.training.core.conversations import pairs_of, read_dialogues
from workers.training.core.overlap import overlap
from workers.training.core.splits import signature_of, split_dialogues


def test_the_parts_are_the_whole_and_have_the_share() -> None:
    dialogues = numbered(50)
    training, validation = split_dialogues(dialogues, 0.1, seed=0)
    assert len(validation) == 5
    assert sorted([*training, *validation], key=dialogues.index) == dialogues
    assert training == sorted(training, key=dialogues.index)


def test_the_seed_decides() -> None:
    dialogues = numbered(50)
    assert split_dialogues(dialogues, 0.1, seed=3) == split_dialogues(dialogues, 0.1, seed=3)
    assert split_dialogues(dialogues, 0.1, seed=3) != split_dialogues(dialogues, 0.1, seed=4)


def test_two_versions_of_a_dialogue_stay_together() -> None:
    long = (
        "Could you tell me where the botanical garden is?",
        "Behind the station, the second street on the left.",
    )
    short = ("I am looking for the spare key.", "Is it under the mat?")
    versions = [
        talk("1", "Excuse me.", *long),
        talk("2", long[1], "Thanks."),
        talk("3", *long, begins="B"),
    ]
    in_a_row = [talk("4", "Hm.", *short), talk("5", *short, "It is!")]
    for seed in range(30):
        for part in split_dialogues([*numbered(5), *versions, *in_a_row], 0.4, seed):
            assert sum(dialogue in versions for dialogue in part) in (0, 3)
            assert sum(dialogue in in_a_row for dialogue in part) in (0, 2)


def test_what_many_people_say_ties_no_dialogues() -> None:
    dialogues = [
        talk(str(k), "Good afternoon, sir.", "What can I do for you?", f"Give me {k}.")
        for k in range(10)
    ]
    assert [len(part) for part in split_dialogues(dialogues, 0.5, seed=0)] == [5, 5]


def test_a_long_formula_ties_no_dialogues() -> None:
    long = "Your call is important to us, please hold the line."
    training, validation = split_dialogues(
        [talk(str(k), long, f"Give me {k}.") for k in range(6)], 0.5, seed=0
    )
    assert (len(training), len(validation)) == (3, 3)


def test_both_parts_hold_something() -> None:
    assert [len(part) for part in split_dialogues(numbered(2), 0.01, seed=0)] == [1, 1]
    assert [len(part) for part in split_dialogues(numbered(2), 0.99, seed=0)] == [1, 1]


def test_what_cannot_be_split_is_refused() -> None:
    with pytest.raises(ValueError, match="1 dialogues: at least 2 are needed"):
        split_dialogues(numbered(1), 0.5, seed=0)
    long = "Behind the station, the second street on the left."
    with pytest.raises(
        ValueError, match="5 dialogues in 1 groups of versions, the largest of 5: 2 for validation"
    ):
        split_dialogues(
            [talk(str(k), f"Where is number {k}?", long) for k in range(5)], 0.4, seed=0
        )
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        split_dialogues(numbered(9), 1.0, seed=0)


def test_the_signature_is_of_what_is_said_by_whom() -> None:
    one = talk("1", "a", "b")
    others = [
        talk("1", "a", "c"),
        talk("1", "a", "b", begins="B"),
        replace(one, personas=(("p",), ())),
        talk("1", "ab"),
    ]
    assert len({signature_of([other]) for other in [one, *others]}) == 5
    assert signature_of([replace(one, id="2")]) == signature_of([one])
    assert signature_of([one, others[0]]) != signature_of([others[0], one])


def test_the_signature_is_this_one() -> None:
    # printf '%s\n' '[[["A","a"],["B","b"]],[[],[]]]' | sha256sum: stored runs hold it, so it must
    # not change.
    expected = "2a9af71de1cde7540f98af1bffd18ab4a0cf049587cdb4302681c2c25c49c0ca"
    assert signature_of([talk("1", "a", "b")]) == expected


def test_no_context_of_the_real_validation_part_stands_in_the_training_part(data: Path) -> None:
    training, validation = split_dialogues(
        read_dialogues(data / "dailydialog/valid.json"), 0.1, seed=0
    )
    assert (len(training), len(validation)) == (895, 100)
    evaluation = [TurnRecord(0, pair.context, (pair.response,)) for pair in pairs_of(validation)]
    assert overlap(training, evaluation).positions_with(("context", "end")) == ()
