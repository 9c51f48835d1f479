"""The state machine: who may write to a submission, and what people do to it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.formats.importers.problems import Problem
from annotations.models import AuditEntry, CorpusVersion, Response, System, Turn
from leaderboard.challenges import execution, validation
from leaderboard.challenges.actions import judging, work
from leaderboard.challenges.models import Round, Submission, Team
from tests.campaigns.sets import made_user
from tests.challenges.sets import (
    computed,
    good_file,
    open_round,
    scored,
    submit,
    taken_in,
    team_with_member,
)
from tests.stored_uploads import stored_path
from workers.jobs import LeaseLost
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge)[0]


@pytest.fixture
def organiser():
    return made_user("", "organiser")


def now(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def fall_silent(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


def answers(round: Round) -> list[tuple[int, str]]:
    return [
        (turn.pk, f"answer {turn.number}")
        for turn in Turn.objects.filter(dialogue__version=round.version)
    ]


def log_of(submission: Submission, for_organisers: bool = False) -> str:
    return "\n".join(
        submission.log.filter(for_organisers=for_organisers).values_list("text", flat=True)
    )


# --- one worker at a time -------------------------------------------------------------------------


def test_a_submission_is_claimed_once(round: Round, team: Team) -> None:
    submission = submit(round, team)
    assert Submission.objects.claim(submission.pk) is not None
    assert Submission.objects.claim(submission.pk) is None
    present = now(submission)
    assert (present.state, present.attempts, present.validating_at is not None) == (
        "validating",
        1,
        True,
    )


def test_the_submission_of_a_silent_worker_is_taken_over_and_the_first_writes_no_more(
    round: Round, team: Team
) -> None:
    submission = submit(round, team)
    first = Submission.objects.claim(submission.pk)
    fall_silent(submission)
    second = Submission.objects.claim(submission.pk)
    assert second.attempt == 2
    problem = Problem("f", 1, "", "wrong")
    assert not work.report(first, 1, 2)
    assert not work.refuse(first, [problem])
    assert not Submission.objects.owned(first).fail("late")
    assert not work.accept(first, answers(round))
    assert not work.begin_generating(first)
    assert System.objects.filter(version=round.version).count() == 0
    assert work.report(second, 3, 6)
    assert (now(submission).progress_done, now(submission).progress_total) == (3, 6)


@pytest.mark.parametrize("state", ["scoring", "scored", "invalid", "failed", "cancelled"])
def test_what_has_been_worked_on_is_not_claimed_again(round: Round, team: Team, state: str) -> None:
    submission = taken_in(submit(round, team))
    Submission.objects.filter(pk=submission.pk).update(
        state=state, ended_at=timezone.now(), error="x"
    )
    assert Submission.objects.claim(submission.pk) is None


def test_the_reaper_gives_back_what_a_silent_worker_had_and_the_log_says_so(
    round: Round, team: Team
) -> None:
    submission = submit(round, team)
    Submission.objects.claim(submission.pk)
    fall_silent(submission)
    assert Submission.objects.reap().released == 1
    assert "another one starts over" in log_of(submission)
    assert taken_in(submission).state == "scoring"


def test_who_kills_every_worker_is_given_up_with_a_reason_and_gets_the_place_back(
    round: Round, team: Team, settings
) -> None:
    settings.MAX_ATTEMPTS = 2
    submission = submit(round, team)
    for _ in range(2):
        assert Submission.objects.claim(submission.pk) is not None
        fall_silent(submission)
        reaped = Submission.objects.reap()
    assert reaped.failed == 1
    present = now(submission)
    assert (present.state, present.day_place, present.total_place) == ("failed", None, None)
    assert "stopped without a word 2 times" in present.error
    assert Submission.objects.claim(submission.pk) is None


def test_a_submission_that_has_no_attempt_left_does_not_wait_for_ever(
    round: Round, team: Team, settings
) -> None:
    submission = submit(round, team)
    Submission.objects.filter(pk=submission.pk).update(attempts=2)
    settings.MAX_ATTEMPTS = 2  # lowered since
    assert Submission.objects.reap().failed == 1
    assert (now(submission).state, now(submission).total_place) == ("failed", None)


def test_what_goes_wrong_here_is_tried_again_and_the_team_reads_no_paths(
    round: Round, team: Team, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_ATTEMPTS = 2
    submission = submit(round, team)
    stored_path(submission).unlink()
    assert taken_in(submission).state == "received"
    assert taken_in(submission).state == "failed"
    assert "FileNotFoundError" in log_of(submission, for_organisers=True)
    team_reads = log_of(submission) + now(submission).error
    assert "something went wrong on this site" in team_reads
    assert str(settings.UPLOAD_FOLDER) not in team_reads


def test_a_file_of_responses_is_for_the_queue_cpu_and_a_prompt_for_llm(
    round: Round, team: Team
) -> None:
    file, prompt = submit(round, team), submit(round, team, data=b"{}", track="prompt")
    assert Submission.queues_of([file.pk, prompt.pk]) == {file.pk: "cpu", prompt.pk: "llm"}


# --- cancelling -----------------------------------------------------------------------------------


def test_a_cancelled_submission_gives_its_place_back_and_takes_back_waiting_runs(
    round: Round, team: Team, organiser
) -> None:
    submission = taken_in(submit(round, team))
    assert MetricRun.objects.filter(system=submission.system, state="pending").count() == 2
    work.cancel(submission, organiser)
    present = now(submission)
    assert (present.state, present.day_place, present.total_place) == ("cancelled", None, None)
    assert not MetricRun.objects.filter(system=submission.system).exists()
    assert present.system.withheld
    entry = AuditEntry.objects.get(action="submission.cancelled")
    assert (entry.actor, entry.details["before"]) == (organiser.username, "scoring")


def test_a_published_system_leaves_the_corpus_when_it_is_cancelled(
    round: Round, team: Team, organiser
) -> None:
    submission = scored(round, team)
    System.objects.filter(pk=submission.system_id).update(withheld=False)
    Round.objects.filter(pk=round.pk).update(metrics=["word_f1", "rouge_l"])
    work.re_evaluate(submission, organiser)
    work.cancel(submission, organiser)
    assert System.objects.get(pk=submission.system_id).withheld
    assert CorpusVersion.objects.get(pk=round.version_id).revision == 1


def test_a_run_that_ends_after_the_cancelling_changes_nothing(
    round: Round, team: Team, organiser
) -> None:
    submission = taken_in(submit(round, team))
    MetricRun.objects.filter(system=submission.system).update(
        state="running", lease_token="x", lease_expires_at=timezone.now() + timedelta(hours=1)
    )
    work.cancel(submission, organiser)
    done = {"state": "done", "signature": "s", "system_score": 0.5, "finished_at": timezone.now()}
    assert MetricRun.objects.filter(system=submission.system).update(**done) == 2
    assert not work.settle(submission.pk)
    assert now(submission).state == "cancelled"


def test_a_worker_whose_submission_is_cancelled_stores_nothing(
    round: Round, team: Team, organiser
) -> None:
    submission = submit(round, team)
    claim = Submission.objects.claim(submission.pk)
    work.cancel(submission, organiser)
    assert not work.accept(claim, answers(round))
    with pytest.raises(LeaseLost):
        validation.validate(submission, claim)
    assert Response.objects.filter(system__version=round.version).count() == 0


def test_a_team_cancels_its_file_until_a_score_of_it_is_there(round: Round, team: Team) -> None:
    member = team.members.get().user
    submission = submit(round, team)
    assert work.may_cancel(submission, member)
    submission = taken_in(submission)
    assert (submission.state, work.may_cancel(submission, member)) == ("scoring", True)
    run = MetricRun.objects.filter(system=submission.system).first()
    MetricRun.objects.filter(pk=run.pk).update(
        state="done", signature="s", system_score=0.5, finished_at=timezone.now()
    )
    assert not work.may_cancel(submission, member)
    with pytest.raises(work.CannotDo):
        work.cancel(submission, member)
    assert now(submission).state == "scoring"


def test_a_team_cancels_no_prompt_that_is_being_run(round: Round, team: Team, organiser) -> None:
    member = team.members.get().user
    submission = submit(round, team, data=b"{}", track="prompt")
    assert work.may_cancel(submission, member)
    work.begin_generating(Submission.objects.claim(submission.pk))
    assert not work.may_cancel(now(submission), member)
    fall_silent(submission)
    Submission.objects.reap()  # received again: but a part of it has been run
    assert not work.may_cancel(now(submission), member)
    assert work.may_cancel(now(submission), organiser)


def test_a_team_cancels_nothing_that_is_disqualified(round: Round, team: Team, organiser) -> None:
    member = team.members.get().user
    submission = submit(round, team)
    judging.disqualify(submission, "Another team's file.", organiser)
    assert not work.may_cancel(now(submission), member)
    with pytest.raises(work.CannotDo, match="disqualified"):
        work.cancel(submission, member)
    assert (now(submission).state, now(submission).day_place) == ("received", 1)
    work.cancel(submission, organiser)
    assert now(submission).state == "cancelled"


def test_nobody_cancels_for_another_team_or_what_has_ended(
    round: Round, team: Team, organiser
) -> None:
    submission = submit(round, team)
    _, stranger = team_with_member(round.challenge)
    assert not work.may_cancel(submission, stranger)
    done = scored(round, team)
    assert not work.may_cancel(done, organiser)
    with pytest.raises(work.CannotDo):
        work.cancel(done, organiser)


# --- trying again ---------------------------------------------------------------------------------


def test_a_failed_file_is_read_again(round: Round, team: Team, organiser) -> None:
    submission = submit(round, team)
    Submission.objects.owned(Submission.objects.claim(submission.pk)).fail("for the test")
    assert now(submission).total_place is None
    work.retry(submission, organiser)
    present = now(submission)
    assert (present.state, present.attempts, present.error, present.day_place) == (
        "received",
        0,
        "",
        1,
    )
    assert computed(taken_in(submission)).state == "scored"


def test_a_submission_whose_metric_failed_is_scored_again_without_reading_its_file(
    round: Round, team: Team, organiser
) -> None:
    submission = taken_in(submit(round, team))
    MetricRun.objects.filter(system=submission.system).update(state="failed", error="no memory")
    work.settle(submission.pk)
    failed = now(submission)
    assert (failed.state, failed.total_place) == ("failed", None)
    stored_path(submission).unlink()
    work.retry(failed, organiser)
    assert (now(submission).state, now(submission).total_place) == ("scoring", 1)
    done = computed(now(submission))
    assert (done.state, done.error, done.system) == ("scored", "", submission.system)


def test_an_organiser_takes_a_submission_up_again_above_the_limit_and_the_row_says_so(
    team: Team, organiser
) -> None:
    round = open_round(challenge=team.challenge, daily_limit=1, total_limit=1)
    submission = submit(round, team)
    Submission.objects.owned(Submission.objects.claim(submission.pk)).fail("for the test")
    submit(round, team)  # the attempt that came back is used
    work.retry(submission, organiser)
    present = now(submission)
    assert (present.day_place, present.day_limit) == (2, 2)
    assert (present.total_place, present.total_limit) == (2, 2)
    assert round.daily_limit == 1


def test_a_file_that_counts_as_another_submission_is_not_taken_up_again(
    round: Round, team: Team, organiser
) -> None:
    submission = submit(round, team, data=b"the same")
    work.refuse(Submission.objects.claim(submission.pk), [Problem("f", 1, "", "wrong")])
    submit(round, team, data=b"the same")
    with pytest.raises(work.CannotDo, match="submitted again"):
        work.retry(submission, organiser)
    assert now(submission).state == "invalid"


@pytest.mark.parametrize("state", ["received", "scoring", "scored"])
def test_there_is_nothing_to_retry_while_it_is_at_work_or_scored(
    round: Round, team: Team, organiser, state: str
) -> None:
    submission = taken_in(submit(round, team))
    Submission.objects.filter(pk=submission.pk).update(state=state, ended_at=timezone.now())
    with pytest.raises(work.CannotDo):
        work.retry(submission, organiser)


def test_evaluated_anew_it_gets_the_metrics_that_the_round_names_now(
    round: Round, team: Team, organiser
) -> None:
    submission = scored(round, team)
    first = dict(submission.system.metric_runs.values_list("configuration", "finished_at"))
    Round.objects.filter(pk=round.pk).update(metrics=["word_f1", "rouge_l"])
    assert now(submission).state == "scored"  # a metric that is added later does not un-score
    work.re_evaluate(submission, organiser)
    present = now(submission)
    assert (present.state, present.total_place) == ("scoring", submission.total_place)
    done = computed(present)
    runs = dict(done.system.metric_runs.values_list("configuration", "finished_at"))
    assert done.state == "scored"
    assert set(runs) == {"word_f1", "bleu_4", "rouge_l"}
    # The same metric in the same version: the result that is there
    assert runs["word_f1"] == first["word_f1"]


def test_evaluated_anew_with_nothing_new_it_is_scored_at_once(
    round: Round, team: Team, organiser
) -> None:
    submission = scored(round, team)
    before = Round.objects.get(pk=round.pk).revision
    work.re_evaluate(submission, organiser)
    assert now(submission).state == "scored"
    assert Round.objects.get(pk=round.pk).revision > before


def test_what_was_never_accepted_cannot_be_evaluated_anew(
    round: Round, team: Team, organiser
) -> None:
    submission = submit(round, team)
    with pytest.raises(work.CannotDo):
        work.re_evaluate(submission, organiser)


def test_it_is_processed_once_however_often_a_worker_hears_of_it(round: Round, team: Team) -> None:
    submission = submit(round, team, data=good_file(round.version))
    assert execution.process(submission.pk)
    assert not execution.process(submission.pk)
    assert System.objects.filter(version=round.version).count() == 1
