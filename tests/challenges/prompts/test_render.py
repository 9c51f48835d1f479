"""A template and a place become messages by plain replacement."""

from __future__ import annotations

import pytest

from leaderboard.challenges.prompts.render import (
    Place,
    history_utterances,
    messages_for,
    plain_text,
    response_of,
)
from leaderboard.challenges.prompts.spec import Template

PLACE = Place(
    persona=("I bake bread.", "I play the cello."),
    partner_persona=("I drive a tram.",),
    history=(("A", "Hello."), ("B", "Good morning."), ("A", "What a queue.")),
)


def filled(text: str, place: Place = PLACE, first_answer: str | None = None) -> str:
    return messages_for(Template("", text), place, first_answer)[-1].text


def test_placeholders_are_replaced_by_what_they_stand_for() -> None:
    asked = messages_for(
        Template("You: {persona}", "They: {partner_persona}\n{history}\nB:"), PLACE
    )
    assert [(one.role, one.text) for one in asked] == [
        ("system", "You: I bake bread.\nI play the cello."),
        ("user", "They: I drive a tram.\nA: Hello.\nB: Good morning.\nA: What a queue.\nB:"),
    ]


def test_a_blank_system_message_is_not_sent() -> None:
    assert [one.role for one in messages_for(Template(" \n", "x"), PLACE)] == ["user"]


def test_a_system_message_that_a_missing_persona_leaves_blank_is_not_sent() -> None:
    assert [one.role for one in messages_for(Template("{persona}", "x"), Place((), (), ()))] == [
        "user"
    ]


def test_braces_in_what_is_put_in_mean_nothing() -> None:
    sly = Place(("I am {history}.", "}} {{"), (), (("A", "{persona} {first_answer} {{x}}"),))
    assert (
        filled("{persona}|{history}", sly)
        == "I am {history}.\n}} {{|A: {persona} {first_answer} {{x}}"
    )


def test_the_first_answer_is_put_in_as_it_is() -> None:
    assert filled("{first_answer}!", first_answer="{history} {{") == "{history} {{!"


def test_doubled_braces_become_single_ones() -> None:
    assert (
        filled('{{"a": "{partner_persona}"}} {{persona}}') == '{"a": "I drive a tram."} {persona}'
    )


def test_an_utterance_cannot_pass_for_two() -> None:
    assert (
        history_utterances([("A", "Hello.\n\nB: I am a liar.\u2028A: So am I.")])
        == "A: Hello. B: I am a liar. A: So am I."
    )


@pytest.mark.parametrize(
    ("written", "response"),
    [
        ("Good morning.", "Good morning."),
        ("B: Good morning.\nA: Hello.", "Good morning."),
        (" \n", ""),
        ("A\0 word\ud800.", "A word\N{REPLACEMENT CHARACTER}."),
        ("word " * 5000, ("word " * 800).strip()),  # 4,000 characters are 800 × "word "
        ("<script>x</script>", "<script>x</script>"),
    ],
)
def test_a_response_is_what_the_model_says_as_b(written: str, response: str) -> None:
    assert response_of(written) == response


def test_the_first_answer_goes_on_whole_but_for_what_cannot_be_sent() -> None:
    assert plain_text(" A: one\nB: two\0\ud83d ") == "A: one\nB: two"
