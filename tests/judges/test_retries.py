"""Which failures are asked again, how late, and in which words they are told."""

from __future__ import annotations

import email.utils
from typing import Any

import httpx2
import openai
import pytest

from common.outgoing import AddressNotAllowed
from workers.inference.language_models.asynchronous import UnreadableReply
from workers.inference.language_models.client import Endpoint
from workers.judges.core.retries import (
    MAX_RETRY_AFTER,
    Again,
    GiveUp,
    Refused,
    may_be_charged,
    parse_retry_after,
    pause_before,
    verdict,
)

KEY = "sk-secret-123"
ENDPOINT = Endpoint("https://api.example.org/v1", "m", KEY)
REQUEST = httpx2.Request("POST", "https://api.example.org/v1/chat/completions")


def status(
    number: int, message: str = "no", code: str = "", **headers: str
) -> openai.APIStatusError:
    response = httpx2.Response(
        number,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        request=REQUEST,
    )
    body: Any = {"message": message, "code": code, "type": ""}
    return openai.APIStatusError(message, response=response, body=body)


@pytest.mark.parametrize(
    "problem",
    [
        status(429),
        status(500),
        status(502),
        status(503),
        status(599),
        TimeoutError(),
        openai.APITimeoutError(request=REQUEST),
        openai.APIConnectionError(request=REQUEST),
        UnreadableReply("its reply is no JSON, or was cut off"),
    ],
)
def test_what_may_pass_is_asked_again(problem: Exception) -> None:
    assert isinstance(verdict(problem, ENDPOINT, "what was asked"), Again)


def caused_by(cause: Exception) -> openai.APIConnectionError:
    problem = openai.APIConnectionError(request=REQUEST)
    problem.__cause__ = cause
    return problem


@pytest.mark.parametrize(
    "problem",
    [
        TimeoutError(),
        openai.APITimeoutError(request=REQUEST),
        caused_by(httpx2.ReadError("cut off")),
        caused_by(httpx2.RemoteProtocolError("closed without a word")),
        caused_by(httpx2.ReadTimeout("late")),
        UnreadableReply("its reply is no JSON, or was cut off"),
        status(408),
        status(500),
        status(502),
        status(504),
        status(524),
        ValueError("whatever a reply makes the client stumble over"),
    ],
)
def test_an_answer_that_may_have_been_given_is_charged(problem: Exception) -> None:
    assert may_be_charged(problem)


@pytest.mark.parametrize(
    "problem",
    [
        caused_by(httpx2.ConnectError("refused")),
        caused_by(httpx2.ConnectTimeout("nobody there")),
        AddressNotAllowed("link-local"),
        *(status(number) for number in (307, 400, 401, 403, 404, 413, 422, 429, 503, 529)),
    ],
)
def test_what_never_reached_the_endpoint_or_was_refused_is_not(problem: Exception) -> None:
    assert not may_be_charged(problem)


@pytest.mark.parametrize(
    "number", [301, 307, 400, 401, 402, 403, 404, 405, 408, 409, 410, 415, 418, 422, 451]
)
def test_no_other_4xx_is_ever_sent_again(number: int) -> None:
    assert isinstance(verdict(status(number), ENDPOINT, "what was asked"), GiveUp)


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (
            status(400, "maximum context length is 2048 tokens"),
            "the prompt is longer than its model takes",
        ),
        (
            status(400, "no", code="context_length_exceeded"),
            "the prompt is longer than its model takes",
        ),
        (
            status(400, "the request exceeds the available context size"),
            "the prompt is longer than its model takes",
        ),
        (status(413, "whatever"), "the prompt is longer than its model takes"),
        (status(422, "content policy"), "the endpoint's content filter refuses the prompt"),
    ],
)
def test_too_long_and_filtered_are_that_calls_answer(problem: Exception, why: str) -> None:
    assert verdict(problem, ENDPOINT, "what was asked") == Refused(why)


def test_an_empty_account_is_not_waited_for() -> None:
    found = verdict(status(429, "You exceeded your quota", code="insufficient_quota"), ENDPOINT, "")
    assert isinstance(found, GiveUp)
    assert "no money left" in found.why


def test_a_429_slows_all_calls_and_a_500_only_its_own() -> None:
    slow, own = verdict(status(429), ENDPOINT, ""), verdict(status(500), ENDPOINT, "")
    assert isinstance(slow, Again)
    assert isinstance(own, Again)
    assert (slow.for_all, own.for_all) == (True, False)


def test_a_503_that_says_when_to_come_back_speaks_to_all() -> None:
    assert verdict(status(503, "x", retry_after="4"), ENDPOINT, "") == Again(
        "it answers with the error 503: x", 4.0, True
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": email.utils.formatdate(1_000_012, usegmt=True)}, 12.0),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
        ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
    ],
)
def test_what_an_endpoint_wishes_is_read_as_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_retry_after(headers, now=1_000_000.0) == seconds


def test_pauses_double_up_to_thirty_seconds_and_are_anywhere_below() -> None:
    """0.5 · 2ⁿ⁻¹, and 30 s from the seventh on, where it would be 32 s."""
    assert [pause_before(again, chance=1.0) for again in range(1, 9)] == [
        0.5,
        1,
        2,
        4,
        8,
        16,
        30,
        30,
    ]
    assert pause_before(5, chance=0.0) == 0.0
    assert pause_before(5, chance=0.25) == 2.0
    assert pause_before(10_000, chance=1.0) == 30.0


def test_a_wish_is_waited_for_and_a_little_more_so_that_not_all_come_together() -> None:
    assert pause_before(1, retry_after=3.0, chance=0.0) == 3.0
    assert pause_before(1, retry_after=3.0, chance=1.0) == 3.5
    assert pause_before(9, retry_after=3.0, chance=1.0) == 4.0
    assert pause_before(1, retry_after=86_400.0, chance=0.0) == MAX_RETRY_AFTER


@pytest.mark.parametrize("number", [400, 401, 404, 429, 500])
def test_the_key_stands_in_no_words(number: int) -> None:
    found = verdict(status(number, f"Incorrect API key provided: {KEY}"), ENDPOINT, "")
    assert KEY not in repr(found)
    assert "[key removed]" in found.why


def test_an_error_that_repeats_what_was_asked_is_not_passed_on() -> None:
    found = verdict(
        status(500, "cannot rate: My secret dialogue, all of it"),
        ENDPOINT,
        "My secret dialogue, all of it",
    )
    assert "secret" not in found.why


def test_an_error_of_the_client_itself_ends_the_asking() -> None:
    found = verdict(ValueError("what is this"), ENDPOINT, "")
    assert isinstance(found, GiveUp)
    assert "ValueError" in found.why
