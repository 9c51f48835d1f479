"""A prompt becomes responses, over real HTTP: what is asked, what it may use, what is stored of
it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from annotations.models import Response, Turn
from leaderboard.challenges import generation
from leaderboard.challenges.prompts.spec import digest, read_prompt
from tests.challenges.prompted import hand_in, prompt_endpoint, prompt_round, said, told
from tests.challenges.sets import computed, small_version, taken_in
from tests.stored_uploads import stored_path

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker_and_no_patience(monkeypatch: pytest.MonkeyPatch, notified: list[int]) -> None:
    monkeypatch.setattr(generation, "RETRIES", 1)


def prompts_asked(stub: Any) -> list[str]:
    return [asked["messages"][-1]["content"] for asked in stub.asked]


# --- what is asked --------------------------------------------------------------------------------


def test_every_turn_is_asked_with_the_gold_history_and_its_answer_is_the_response() -> None:
    with prompt_endpoint() as stub:
        round = prompt_round(stub, small_version(dialogues=2, turns=2))
        submission = taken_in(hand_in(round))
    assert submission.state == "scoring"
    golden = {
        "\n".join(f"{speaker}: {text}" for speaker, text in turn.context) + "\nB:"
        for turn in Turn.objects.filter(dialogue__version=round.version)
    }
    assert set(prompts_asked(stub)) == golden
    assert len(stub.asked) == 4
    assert {asked["messages"][0]["content"] for asked in stub.asked} == {
        "You are: I have 2 bicycles.\nI live by a lake.",
        "You are: I have 3 bicycles.\nI live by a lake.",
    }
    responses = Response.objects.filter(system=submission.system).select_related("turn")
    assert {response.text for response in responses} == {
        f"You said {response.turn.context[-1][1]}" for response in responses
    }
    assert submission.system.withheld


def test_the_settings_and_a_seed_of_its_own_go_with_every_call() -> None:
    with prompt_endpoint() as stub:
        submission = hand_in(
            prompt_round(stub, small_version(dialogues=2, turns=2)),
            settings={
                "temperature": 0.25,
                "top_p": 0.5,
                "max_tokens": 33,
                "stop": ["\nA:"],
                "seed": 3,
            },
        )
        taken_in(submission)
    for asked in stub.asked:
        assert (asked["model"], asked["temperature"], asked["top_p"]) == ("stub-model", 0.25, 0.5)
        assert (asked["max_tokens"], asked["stop"]) == (33, ["\nA:"])
    assert len({asked["seed"] for asked in stub.asked}) == 4


def test_a_second_call_knows_the_first_answer() -> None:
    with prompt_endpoint(lambda asked: f"answer {len(asked['messages'])}") as stub:
        round = prompt_round(stub, small_version(dialogues=1, turns=1))
        submission = taken_in(
            hand_in(round, second={"user": "Better than {first_answer}, {persona}?"})
        )
    assert prompts_asked(stub)[1] == "Better than answer 2, I have 2 bicycles.\nI live by a lake.?"
    assert said(submission) == ["answer 1"]
    # 20 + 10, 5 + 5
    assert (submission.calls, submission.input_tokens, submission.output_tokens) == (2, 30, 10)


def test_it_becomes_a_scored_submission() -> None:
    with prompt_endpoint() as stub:
        submission = computed(taken_in(hand_in(prompt_round(stub))))
    assert submission.state == "scored"
    assert submission.generating_at is not None


def test_the_system_names_what_wrote_it() -> None:
    with prompt_endpoint() as stub:
        stub.calls_itself = "stub-2026-11"
        submission = taken_in(hand_in(prompt_round(stub), settings={"seed": 4}))
    prompt = digest(read_prompt(stored_path(submission).read_bytes()))
    assert submission.system.description == (
        "model:stub-model|reported:stub-2026-11|temperature:0.7|top_p:1|max_tokens:120|stop:none|"
        f"seed:4|calls:1|prompt:{prompt}|seeds:sha256(prompt,dialogue,turn,call)"
    )
    assert submission.system.description in told(submission)


def test_a_prompt_that_is_none_is_invalid_and_nothing_is_asked() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub), user="{name}", extra=1))
    assert submission.state == "invalid"
    assert [(one["where"], one["field"]) for one in submission.problems] == [
        ("$", "extra"),
        ("$", "user"),
    ]
    assert stub.asked == []


def test_a_second_call_in_a_round_of_one_call_is_invalid() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(
            hand_in(prompt_round(stub, calls_per_utterance=1), second={"user": "x"})
        )
    assert submission.state == "invalid"
    assert submission.problems[0]["field"] == "second"


def test_what_the_model_says_is_stored_as_text_without_what_no_database_takes() -> None:
    with prompt_endpoint(lambda asked: "B: <b>x</b>\0\ud800\nA: no") as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
    assert said(submission) == ["<b>x</b>\N{REPLACEMENT CHARACTER}"]


def test_a_model_that_says_nothing_has_said_nothing() -> None:
    with prompt_endpoint(lambda asked: " ") as stub:
        submission = computed(taken_in(hand_in(prompt_round(stub, small_version(1, 2)))))
    assert said(submission) == ["", ""]
    assert submission.state == "scored"


# --- what it may use ------------------------------------------------------------------------------


def test_a_dialogue_over_its_input_limit_ends_there_with_a_line_in_the_log() -> None:
    def usage(asked: dict[str, Any]) -> dict[str, int]:
        return {"prompt_tokens": 4000, "completion_tokens": 5}

    with prompt_endpoint(usage=usage) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=5))))
    # 4,000 + 4,000 = 8,000 stay below 10,000; the third call makes 12,000
    assert [bool(text) for text in said(submission)] == [True, True, False, False, False]
    assert len(stub.asked) == 3
    assert (
        "Dialogue file-0 ended at turn 2: 12,000 of 10,000 input tokens. Its response and those "
        "of the 2 later turns are empty."
    ) in told(submission)
    assert (submission.calls, submission.input_tokens, submission.output_tokens) == (3, 12_000, 15)
    assert Response.objects.filter(system=submission.system).count() == 5


def test_a_prompt_that_cannot_fit_is_not_sent_at_all() -> None:
    """2,000 histories of 20 characters or more each are 40,000 and more; 1,000 tokens hold 8,000 at
    most."""
    with prompt_endpoint() as stub:
        round = prompt_round(stub, small_version(1, 2), input_tokens_per_dialogue=1_000)
        submission = taken_in(hand_in(round, system="", user="{history}" * 2_000))
    assert stub.asked == []
    assert said(submission) == ["", ""]
    assert (
        "Dialogue file-0 ended at turn 0: the prompt is longer than the 1,000 of 1,000 input "
        "tokens that are left."
    ) in told(submission)


def test_one_dialogue_s_end_ends_no_other() -> None:
    def usage(asked: dict[str, Any]) -> dict[str, int]:
        of_the_first = "2 bicycles" in asked["messages"][0]["content"]
        return {"prompt_tokens": 20_000 if of_the_first else 10, "completion_tokens": 5}

    with prompt_endpoint(usage=usage) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=2, turns=2))))
    assert [bool(text) for text in said(submission)] == [False, False, True, True]


def test_an_answer_is_asked_for_no_longer_than_what_the_dialogue_has_left() -> None:
    def usage(asked: dict[str, Any]) -> dict[str, int]:
        return {"prompt_tokens": 10, "completion_tokens": asked["max_tokens"]}

    with prompt_endpoint(usage=usage) as stub:
        round = prompt_round(
            stub, small_version(dialogues=1, turns=5), output_tokens_per_dialogue=100
        )
        submission = taken_in(hand_in(round, settings={"max_tokens": 40}))
    # 100 − 80 = 20, then nothing is left
    assert [asked["max_tokens"] for asked in stub.asked] == [40, 40, 20]
    assert [bool(text) for text in said(submission)] == [True, True, True, False, False]
    assert (
        "Dialogue file-0 ended at turn 3: 100 of 100 output tokens. Its response and that of the "
        "last turn are empty." in (told(submission))
    )


def test_an_endpoint_that_says_more_than_it_was_asked_for_ends_the_dialogue() -> None:
    with prompt_endpoint(
        usage=lambda asked: {"prompt_tokens": 1, "completion_tokens": 101}
    ) as stub:
        round = prompt_round(
            stub, small_version(dialogues=1, turns=1), output_tokens_per_dialogue=100
        )
        submission = taken_in(hand_in(round))
    assert said(submission) == [""]
    assert "ended at turn 0: 101 of 100 output tokens. Its response is empty." in told(submission)


def test_a_first_call_that_takes_all_leaves_no_second() -> None:
    with prompt_endpoint(
        usage=lambda asked: {"prompt_tokens": 10_000, "completion_tokens": 5}
    ) as stub:
        submission = taken_in(
            hand_in(prompt_round(stub, small_version(1, 1)), second={"user": "{first_answer}"})
        )
    assert len(stub.asked) == 1
    assert said(submission) == [""]
    assert submission.calls == 1


@pytest.mark.parametrize(
    "usage",
    [None, lambda asked: None, lambda asked: {"prompt_tokens": "9", "completion_tokens": -1}],
)
def test_an_endpoint_that_reports_no_usage_fails_the_submission_with_that_reason(
    usage: Any,
) -> None:
    with prompt_endpoint(usage=usage) as stub:
        submission = taken_in(hand_in(prompt_round(stub)))
    assert submission.state == "failed"
    assert submission.error.startswith("the endpoint does not report how many tokens it used")
    assert submission.system is None


def test_the_cost_is_the_tokens_times_the_round_s_prices() -> None:
    with prompt_endpoint() as stub:
        round = prompt_round(
            stub, small_version(1, 2), input_price=Decimal(100), output_price=Decimal(1000)
        )
        submission = taken_in(hand_in(round))
    # two calls: (2 × 20 × 100 + 2 × 5 × 1,000) / 1,000,000 = (4,000 + 10,000) / 1,000,000
    assert submission.cost == Decimal("0.014")
    assert "Answered: 2 turns in 2 calls with 40 input and 10 output tokens, 0.014 USD." in told(
        submission
    )


def test_without_prices_there_is_no_cost() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
    assert submission.cost is None
    assert "with 20 input and 5 output tokens. model:" in told(submission)
