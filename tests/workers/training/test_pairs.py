"""Contexts and the responses that people gave to them."""

from __future__ import annotations

from tests.workers.training.talk import talk
from workers.training.core.conversations import pairs_of


def test_every_utterance_but_the_first_answers_all_before_it() -> None:
    pairs = pairs_of([talk("d", "hi", "hello", "bye")])
    assert [([u.text for u in pair.context], pair.response) for pair in pairs] == [
        (["hi"], "hello"),
        (["hi", "hello"], "bye"),
    ]


def test_a_pair_knows_its_dialogue_and_turn() -> None:
    pairs = pairs_of([talk("x", "a", "b"), talk("y", "c", "d", "e")])
    assert [(pair.dialogue, pair.turn) for pair in pairs] == [(0, 1), (1, 1), (1, 2)]


def test_the_persona_is_that_of_who_responds() -> None:
    pairs = pairs_of([talk("d", "hi", "hello", "bye", personas=(("i am A",), ("i am B",)))])
    assert [pair.persona for pair in pairs] == [("i am B",), ("i am A",)]


def test_speakers_stay_with_their_utterances() -> None:
    (_, pair) = pairs_of([talk("d", "hi", "hello", "bye", begins="B")])
    assert [utterance.speaker for utterance in pair.context] == ["B", "A"]
