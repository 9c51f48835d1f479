"""What a chat system is told, and which part of what it writes is an utterance."""

from __future__ import annotations

import pytest

from workers.inference.language_models.chat_prompt import (
    EmptyAnswer,
    chat_messages,
    digest,
    seed_of,
    utterance_of,
)
from workers.inference.language_models.client import Message


def test_the_instructions_come_first_with_the_persona_in_its_place_and_the_system_speaks_as_assistant() -> (
    None
):
    told = chat_messages(
        "You are: {persona} Go.", ["I row.", " I sing. "], [("A", "Hi"), ("B", "Hey"), ("A", "So?")]
    )
    assert told == [
        Message("system", "You are: I row. I sing. Go."),
        Message("user", "Hi"),
        Message("assistant", "Hey"),
        Message("user", "So?"),
    ]


def test_braces_mean_nothing_but_the_persona_s_place() -> None:
    told = chat_messages("{0} {name!r} %s {persona}", ["{persona.__class__}"], [])
    assert told == [Message("system", "{0} {name!r} %s {persona.__class__}")]


def test_without_instructions_only_the_conversation_is_sent() -> None:
    assert chat_messages("  ", ["I row."], [("A", "Hi")]) == [Message("user", "Hi")]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("  Fine.  ", "Fine."),
        ("B: Fine.", "Fine."),
        ("Assistant: Fine.", "Fine."),
        ("**Speaker B:** Fine.", "Fine."),
        ("Fine.\nA: And you?\nB: Fine.", "Fine."),
        ("Fine.\nUser: And you?", "Fine."),
        ("Fine.\n**Human**: And you?", "Fine."),
        ("First line.\r\nSecond line.", "First line.\nSecond line."),
        ("I met a: b ratio. Plan B: run.", "I met a: b ratio. Plan B: run."),
        ("Fi\0ne.", "Fine."),
        ("Half \ud83d pair", "Half \N{REPLACEMENT CHARACTER} pair"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_the_utterance_ends_where_somebody_else_begins_to_speak(written: str, said: str) -> None:
    assert utterance_of(written, 100) == said


@pytest.mark.parametrize("written", ["", " \n ", "B:", "\0", "B: \nA: And you?"])
def test_an_answer_without_an_utterance_is_refused(written: str) -> None:
    with pytest.raises(EmptyAnswer):
        utterance_of(written, 100)


@pytest.mark.parametrize(
    ("longest", "said"),
    [(13, "one two three"), (12, "one two"), (8, "one two"), (7, "one two"), (2, "on")],
)
def test_a_text_that_is_too_long_ends_at_a_whole_word(longest: int, said: str) -> None:
    assert utterance_of("one two three", longest) == said


def test_a_prompt_s_digest_tells_prompts_apart() -> None:
    one = [Message("user", "a"), Message("assistant", "b")]
    assert digest(one) == digest(list(one))
    assert (
        len(
            {
                digest(one),
                digest(one[:1]),
                digest([Message("user", "ab")]),
                digest([*reversed(one)]),
            }
        )
        == 4
    )


def test_every_attempt_has_a_seed_of_its_own_and_always_the_same() -> None:
    assert seed_of(7, "x", 1, 1) == seed_of(7, "x", 1, 1)
    seeds = {seed_of(7, "x", number, attempt) for number in range(20) for attempt in range(3)}
    assert len(seeds) == 60
    assert all(0 <= seed < 2**31 for seed in seeds)
