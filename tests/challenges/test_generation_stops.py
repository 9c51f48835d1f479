"""A prompt's run that does not go through: endpoints that fail, workers that stop, people who
cancel."""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from annotations.campaigns.actions.chat import say
from leaderboard.challenges import execution, generation
from leaderboard.challenges.actions import interventions
from leaderboard.challenges.models import GeneratedResponse, Submission
from tests.campaigns.sets import made_user
from tests.challenges.prompted import hand_in, last_line, prompt_endpoint, prompt_round, said, told
from tests.challenges.sets import computed, small_version, taken_in
from tests.services import free_port
from tests.workers.chats import made_chat

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker_and_no_patience(monkeypatch: pytest.MonkeyPatch, notified: list[int]) -> None:
    monkeypatch.setattr(generation, "RETRIES", 1)


def prompts_asked(stub: Any) -> list[str]:
    return [asked["messages"][-1]["content"] for asked in stub.asked]


# --- what goes wrong ------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("status", "words", "line"),
    [
        (
            400,
            ": maximum context length is 8192 tokens",
            "the prompt is longer than its model takes",
        ),
        (400, ": exceed_context_size_error", "the prompt is longer than its model takes"),
        (413, "", "the prompt is longer than its model takes"),
        (400, ": content_filter", "the endpoint's content filter refuses the prompt"),
    ],
)
def test_a_prompt_that_the_model_does_not_take_ends_the_dialogue_and_gives_no_attempt_back(
    status: int, words: str, line: str
) -> None:
    """Else a prompt that is refused at its very last call would be run for nothing, as often as one
    likes."""

    def refuses_the_second_turn(asked: dict[str, Any]) -> Any:
        return status if asked["messages"][-1]["content"].count("A:") > 1 else "Hello."

    with prompt_endpoint(refuses_the_second_turn) as stub:
        stub.words = words
        submission = computed(taken_in(hand_in(prompt_round(stub, small_version(1, 3)))))
    assert said(submission) == ["Hello.", "", ""]
    assert (submission.state, submission.day_place) == ("scored", 1)
    assert f"Dialogue file-0 ended at turn 1: {line}." in told(submission)
    assert len(stub.asked) == 2


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
        return (
            400
            if state["broken"] and asked["messages"][-1]["content"].count("A: ") == 2
            else last_line(asked)
        )

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
        return (
            400
            if state["broken"] and asked["messages"][-1]["content"].count("A: ") == 2
            else asked["model"]
        )

    with prompt_endpoint(sometimes) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=2))))
        type(submission.round.endpoint).objects.update(model="another-model")
        state["broken"] = False
        interventions.retry(submission, made_user("organiser-1", "organiser"))
        done = taken_in(submission)
    assert said(done) == ["another-model", "another-model"]
    assert "The round's model is now another-model: every turn is asked again." in told(done)


def test_a_site_without_a_model_says_so_and_tells_only_organisers_what_is_missing(
    settings: Any,
) -> None:
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
        settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = (
            stub.base_url,
            "the-site-s",
            "sk-site",
        )
        round = prompt_round(stub)
        round.endpoint = None
        round.save()
        submission = taken_in(hand_in(round))
    assert submission.state == "scoring"
    assert {asked["model"] for asked in stub.asked} == {"the-site-s"}
    assert set(stub.keys) == {"Bearer sk-site"}


# --- stopping and going on ------------------------------------------------------------------------


def test_a_worker_that_is_told_to_stop_gives_it_back_and_the_next_asks_only_what_is_missing() -> (
    None
):
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


@pytest.mark.slow
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
    assert told(submission).count("Reading the file") == 1


def test_a_task_s_time_counts_from_its_beginning_and_one_turn_is_asked_however_late(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading the client takes the whole of the task's 0.1 s here; the endpoint answers at once."""
    settings.TASK_SECONDS = 0.1
    client = generation.LanguageModel

    def slow(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.1)
        return client(*arguments, **options)

    monkeypatch.setattr(generation, "LanguageModel", slow)
    with prompt_endpoint() as stub:
        paused = taken_in(hand_in(prompt_round(stub, small_version(dialogues=2, turns=3))))
    assert (paused.state, paused.attempts, len(said(paused)), len(stub.asked)) == (
        "received",
        0,
        1,
        1,
    )


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
    assert (
        "gave no answer in the 3600 s (DIALEVAL_TASK_SECONDS) that a worker may take"
        in submission.error
    )


@pytest.mark.parametrize(("waited", "makes_way"), [(90, True), (10, False), (600, False)])
def test_a_run_makes_way_for_a_rater_who_waits_for_a_chat_s_answer(
    monkeypatch: pytest.MonkeyPatch, waited: int, makes_way: bool
) -> None:
    """A minute is much here, so that a machine that is slow to set this up changes nothing."""
    monkeypatch.setattr(generation, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(generation, "LOOK_SECONDS", 60.0)
    answer = say(made_chat(), "Hello.", "k1").answer
    type(answer).objects.filter(pk=answer.pk).update(
        created_at=timezone.now() - timedelta(seconds=waited)
    )
    with prompt_endpoint() as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=1, turns=3))))
    assert submission.state == ("received" if makes_way else "scoring")
    # Never less than one: two runs cannot keep each other up
    assert len(said(submission)) == (1 if makes_way else 3)


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
            if run.answered == 2:
                interventions.cancel(Submission.objects.get(pk=submission.pk), organiser)

        patch.setattr(generation._Run, "_report", cancelled_after_the_second)
        cancelled = taken_in(submission)
    assert (cancelled.state, cancelled.system) == ("cancelled", None)
    assert len(said(cancelled)) == 2
    assert len(stub.asked) == 2  # what nobody wants any more is not sent


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
    # It was asked, and is charged for it
    assert (submission.state, submission.calls) == ("generating", 1)
    assert submission.unsettled_calls == 0


def test_progress_is_told_in_turns() -> None:
    seen: list[tuple[int, int]] = []
    with prompt_endpoint() as stub, pytest.MonkeyPatch.context() as patch:
        submission = hand_in(prompt_round(stub, small_version(dialogues=2, turns=2)))
        report = generation.work.report

        def watched(claim: Any, done: int | None = None, total: int | None = None) -> bool:
            if done is not None:
                seen.append((done, total or 0))
            return report(claim, done, total)

        patch.setattr(generation.work, "report", watched)
        taken_in(submission)
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_four_dialogues_are_asked_at_the_same_time_and_turns_of_one_in_order() -> None:
    all_four = Barrier(4, timeout=20)  # nobody is answered before four ask

    def together(asked: dict[str, Any]) -> str:
        all_four.wait()
        return last_line(asked)

    with prompt_endpoint(together) as stub:
        submission = taken_in(hand_in(prompt_round(stub, small_version(dialogues=4, turns=2))))
    assert submission.state == "scoring"
    inputs_of: dict[str, list[int]] = {}
    for asked in stub.asked:
        inputs_of.setdefault(asked["messages"][0]["content"], []).append(
            asked["messages"][1]["content"].count("A: ")
        )
    assert list(inputs_of.values()) == [[1, 2]] * 4
