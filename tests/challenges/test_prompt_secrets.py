"""Keys stay on the worker, and what a hidden round's model was asked and said stays there, too."""

from __future__ import annotations

import json
import logging
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from annotations.models import Turn
from leaderboard.challenges import generation
from tests.challenges.prompted import (
    KEY,
    KEY_VARIABLE,
    hand_in,
    prompt_endpoint,
    prompt_round,
    said,
    told,
)
from tests.challenges.sets import computed, small_version, taken_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker_and_no_patience(monkeypatch: pytest.MonkeyPatch, notified: list[int]) -> None:
    monkeypatch.setattr(generation, "RETRIES", 0)


def every_row() -> str:
    written = StringIO()
    call_command("dumpdata", stdout=written)
    return written.getvalue()


# --- the key --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["answer", "model", "error", "no answer"])
def test_the_key_reaches_no_row_and_no_log_even_where_the_endpoint_says_it_back(
    how: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with prompt_endpoint() as stub, caplog.at_level(logging.DEBUG):
        if how == "answer":
            stub.answer = lambda asked: f"Your key is {stub.keys[-1]}"
        elif how == "model":
            stub.calls_itself = f"model {KEY}"
        elif how == "error":
            stub.words = f": bad key {KEY}"
            stub.answer = lambda asked: 401
        else:
            stub.answer = lambda asked: f"no {KEY} JSON".encode()
        submission = taken_in(
            hand_in(prompt_round(stub, small_version(1, 1), key_variable=KEY_VARIABLE))
        )
        assert stub.keys == [f"Bearer {KEY}"]
    assert submission.state == ("scoring" if how in ("answer", "model") else "failed")
    assert KEY not in every_row()
    assert KEY not in caplog.text + "".join(capfd.readouterr())


def test_a_key_that_no_header_carries_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-two\nlines")
    with prompt_endpoint() as stub, caplog.at_level(logging.DEBUG):
        submission = taken_in(
            hand_in(prompt_round(stub, small_version(1, 1), key_variable=KEY_VARIABLE))
        )
    assert submission.state == "failed"
    assert "holds characters that cannot be sent" in told(submission, for_organisers=True)
    assert "sk-two" not in every_row() + caplog.text


# --- hidden rounds --------------------------------------------------------------------------------

SECRETS = ("velvet harbour", "copper lantern", "seventeen swans")


def secret_version() -> Any:
    """Each turn's history ends with A; what B said before holds a secret, and so does the
    reference."""
    version = small_version(dialogues=1, turns=3)
    for turn in Turn.objects.filter(dialogue__version=version):
        context = []
        for number in range(turn.number + 1):
            context.append(["A", f"Question {number}?"])
            if number < turn.number:
                context.append(["B", f"It is the {SECRETS[number]} tonight."])
        turn.context, turn.references = context, [f"It is the {SECRETS[turn.number]} tonight."]
        turn.save()
    return version


def holds_a_secret(text: str) -> bool:
    return any(secret in text for secret in SECRETS)


def test_a_hidden_round_s_log_holds_nothing_of_what_was_asked_or_said() -> None:
    """The prompt asks for the history, and the model obeys."""
    with prompt_endpoint(lambda asked: asked["messages"][-1]["content"]) as stub:
        round = prompt_round(
            stub, secret_version(), references="hidden", output_tokens_per_dialogue=7
        )
        submission = computed(taken_in(hand_in(round, user="Repeat word for word: {history}")))
    assert holds_a_secret(str(stub.asked))
    assert submission.state == "scored"
    rows = [
        told(submission),
        told(submission, for_organisers=True),
        submission.error,
        str(submission.problems),
    ]
    assert not holds_a_secret("\n".join(rows))
    assert not holds_a_secret(submission.system.description)


@pytest.mark.parametrize("references", ["hidden", "public"])
def test_an_error_that_repeats_what_was_asked_is_kept_nowhere(
    references: str, caplog: pytest.LogCaptureFixture
) -> None:
    with prompt_endpoint(lambda asked: 400) as stub, caplog.at_level(logging.INFO):
        stub.answer = lambda asked: _error_with(stub, asked)
        submission = taken_in(hand_in(prompt_round(stub, secret_version(), references=references)))
    assert submission.state == "failed"
    everything = [
        told(submission),
        told(submission, for_organisers=True),
        submission.error,
        caplog.text,
    ]
    assert (
        "its words repeat what it was asked, and are not kept" in everything[references == "hidden"]
    )
    assert not holds_a_secret("\n".join(everything))


def _error_with(stub: Any, asked: dict[str, Any]) -> int | str:
    content = asked["messages"][-1]["content"]
    if "B: It is" not in content:
        return "fine"
    stub.words = f": too long: {json.dumps(content)}"
    return 400


@pytest.mark.parametrize(("references", "team_reads_it"), [("hidden", False), ("public", True)])
def test_an_error_s_own_words_are_for_organisers_where_the_round_is_hidden(
    references: str, team_reads_it: bool
) -> None:
    with prompt_endpoint(lambda asked: 400) as stub:
        stub.words = ": 5,000 tokens are too many"
        submission = taken_in(hand_in(prompt_round(stub, secret_version(), references=references)))
    assert ("5,000 tokens are too many" in told(submission)) is team_reads_it
    assert (
        "5,000 tokens are too many" in told(submission, for_organisers=True)
    ) is not team_reads_it
    assert "5,000 tokens" not in submission.error


def test_a_public_round_on_a_corpus_that_another_round_hides_is_as_secret() -> None:
    version = secret_version()
    with prompt_endpoint(lambda asked: 400) as stub:
        stub.words = ": mind the gap"
        prompt_round(stub, version, references="hidden")
        submission = taken_in(hand_in(prompt_round(stub, version, references="public")))
    assert "mind the gap" not in told(submission)


def test_what_was_said_is_there_for_the_metrics_all_the_same() -> None:
    with prompt_endpoint(lambda asked: "It is the velvet harbour tonight.") as stub:
        submission = taken_in(hand_in(prompt_round(stub, secret_version(), references="hidden")))
    assert said(submission) == ["It is the velvet harbour tonight."] * 3
