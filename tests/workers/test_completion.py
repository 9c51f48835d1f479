"""What an endpoint's reply is worth: text, counts and a name, each only where it is one."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.workers.endpoint import stub_endpoint
from workers.inference.language_models import client
from workers.inference.language_models.client import (
    Completion,
    Endpoint,
    LanguageModel,
    Message,
    NoAnswerError,
)

REQUESTED = [Message("user", "Hello.")]


def completed(usage: Any = None, answer: Any = "Fine.", calls_itself: Any = "stub") -> Completion:
    with stub_endpoint(lambda asked: answer) as stub:
        stub.usage = None if usage is None else (lambda asked: usage)
        stub.calls_itself = calls_itself
        model = LanguageModel(Endpoint(stub.base_url, "m", "none"), max_retries=0)
        try:
            return model.complete(REQUESTED, 20)
        finally:
            model.close()


def test_text_counts_and_name_are_told() -> None:
    told = completed({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11})
    assert told == Completion("Fine.", 9, 2, "stub")


@pytest.mark.parametrize("count", [None, "nine", -1, 1.5, 10**12])
def test_a_count_that_no_call_can_have_is_none(count: Any) -> None:
    told = completed({"prompt_tokens": count, "completion_tokens": 2, "total_tokens": 2})
    assert (told.input_tokens, told.output_tokens) == (None, 2)


@pytest.mark.parametrize("name", [None, 7, ["stub"]])
def test_a_name_that_is_no_text_is_none(name: Any) -> None:
    assert completed(calls_itself=name).reported_model == ""


def test_what_is_no_completion_has_neither_text_nor_counts() -> None:
    assert completed(answer=b'"log in first"') == Completion("", None, None, "")


def test_an_empty_completion_is_no_error_but_an_empty_answer_is() -> None:
    assert completed(answer=" ").text == ""
    with stub_endpoint(lambda asked: " ") as stub, pytest.raises(NoAnswerError):
        LanguageModel(Endpoint(stub.base_url, "m", "none"), max_retries=0).answer(REQUESTED, 20)


def test_a_reply_that_is_larger_than_any_completion_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "LARGEST_REPLY", 2**20)
    with pytest.raises(openai.APIConnectionError) as failure:
        completed(answer="word " * 2**18)
    assert "larger than 1 MB" in str(failure.value.__cause__)
