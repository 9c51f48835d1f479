"""Keys taken out, errors in our words, seeds."""

from __future__ import annotations

import pytest

from leaderboard.challenges.prompts.budget import Limits
from leaderboard.challenges.prompts.prompt_calls import Questioner, signature_of
from leaderboard.challenges.prompts.spec import Prompt, Settings, Template
from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.refusals import key_fault, repeats, without_key

PROMPT = Prompt(Template("", "{history}"), None, Settings(stop=("\n",)))


def endpoint(key: str) -> Endpoint:
    return Endpoint("https://api.example.org/v1", "m", key)


@pytest.mark.parametrize(
    ("key", "text", "clean"),
    [
        ("sk-1/a+b", "bad key sk-1/a+b", "bad key [key removed]"),
        ("sk-1/a+b", "url?k=sk-1%2Fa%2Bb", "url?k=[key removed]"),
        ("sk-1/a+b", '{"k":"sk-1\\/a+b"}', '{"k":"[key removed]"}'),
        ("none", "there are none left", "there are none left"),
    ],
)
def test_a_key_is_taken_out_of_whatever_an_endpoint_says(key: str, text: str, clean: str) -> None:
    assert without_key(text, endpoint(key)) == clean


@pytest.mark.parametrize("key", ["sk-a\nb", "schlüssel", "sk-\x01"])
def test_a_key_that_no_header_carries_is_refused_before_it_is_printed(key: str) -> None:
    assert (
        key_fault(endpoint(key)) == "the key of the endpoint holds characters that cannot be sent"
    )
    assert key_fault(endpoint("sk-ab")) == ""


@pytest.mark.parametrize(
    ("words", "does"),
    [
        ("context too long: 'the SECRET answer  is a bicycle'", True),
        ("context too long: 5,000 tokens", False),
        ("", False),
        ("short", False),
    ],
)
def test_an_error_that_repeats_what_was_asked_is_told_from_one_that_does_not(
    words: str, does: bool
) -> None:
    assert repeats(words, "A: Hello.\nB: The secret answer is a bicycle.") is does


def test_seeds_differ_by_prompt_dialogue_turn_and_call_and_are_the_same_for_the_same() -> None:
    def seed(prompt: Prompt, dialogue: str, turn: int, call: int) -> int:
        return Questioner(None, prompt, Limits(1, 1)).seed(dialogue, turn, call)  # type: ignore[arg-type]

    other = Prompt(PROMPT.first, None, Settings(seed=1))
    places = [
        (PROMPT, "d1", 0, 1),
        (other, "d1", 0, 1),
        (PROMPT, "d2", 0, 1),
        (PROMPT, "d1", 1, 1),
        (PROMPT, "d1", 0, 2),
    ]
    assert len({seed(*place) for place in places}) == 5
    assert seed(*places[0]) == seed(*places[0])
    assert all(0 <= seed(*place) < 2**31 for place in places)


def test_the_signature_names_all_that_decides_what_is_said() -> None:
    assert signature_of(PROMPT, "m", ["m-2026"]).startswith(
        "model:m|reported:m-2026|temperature:0.7|top_p:1|max_tokens:120|stop:01ba4719c80b|seed:0|"
        "calls:1|prompt:"
    )
