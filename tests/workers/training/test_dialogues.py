"""Conversations out of the records of a corpus, each once."""

from __future__ import annotations

from annotations.formats.records import CorpusRecord, DialogueRecord, TurnRecord, Utterance
from tests.workers.training.talk import talk, texts
from workers.training.core.conversations import dialogues_of, merged


def place(number: int, *lines: str, answer: str = "") -> TurnRecord:
    """A place where B answers: the context ends with A."""
    speakers = ["B" if (len(lines) - k) % 2 == 0 else "A" for k in range(len(lines))]
    context = tuple(Utterance(speaker, line) for speaker, line in zip(speakers, lines, strict=True))
    return TurnRecord(number, context, (answer,) if answer else ())


def test_the_longest_context_and_its_answer_are_the_conversation() -> None:
    turns = (place(0, "a", answer="b"), place(1, "a", "b", "c", answer="d"))
    (dialogue,) = dialogues_of([CorpusRecord(), DialogueRecord("x", ("of B",), ("of A",), turns)])
    assert (dialogue.id, texts(dialogue)) == ("x", ["a", "b", "c", "d"])
    assert [utterance.speaker for utterance in dialogue.utterances] == ["A", "B", "A", "B"]
    assert dialogue.personas == (("of A",), ("of B",))


def test_a_place_without_a_reference_ends_with_its_context() -> None:
    (dialogue,) = dialogues_of(
        [DialogueRecord("x", (), (), (place(0, "a", answer="b"), place(1, "a", "b", "c")))]
    )
    assert texts(dialogue) == ["a", "b", "c"]


def test_places_that_are_not_one_conversation_are_several() -> None:
    turns = (place(0, "a", answer="b"), place(4, "p", answer="q"))
    assert [(d.id, texts(d)) for d in dialogues_of([DialogueRecord("x", (), (), turns)])] == [
        ("x#0", ["a", "b"]),
        ("x#4", ["p", "q"]),
    ]


def test_a_lone_utterance_is_no_conversation() -> None:
    assert dialogues_of([DialogueRecord("x", (), (), (place(0, "a"),))]) == []


def test_a_conversation_told_twice_is_kept_once() -> None:
    one, again, other = talk("1", "a", "b", "c"), talk("2", "a", "b", "c"), talk("3", "a", "b", "x")
    assert [dialogue.id for dialogue in merged([one, again, other])] == ["1", "3"]


def test_the_side_that_ends_an_utterance_earlier_goes_into_the_other() -> None:
    # ConvAI2: B's side begins with a silence of A, and knows the persona of the speaker whom the
    # other side calls A.
    full = talk("1", "a", "b", "c", "d", personas=((), ("of b and d",)))
    shorter = talk("2", "a", "b", "c", begins="B", personas=((), ("of a and c",)))
    for order in ([full, shorter], [shorter, full]):
        (dialogue,) = merged(order)
        assert (dialogue.id, len(dialogue.utterances)) == ("1", 4)
        assert dialogue.personas == (("of a and c",), ("of b and d",))


def test_a_conversation_that_another_begins_with_but_two_is_another() -> None:
    assert len(merged([talk("1", "a", "b"), talk("2", "a", "b", "c", "d")])) == 2
