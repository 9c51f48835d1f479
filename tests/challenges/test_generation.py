"""A prompt becomes responses, over real HTTP: what is asked, what it may use, what is kept, what is told."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from annotations.campaigns.actions.chat import say
from annotations.models import Response, Turn
from leaderboard.challenges import execution, generation
from leaderboard.challenges.actions import interventions, telling
from leaderboard.challenges.models import GeneratedResponse, Submission
from leaderboard.challenges.prompts.spec import digest, read_prompt
from leaderboard.challenges.uploads import stored_path
from tests.campaigns.sets import made_user
from tests.challenges.prompted import hand_in, last_line, prompt_endpoint, prompt_round, said, tokens, told
from tests.challenges.sets import computed, small_version, taken_in
from tests.services import free_port
from tests.workers.chats import made_chat

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker_and_no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "tell_workers", lambda task, rows: [pk for pk, _ in rows])
    monkeypatch.setattr(generation, "RETRIES", 1)


def prompts_asked(stub: Any) -> list[str]:
    return [asked["messages"][-1]["content"] for asked in stub.asked]


# --- what is asked ---------------------------------------------------------------------------------------------


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
            settings={"temperature": 0.25, "top_p": 0.5, "max_tokens": 33, "stop": ["\nA:"], "seed": 3},
        )
        taken_in(submission)
    for asked in stub.asked:
        assert (asked["model"], asked["temperature"], asked["top_p"]) == ("stub-model", 0.25, 0.5)
        assert (asked["max_tokens"], asked["stop"]) == (33, ["\nA:"])
    assert len({asked["seed"] for asked in stub.asked}) == 4


def test_a_second_call_knows_the_first_answer() -> None:
    with prompt_endpoint(lambda asked: f"answer {len(asked['messages'])}") as stub:
        round = prompt_round(stub, small_version(dialogues=1, turns=1))
        submission = taken_in(hand_in(round, second={"user": "Better than {first_answer}, {persona}?"}))
    assert prompts_asked(stub)[1] == "Better than answer 2, I have 2 bicycles.\nI live by a lake.?"
    assert said(submission) == ["answer 1"]
    assert (submission.calls, submission.input_tokens, submission.output_tokens) == (2, 30, 10)  # 20 + 10, 5 + 5


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
        "model:stub-model|reported:stub-2026-11|temperature:0.7|top_p:1|max_tokens:120|stop:none|seed:4|calls:1"
        f"|prompt:{prompt}|seeds:sha256(prompt,dialogue,turn,call)"
    )
    assert submission.system.description in told(submission)


def test_a_prompt_that_is_none_is_invalid_and_nothing_is_asked() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub), user="{name}", extra=1))
    assert submission.state == "invalid"
    assert [(one["where"], one["field"]) for one in submission.problems] == [("$", "extra"), ("$", "user")]
    assert stub.asked == []


def test_a_second_call_in_a_round_of_one_call_is_invalid() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, calls_per_utterance=1), second={"user": "x"}))
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


# --- what it may use -------------------------------------------------------------------------------------------


def test_a_dialogue_over_its_input_limit_ends_there_with_a_line_in_the_log() -> None:
    def usage(asked: dict[str, Any]) -> dict[str, int]:
        return {"prompt_tokens": 4000, "completion_tokens": 5}

    with prompt_endpoint(usage=usage) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=5))))
    # 4,000 + 4,000 = 8,000 stay below 10,000; the third call makes 12,000
    assert [bool(text) for text in said(submission)] == [True, True, False, False, False]
    assert len(stub.asked) == 3
    assert (
        "Dialogue file-0 ended at turn 2: 12,000 of 10,000 input tokens. Its response and those of the 2 later turns "
        "are empty."
    ) in told(submission)
    assert (submission.calls, submission.input_tokens, submission.output_tokens) == (3, 12_000, 15)
    assert Response.objects.filter(system=submission.system).count() == 5


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
        round = prompt_round(stub, small_version(dialogues=1, turns=5), output_tokens_per_dialogue=100)
        submission = taken_in(hand_in(round, settings={"max_tokens": 40}))
    assert [asked["max_tokens"] for asked in stub.asked] == [40, 40, 20]  # 100 − 80 = 20, then nothing is left
    assert [bool(text) for text in said(submission)] == [True, True, True, False, False]
    assert (
        "Dialogue file-0 ended at turn 3: 100 of 100 output tokens. Its response and that of the last turn are empty."
        in (told(submission))
    )


def test_an_endpoint_that_says_more_than_it_was_asked_for_ends_the_dialogue() -> None:
    with prompt_endpoint(usage=lambda asked: {"prompt_tokens": 1, "completion_tokens": 101}) as stub:
        round = prompt_round(stub, small_version(dialogues=1, turns=1), output_tokens_per_dialogue=100)
        submission = taken_in(hand_in(round))
    assert said(submission) == [""]
    assert "ended at turn 0: 101 of 100 output tokens. Its response is empty." in told(submission)


def test_a_first_call_that_takes_all_leaves_no_second() -> None:
    with prompt_endpoint(usage=lambda asked: {"prompt_tokens": 10_000, "completion_tokens": 5}) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1)), second={"user": "{first_answer}"}))
    assert len(stub.asked) == 1
    assert said(submission) == [""]
    assert submission.calls == 1


@pytest.mark.parametrize(
    "usage", [None, lambda asked: None, lambda asked: {"prompt_tokens": "9", "completion_tokens": -1}]
)
def test_an_endpoint_that_reports_no_usage_fails_the_submission_with_that_reason(usage: Any) -> None:
    with prompt_endpoint(usage=usage) as stub:
        submission = taken_in(hand_in(prompt_round(stub)))
    assert submission.state == "failed"
    assert submission.error.startswith("the endpoint does not report how many tokens it used")
    assert submission.system is None


def test_the_cost_is_the_tokens_times_the_round_s_prices() -> None:
    with prompt_endpoint() as stub:
        round = prompt_round(stub, small_version(1, 2), input_price=Decimal(100), output_price=Decimal(1000))
        submission = taken_in(hand_in(round))
    # two calls: (2 × 20 × 100 + 2 × 5 × 1,000) / 1,000,000 = (4,000 + 10,000) / 1,000,000
    assert submission.cost == Decimal("0.014")
    assert "Answered: 2 turns in 2 calls with 40 input and 10 output tokens, 0.014 USD." in told(submission)


def test_without_prices_there_is_no_cost() -> None:
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
    assert submission.cost is None
    assert "with 20 input and 5 output tokens. model:" in told(submission)


# --- what goes wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason", "calls"),
    [
        (400, "the endpoint refuses what it is asked (400)", 1),
        (401, "the endpoint refuses this site's key (401)", 1),
        (404, "the endpoint does not know the model (404)", 1),
        (418, "the endpoint answers with the error 418", 1),
        (429, "the endpoint takes no more requests for now (429)", 2),
        (500, "the endpoint answers with the error 500", 2),
    ],
)
def test_an_error_fails_the_submission_and_one_that_may_pass_is_tried_again_first(
    status: int, reason: str, calls: int
) -> None:
    with prompt_endpoint(lambda asked: status) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 2))))
    assert submission.state == "failed"
    assert submission.error.startswith(reason)
    assert len(stub.asked) == calls
    assert submission.day_place is None


def test_an_error_that_passes_is_no_failure() -> None:
    met: Counter[str] = Counter()

    def stumbling(asked: dict[str, Any]) -> str | int:
        met[asked["messages"][-1]["content"]] += 1
        return 503 if met[asked["messages"][-1]["content"]] == 1 else last_line(asked)

    with prompt_endpoint(stumbling) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
    assert submission.state == "scoring"
    assert len(stub.asked) == 2


def test_an_endpoint_that_is_down_fails_the_submission() -> None:
    with prompt_endpoint() as stub:
        submission = hand_in(prompt_round(stub))
        address = f"http://127.0.0.1:{free_port()}/v1"
        type(submission.round.endpoint).objects.update(base_url=address)
        submission = taken_in(submission)
    assert submission.error.startswith("the endpoint cannot be reached")
    assert address not in told(submission) + submission.error


def test_what_was_said_before_a_failure_is_kept_and_not_asked_again() -> None:
    state = {"broken": True}

    def sometimes(asked: dict[str, Any]) -> str | int:
        return 400 if state["broken"] and asked["messages"][-1]["content"].count("A: ") == 2 else last_line(asked)

    with prompt_endpoint(sometimes) as stub:
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=3)))
        failed = taken_in(submission)
        assert (failed.state, len(said(failed)), failed.calls) == ("failed", 1, 1)
        assert "1 of 3 turns are answered and kept for another try" in failed.error
        state["broken"] = False
        interventions.retry(failed, made_user("organiser-1", "organiser"))
        done = taken_in(failed)
    assert done.state == "scoring"
    asked = Counter(prompts_asked(stub))
    assert sorted(asked.values()) == [1, 1, 2]  # only the turn that failed was asked twice
    assert done.calls == 3


def test_answers_of_two_models_never_mix() -> None:
    state = {"broken": True}

    def sometimes(asked: dict[str, Any]) -> str | int:
        return 400 if state["broken"] and asked["messages"][-1]["content"].count("A: ") == 2 else asked["model"]

    with prompt_endpoint(sometimes) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=2))))
        type(submission.round.endpoint).objects.update(model="another-model")
        state["broken"] = False
        interventions.retry(submission, made_user("organiser-1", "organiser"))
        done = taken_in(submission)
    assert said(done) == ["another-model", "another-model"]
    assert "The round's model is now another-model: every turn is asked anew." in told(done)


def test_a_site_without_a_model_says_so_and_tells_only_organisers_what_is_missing(settings: Any) -> None:
    settings.LLM_URL = ""
    with prompt_endpoint() as stub:
        round = prompt_round(stub)
        round.endpoint = None
        round.save()
        submission = taken_in(hand_in(round))
    assert submission.state == "failed"
    assert "not set up for prompts" in submission.error
    assert "DIALEVAL_LLM_URL" in told(submission, for_organisers=True)
    assert "DIALEVAL" not in told(submission)


def test_without_an_endpoint_of_its_own_a_round_asks_the_site_s(settings: Any) -> None:
    with prompt_endpoint() as stub:
        settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = stub.base_url, "the-site-s", "sk-site"
        round = prompt_round(stub)
        round.endpoint = None
        round.save()
        submission = taken_in(hand_in(round))
    assert submission.state == "scoring"
    assert {asked["model"] for asked in stub.asked} == {"the-site-s"}
    assert set(stub.keys) == {"Bearer sk-site"}


# --- stopping and going on -------------------------------------------------------------------------------------


def test_a_worker_that_is_told_to_stop_gives_it_back_and_the_next_asks_only_what_is_missing() -> None:
    state = {"stop": True}

    def stopping(asked: dict[str, Any]) -> str:
        return last_line(asked)

    with prompt_endpoint(stopping) as stub, pytest.MonkeyPatch.context() as patch:
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=3)))
        keep = generation._Run._keep

        def stopped_after_the_first(run: Any, dialogue: Any, said_now: Any) -> None:
            keep(run, dialogue, said_now)
            if state.pop("stop", False):
                raise KeyboardInterrupt

        patch.setattr(generation._Run, "_keep", stopped_after_the_first)
        with pytest.raises(KeyboardInterrupt):
            execution.process(submission.pk)
        submission.refresh_from_db()
        assert (submission.state, submission.attempts, len(said(submission))) == ("received", 0, 1)
        done = taken_in(submission)
    assert (done.state, done.attempts) == ("scoring", 1)
    assert sorted(Counter(prompts_asked(stub)).values()) == [1, 1, 1]


def test_a_run_longer_than_a_task_goes_on_in_the_next_and_uses_up_no_attempt(settings: Any) -> None:
    settings.TASK_SECONDS = 0.3  # × 0.8: after 0.24 s no turn is begun any more
    settings.MAX_ATTEMPTS = 1
    with prompt_endpoint() as stub:
        stub.seconds = 0.2
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=5)))
        looks = 0
        while submission.state in ("received", "generating", "validating"):
            execution.process(submission.pk)
            submission.refresh_from_db()
            looks += 1
            assert looks < 10
    assert submission.state == "scoring"
    assert looks > 1
    assert submission.attempts == 1
    assert len(stub.asked) == 5
    assert "Paused after" in told(submission)
    assert "Goes on after" in told(submission)


def test_a_soft_time_limit_pauses_what_has_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with prompt_endpoint() as stub:
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=2)))
        keep = generation._Run._keep

        def out_of_time(run: Any, dialogue: Any, said_now: Any) -> None:
            keep(run, dialogue, said_now)
            raise SoftTimeLimitExceeded

        monkeypatch.setattr(generation._Run, "_keep", out_of_time)
        paused = taken_in(submission)
    assert (paused.state, paused.attempts, len(said(paused))) == ("received", 0, 1)


def test_a_soft_time_limit_in_which_nothing_was_said_is_an_attempt_that_failed(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.MAX_ATTEMPTS = 2

    def out_of_time(*_: Any) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(generation._Run, "_keep", out_of_time)
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
        assert (submission.state, submission.attempts) == ("received", 1)
        submission = taken_in(submission)
    assert submission.state == "failed"
    assert "gave no answer in the 3600 s (DIALEVAL_TASK_SECONDS) that a worker may take" in submission.error


@pytest.mark.parametrize(("waited", "makes_way"), [(3, True), (1, False), (600, False)])
def test_a_run_makes_way_for_a_rater_who_waits_for_a_chat_s_answer(
    monkeypatch: pytest.MonkeyPatch, waited: int, makes_way: bool
) -> None:
    monkeypatch.setattr(generation, "LEAST_SECONDS", 0.0)
    answer = say(made_chat(), "Hello.", "k1").answer
    type(answer).objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(seconds=waited))
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=3))))
    assert submission.state == ("received" if makes_way else "scoring")
    assert len(said(submission)) == (1 if makes_way else 3)  # never less than one: two runs cannot keep each other up


def test_a_model_s_name_that_is_none_is_not_kept() -> None:
    with prompt_endpoint() as stub:
        stub.calls_itself = "A: what you asked me"
        submission = taken_in(hand_in(prompt_round(stub, small_version(1, 1))))
    assert "|reported:nothing|" in submission.system.description


def test_cancelling_stops_it_at_the_next_turn_and_no_answer_is_kept_after() -> None:
    organiser = made_user("organiser-1", "organiser")
    with prompt_endpoint() as stub, pytest.MonkeyPatch.context() as patch:
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=4)))
        report = generation._Run._report

        def cancelled_after_the_second(run: Any) -> None:
            report(run)
            if run.said == 2:
                interventions.cancel(Submission.objects.get(pk=submission.pk), organiser)

        patch.setattr(generation._Run, "_report", cancelled_after_the_second)
        cancelled = taken_in(submission)
    assert (cancelled.state, cancelled.system) == ("cancelled", None)
    assert len(said(cancelled)) == 2
    assert len(stub.asked) == 3  # the third was in flight


def test_a_worker_whose_lease_was_lost_writes_nothing() -> None:
    with prompt_endpoint() as stub, pytest.MonkeyPatch.context() as patch:
        submission = hand_in(prompt_round(stub, small_version(dialogues=1, turns=2)))
        keep = generation._Run._keep

        def robbed(run: Any, dialogue: Any, said_now: Any) -> None:
            Submission.objects.filter(pk=submission.pk).update(lease_token="another worker's")
            keep(run, dialogue, said_now)

        patch.setattr(generation._Run, "_keep", robbed)
        assert execution.process(submission.pk) is False
    submission.refresh_from_db()
    assert GeneratedResponse.objects.count() == 0
    assert (submission.state, submission.calls) == ("generating", 0)


def test_progress_is_told_in_turns() -> None:
    seen: list[tuple[int, int]] = []
    with prompt_endpoint() as stub, pytest.MonkeyPatch.context() as patch:
        submission = hand_in(prompt_round(stub, small_version(dialogues=2, turns=2)))
        keep = generation.work.keep

        def watched(claim: Any, done: int | None = None, total: int | None = None) -> bool:
            if done is not None:
                seen.append((done, total or 0))
            return keep(claim, done, total)

        patch.setattr(generation.work, "keep", watched)
        taken_in(submission)
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_dialogues_are_asked_at_the_same_time_and_turns_of_one_in_order() -> None:
    with prompt_endpoint() as stub:
        stub.seconds = 0.15
        submission = hand_in(prompt_round(stub, small_version(dialogues=4, turns=2)))
        taken_in(submission)
    # 8 calls of 0.15 s, four at a time: about 0.3 s; one after the other 1.2 s
    first_asked = [asked.count("A: ") for asked in prompts_asked(stub)]
    assert first_asked == [1, 1, 1, 1, 2, 2, 2, 2]
    assert tokens(stub.asked[0])["prompt_tokens"] == 20
