"""The conversation as the dialogue page shows it; no database is asked."""

from __future__ import annotations

from annotations.models import Turn
from leaderboard.pages.dialogue.view import _bubbles

HELLO, HI, HOW, WELL, BYE = (
    ["A", "hello"],
    ["B", "hi"],
    ["A", "how are you?"],
    ["B", "well"],
    ["A", "bye"],
)
NESTED = [
    Turn(number=0, context=[HELLO], references=["hi"]),
    Turn(number=1, context=[HELLO, HI, HOW], references=["well"]),
]


def test_the_whole_conversation_is_shown_with_its_turns() -> None:
    bubbles = _bubbles(NESTED, NESTED[1])
    assert [(one.speaker, one.text, one.turn) for one in bubbles] == [
        ("A", "hello", None),
        ("B", "hi", 0),
        ("A", "how are you?", None),
        ("B", "well", 1),
    ]
    assert [one.is_chosen for one in bubbles] == [False, False, False, True]


def test_what_was_said_after_the_chosen_turn_is_later() -> None:
    bubbles = _bubbles(NESTED, NESTED[0])
    assert [one.is_chosen for one in bubbles] == [False, True, False, False]
    assert [one.is_later for one in bubbles] == [False, False, True, True]
    assert [one.begins_later for one in bubbles] == [False, False, True, False]


def test_a_turn_with_a_context_of_its_own_is_shown_with_that_one() -> None:
    """The longest context belongs to another conversation: nothing of it may stand before this
    turn's responses."""
    other = Turn(number=1, context=[BYE], references=["see you"])
    assert [one.text for one in _bubbles([NESTED[1], other], other)] == ["bye", "see you"]


def test_turns_that_share_a_context_but_not_the_answer_each_show_their_own() -> None:
    other = Turn(number=2, context=[HELLO], references=["good day"])
    assert [one.text for one in _bubbles([*NESTED, other], other)] == ["hello", "good day"]
    assert [one.text for one in _bubbles([*NESTED, other], NESTED[0])][:2] == ["hello", "hi"]


def test_without_a_reference_the_conversation_ends_with_the_context() -> None:
    turn = Turn(number=0, context=[HELLO], references=[])
    assert [one.text for one in _bubbles([turn], turn)] == ["hello"]


def test_without_turns_there_is_no_conversation() -> None:
    assert _bubbles([], None) == []
