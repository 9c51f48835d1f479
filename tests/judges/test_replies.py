"""Chat completions as endpoints write them, read without trust."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.judges.calls import call_for
from workers.inference.language_models.asynchronous import (
    LONGEST_TEXT,
    Reply,
    UnreadableReply,
    reply_of,
)
from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.refusals import REMOVED
from workers.judges.core.calls import TokenChance, answer_of
from workers.judges.core.dispatcher import body_of

ENDPOINT = Endpoint("https://api.example.org/v1", "m", "sk-secret-123")


def completion(content: Any = "4", **more: Any) -> bytes:
    choice = {
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
        **more.pop("choice", {}),
    }
    return json.dumps({"choices": [choice], "model": "m-1", **more}).encode()


def test_what_a_judge_reads_is_taken() -> None:
    reply = reply_of(
        completion("- Humanness: 4", usage={"prompt_tokens": 7, "completion_tokens": 3})
    )
    assert (reply.text, reply.finish_reason, reply.reported_model) == (
        "- Humanness: 4",
        "stop",
        "m-1",
    )
    assert (reply.input_tokens, reply.output_tokens, reply.chances) == (7, 3, None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"7",
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "text"}]}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b'{"error": {"message": "busy"}}',
        b"[" * 100_000,
        completion()[:-5],
    ],
)
def test_what_is_no_chat_completion_is_no_answer(content: bytes) -> None:
    with pytest.raises(UnreadableReply):
        reply_of(content)


@pytest.mark.parametrize("content", ["", "   ", None])
def test_an_answer_without_text_is_an_answer(content: str | None) -> None:
    assert reply_of(completion(content)).text == (content or "")


def test_a_model_that_declines_says_so_in_its_answer() -> None:
    reply = reply_of(
        json.dumps({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}).encode()
    )
    assert reply.text == "I cannot."


def test_what_no_database_keeps_is_cleaned() -> None:
    reply = reply_of(
        b'{"choices": [{"message": {"content": "a\\u0000b\\ud800c"}}], "model": "m\\u0000"}'
    )
    assert (reply.text, reply.reported_model) == ("ab?c", "m")


def test_an_endless_answer_is_cut() -> None:
    assert len(reply_of(completion("x" * (LONGEST_TEXT + 1))).text) == LONGEST_TEXT


@pytest.mark.parametrize(
    "usage", [None, "many", {"prompt_tokens": -1}, {"prompt_tokens": "7"}, {"prompt_tokens": 1e9}]
)
def test_counts_that_cannot_be_are_none(usage: object) -> None:
    assert reply_of(completion(usage=usage)).input_tokens is None


def test_log_probabilities_are_trimmed_to_tokens_and_numbers() -> None:
    place = {
        "token": "4",
        "logprob": -0.1,
        "bytes": [52],
        "top_logprobs": [
            {"token": "4", "logprob": -0.1, "bytes": [52]},
            {"token": "5", "logprob": -2.5},
        ],
    }
    reply = reply_of(completion(choice={"logprobs": {"content": [place]}}))
    assert answer_of(reply, ENDPOINT, 0.5, 1).chances == (
        TokenChance("4", (("4", -0.1), ("5", -2.5))),
    )


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": ["4"]},
        {"content": [{"token": "4"}]},
        {"content": [{"token": "4", "top_logprobs": [{"token": 4, "logprob": -1.0}]}]},
        {"tokens": ["4"], "token_logprobs": [-0.1]},
    ],
)
def test_log_probabilities_of_another_form_are_none(logprobs: object) -> None:
    assert reply_of(completion(choice={"logprobs": logprobs})).chances is None


def test_what_is_no_logarithm_of_a_probability_is_left_out() -> None:
    top = [{"token": str(value), "logprob": value} for value in (-1.0, 3.0, None, "x", -9999)]
    found = reply_of(
        completion(choice={"logprobs": {"content": [{"token": "1", "top_logprobs": top}]}})
    ).chances
    assert found == (("1", (("-1.0", -1.0), ("-9999", -9999.0))),)


def test_an_endpoint_that_says_the_key_does_not_get_it_stored() -> None:
    answer = answer_of(
        reply_of(completion("your key is sk-secret-123", model="sk-secret-123")), ENDPOINT, 0.1, 1
    )
    assert (answer.text, answer.reported_model) == ("your key is [key removed]", "[key removed]")


def test_each_call_is_sent_a_seed_of_its_own() -> None:
    seeds = {
        json.loads(body_of(call_for("a", sample=sample, ask=ask)))["seed"]
        for sample in range(3)
        for ask in (0, 1)
    }
    assert len(seeds) == 6
    assert json.loads(body_of(call_for("a", sample=1)))["seed"] == call_for("a", sample=1).seed


def test_a_request_without_a_seed_is_sent_none() -> None:
    call = call_for("a")
    without = type(call.request)(call.request.model, call.request.messages, (("max_tokens", 8),))
    assert "seed" not in json.loads(body_of(type(call)(without)))


def test_a_lone_surrogate_can_be_asked() -> None:
    assert json.loads(body_of(call_for("a\ud800b")))["messages"][0]["content"] == "rate a?b"


def test_a_key_that_comes_back_in_pieces_is_in_no_token_either() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "judge-a", "sk-very-secret")
    places = tuple((token, ((token, -0.1),)) for token in ("sk-very", "-secret"))
    answer = answer_of(
        Reply("sk-very-secret", "sk-very-secret", "judge-a", 1, 1, places), endpoint, 0.1, 1
    )
    assert answer.text == REMOVED
    assert "sk-very" not in f"{answer.chances} {answer.finish_reason}"
