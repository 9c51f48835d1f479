"""What a prompt may be. Everything that is wrong is told at once, with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.formats.importers.problems import ImportFailed, Problem
from leaderboard.challenges.prompts.spec import (
    LARGEST_FILE,
    LONGEST_TEXT,
    Prompt,
    Settings,
    Template,
    canonical,
    digest,
    read_prompt,
)

GOOD: dict[str, Any] = {"system": "You are B.", "user": "{history}\nB:"}


def written(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def problems_of(data: bytes, most_calls: int = 2) -> tuple[list[Problem], bool]:
    """What is wrong with ``data``, and whether there is more than that."""
    try:
        read_prompt(data, most_calls)
    except ImportFailed as failure:
        return list(failure.problems), failure.stopped
    return [], False


def told(data: bytes, most_calls: int = 2) -> list[str]:
    problems, _ = problems_of(data, most_calls)
    return [str(problem).removeprefix("prompt.json: ") for problem in problems]


def test_a_user_message_is_enough() -> None:
    assert read_prompt(b'{"user": "{history}"}') == Prompt(
        Template("", "{history}"), None, Settings()
    )


def test_every_part_is_read() -> None:
    prompt = read_prompt(
        written(
            second={"system": "Be kind.", "user": "Better: {first_answer}"},
            settings={
                "temperature": 0,
                "top_p": 0.5,
                "max_tokens": 60,
                "stop": ["\n", "A:"],
                "seed": 7,
            },
        )
    )
    assert prompt.second == Template("Be kind.", "Better: {first_answer}")
    assert prompt.settings == Settings(0, 0.5, 60, ("\n", "A:"), 7)
    assert prompt.calls == 2


def test_what_is_left_out_and_what_is_null_are_the_defaults() -> None:
    plain = read_prompt(written())
    assert read_prompt(written(second=None, settings=None)) == plain
    assert read_prompt(written(settings={"stop": None})) == plain


def test_the_same_prompt_has_the_same_bytes_however_it_was_written() -> None:
    one = read_prompt(b'{"user":"{history}\\u00e9","system":"x"}')
    other = read_prompt(
        '{ "system": "x",\r\n "user": "{history}é", "settings": {"temperature": 0.70}}'.encode()
    )
    assert canonical(one) == canonical(other)
    assert digest(one) == digest(other)
    assert read_prompt(canonical(one)) == one


def test_a_changed_setting_is_another_prompt() -> None:
    assert digest(read_prompt(written(settings={"seed": 1}))) != digest(read_prompt(written()))


def test_line_ends_of_other_systems_make_no_other_prompt() -> None:
    assert read_prompt(written(user="a\r\n{history}")) == read_prompt(written(user="a\n{history}"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"user": 7}, "$.user: must be a string, not a number"),
        ({"user": "  "}, "$.user: is empty"),
        ({"system": None}, "$.system: must be a string, not null"),
        (
            {"user": "x" * (LONGEST_TEXT + 1)},
            "$.user: has 20,001 characters; at most 20,000 are allowed",
        ),
        ({"user": "a\0b"}, "$.user: holds a NUL character (character 2)"),
        ({"user": "a\ud800"}, "$.user: holds half of a surrogate pair (character 2)"),
        ({"uzer": "x"}, "$.uzer: is not a field of this format"),
        ({"second": "x"}, "$.second: must be an object, not a string"),
        ({"second": {"system": "x"}}, "$.second.user: is missing"),
        ({"second": {"user": "x", "model": "y"}}, "$.second.model: is not a field of this format"),
        ({"settings": []}, "$.settings: must be an object, not a list"),
        ({"settings": {"logit_bias": {}}}, "$.settings.logit_bias: is not a field of this format"),
        ({"settings": {"temperature": 2.1}}, "$.settings.temperature: must lie between 0 and 2"),
        (
            {"settings": {"temperature": "hot"}},
            "$.settings.temperature: must be a number, not a string",
        ),
        (
            {"settings": {"temperature": True}},
            "$.settings.temperature: must be a number, not true or false",
        ),
        ({"settings": {"top_p": 0}}, "$.settings.top_p: must be above 0 and at most 1"),
        ({"settings": {"max_tokens": 0}}, "$.settings.max_tokens: must lie between 1 and 4,000"),
        (
            {"settings": {"max_tokens": 1.5}},
            "$.settings.max_tokens: must be a whole number, not a fraction",
        ),
        ({"settings": {"seed": -1}}, "$.settings.seed: must lie between 0 and 2,147,483,647"),
        ({"settings": {"seed": 2**31}}, "$.settings.seed: must lie between 0 and 2,147,483,647"),
        ({"settings": {"stop": "x"}}, "$.settings.stop: must be a list, not a string"),
        (
            {"settings": {"stop": ["a"] * 5}},
            "$.settings.stop: has 5 entries; at most 4 are allowed",
        ),
        ({"settings": {"stop": ["a", ""]}}, "$.settings.stop[1]: is empty"),
        ({"settings": {"stop": [3]}}, "$.settings.stop[0]: must be a string, not a number"),
    ],
)
def test_a_fault_is_told_with_its_place(changes: dict[str, Any], problem: str) -> None:
    assert told(written(**changes)) == [problem]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "a\nbc {name}",
            (
                "there is no placeholder {name}; there are {persona}, {partner_persona}, "
                "{history} (line 2 of the text, column 4)"
            ),
        ),
        ("{history.__class__}", "a single { opens or closes no placeholder"),
        ("{history!r}", "a single { opens or closes no placeholder"),
        ("{0}", "there is no placeholder {0}"),
        ("{}", "a single { opens or closes no placeholder"),
        (
            "x }",
            (
                "a single } opens or closes no placeholder; write }} for the brace itself (line 1 "
                "of the text, column 3)"
            ),
        ),
        (
            "{first_answer}",
            "{first_answer} is known to the second call only (line 1 of the text, column 1)",
        ),
    ],
)
def test_only_the_known_placeholders_and_doubled_braces_are_taken(text: str, fault: str) -> None:
    assert told(written(user=text))[0].startswith(f"$.user: {fault}")


def test_doubled_braces_are_braces() -> None:
    assert told(written(user='{{"answer": "{persona}"}} {{{{')) == []


def test_the_second_call_knows_the_first_answer() -> None:
    assert told(written(second={"user": "{first_answer} {persona} {history}"})) == []


def test_a_second_call_where_the_round_allows_one_is_a_problem() -> None:
    (problem,) = told(written(second={"user": "x"}), most_calls=1)
    assert problem == "$.second: this round allows one call an utterance: leave the second call out"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        ('{"user": "é"}'.encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b'{"user": "\xff"}', "is not UTF-8 (byte 11)"),
        (b'{"user": "a\0"}', "holds a NUL byte (byte 12)"),
        (b'{"user": "a"', "is not JSON: Expecting ',' delimiter at line 1 column 13"),
        (b'{"user": "a"} {}', "is not JSON: Extra data at line 1 column 15"),
        (b'{"user": "a", "user": "b"}', 'the key "user" occurs twice in one object'),
        (b'{"user": "a", "settings": {"seed": NaN}}', "NaN is not a number in JSON"),
        (
            b'{"user": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "is nested more than 20 levels deep",
        ),
        (
            b'{"user": "a", "settings": {"seed": ' + b"1" * 5000 + b"}}",
            "holds a number with too many digits",
        ),
        (b"x" * (LARGEST_FILE + 1), "has 1,000,001 bytes; a prompt has at most 1,000,000"),
        (b"[]", "$: must be an object, not a list"),
    ],
)
def test_what_is_no_prompt_at_all_is_told_in_one_line(data: bytes, problem: str) -> None:
    assert told(data) == [problem]


def test_brackets_in_a_text_are_no_nesting() -> None:
    assert told(written(user="[" * 100 + '\\"')) == []


def test_a_thousand_faults_are_a_hundred_and_a_word_that_there_are_more() -> None:
    problems, more = problems_of(written(**{f"key {number}": 1 for number in range(1000)}))
    assert (len(problems), more) == (100, True)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=30),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["system", "user", "second", "settings", "stop", "seed", "top_p", "x"]
                ),
                inner,
                max_size=6,
            )
        ),
    )
)
def test_whatever_comes_it_is_a_prompt_or_it_is_told_why_not(thing: Any) -> None:
    data = thing if isinstance(thing, bytes) else json.dumps(thing).encode()
    problems, _ = problems_of(data)
    assert len(problems) <= 100
    if not problems:
        prompt = read_prompt(data)
        assert read_prompt(canonical(prompt)) == prompt
