"""The end of scoring: the last metric run to end settles the submission, or the sweep does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.challenges.actions import finalising, work
from leaderboard.challenges.models import Notice, Round, Submission, Team
from tests.challenges.sets import good_file, open_round, scored, submit, taken_in, team_with_member
from workers.models import MetricRun
from workers.runs import actions, execution

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge)[0]


def now(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


def end_runs(submission: Submission, configuration: str, state: str, **fields: object) -> None:
    given = {"state": state, "finished_at": timezone.now(), **fields}
    if state == "done":
        given |= {"signature": "s", "system_score": 0.5}
    assert (
        MetricRun.objects.filter(system=submission.system, configuration=configuration).update(
            **given
        )
        == 1
    )


def test_it_is_scored_when_every_metric_is_computed_and_not_before(
    round: Round, team: Team
) -> None:
    submission = taken_in(submit(round, team))
    end_runs(submission, "word_f1", "done")
    assert not work.settle(submission.pk)
    assert now(submission).state == "scoring"
    end_runs(submission, "bleu_4", "done")
    assert work.settle(submission.pk)
    done = now(submission)
    assert (done.state, done.total_place, done.ended_at is not None) == ("scored", 1, True)
    assert done.system.withheld


def test_settling_twice_settles_once(round: Round, team: Team) -> None:
    submission = scored(round, team)
    revision = Round.objects.get(pk=round.pk).revision
    assert not work.settle(submission.pk)
    assert Round.objects.get(pk=round.pk).revision == revision == 1


def test_one_that_failed_waits_for_those_under_way_and_then_names_what_failed(
    round: Round, team: Team
) -> None:
    submission = taken_in(submit(round, team))
    end_runs(submission, "bleu_4", "failed", error="no memory")
    assert not work.settle(submission.pk)
    end_runs(submission, "word_f1", "done")
    assert work.settle(submission.pk)
    failed = now(submission)
    assert (failed.state, failed.day_place) == ("failed", None)
    assert failed.error == "bleu_4 could not be computed (no memory)"
    # What exists stays
    assert failed.system.metric_runs.get(configuration="word_f1").system_score == 0.5


def test_of_a_private_metric_the_team_reads_that_one_failed_and_not_which(team: Team) -> None:
    round = open_round(challenge=team.challenge, private_metrics=["rouge_l"])
    submission = taken_in(submit(round, team))
    for configuration in ("word_f1", "bleu_4"):
        end_runs(submission, configuration, "done")
    end_runs(submission, "rouge_l", "failed", error="secret")
    work.settle(submission.pk)
    team_reads = now(submission).error + " ".join(
        submission.log.filter(for_organisers=False).values_list("text", flat=True)
    )
    assert "1 of the organisers' own metrics" in team_reads
    assert "rouge_l" not in team_reads
    assert submission.log.filter(for_organisers=True, text__contains="rouge_l: secret").exists()


def test_in_a_hidden_round_the_words_of_an_error_stay_with_organisers(team: Team) -> None:
    round = open_round(challenge=team.challenge, references="hidden")
    submission = taken_in(submit(round, team))
    end_runs(submission, "word_f1", "done")
    end_runs(submission, "bleu_4", "failed", error="cannot score 'the gold answer'")
    work.settle(submission.pk)
    assert now(submission).error == "bleu_4 could not be computed"
    assert not submission.log.filter(for_organisers=False, text__contains="gold").exists()


def test_a_metric_that_is_added_while_it_is_scored_is_waited_for(round: Round, team: Team) -> None:
    submission = taken_in(submit(round, team))
    for configuration in ("word_f1", "bleu_4"):
        end_runs(submission, configuration, "done")
    Round.objects.filter(pk=round.pk).update(metrics=["word_f1", "bleu_4", "rouge_l"])
    assert not work.settle(submission.pk)
    assert (
        MetricRun.objects.get(system=submission.system, configuration="rouge_l").state == "pending"
    )
    end_runs(submission, "rouge_l", "done")
    assert work.settle(submission.pk)


def test_a_run_that_was_taken_back_is_asked_for_again_by_the_sweep(
    round: Round, team: Team
) -> None:
    submission = taken_in(submit(round, team))
    actions.withdraw_waiting(round.version)
    MetricRun.objects.filter(system=submission.system).delete()
    finalising.settle_all()
    assert MetricRun.objects.filter(system=submission.system, state="pending").count() == 2


def test_the_sweep_settles_what_a_worker_left_that_died_after_its_last_run(
    round: Round, team: Team
) -> None:
    submission = taken_in(submit(round, team))
    for configuration in ("word_f1", "bleu_4"):
        end_runs(submission, configuration, "done")
    assert finalising.settle_all() == 1
    assert now(submission).state == "scored"


def test_those_that_wait_for_a_judge_do_not_hide_one_whose_runs_have_ended(
    round: Round, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many were there before it."""
    waiting, ended = (
        taken_in(submit(round, team, data=good_file(round.version, text)))
        for text in ("Hm.", "Oh.")
    )
    MetricRun.objects.filter(system=ended.system).update(
        state=MetricRun.State.FAILED, error="no such model"
    )
    monkeypatch.setattr(finalising, "MAX_NOTIFICATIONS", 1)
    finalising.settle_all()
    assert (now(waiting).state, now(ended).state) == ("scoring", "failed")


def test_the_board_changes_and_the_pages_of_the_corpus_do_not(round: Round, team: Team) -> None:
    before = CorpusVersion.objects.get(pk=round.version_id).revision
    scored(round, team)
    assert CorpusVersion.objects.get(pk=round.version_id).revision == before
    assert Round.objects.get(pk=round.pk).revision == 1


def test_members_with_a_webhook_are_told_once(round: Round, team: Team) -> None:
    member = team.members.get().user
    member.webhooks.create(url="https://example.org/hook")
    submission = scored(round, team)
    assert list(Notice.objects.filter(submission=submission).values_list("event", flat=True)) == [
        "scored"
    ]


# --- the signal -----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_last_run_to_end_settles_the_submission(round: Round, team: Team) -> None:
    submission = taken_in(submit(round, team))
    first, last = MetricRun.objects.filter(system=submission.system).values_list("pk", flat=True)
    execution.compute(first)
    assert now(submission).state == "scoring"
    execution.compute(last)
    assert now(submission).state == "scored"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_fails_as_the_last_one_settles_it_too(round: Round, team: Team) -> None:
    submission = taken_in(submit(round, team))
    first, last = MetricRun.objects.filter(system=submission.system).values_list("pk", flat=True)
    execution.compute(first)
    MetricRun.objects.owned(MetricRun.objects.claim(last)).fail("no memory")
    assert now(submission).state == "failed"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_the_sweep_gives_up_settles_it_too(round: Round, team: Team, settings) -> None:
    settings.MAX_ATTEMPTS = 1
    submission = taken_in(submit(round, team))
    first, last = MetricRun.objects.filter(system=submission.system).values_list("pk", flat=True)
    execution.compute(first)
    MetricRun.objects.claim(last)
    MetricRun.objects.filter(pk=last).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    MetricRun.objects.reap()
    assert now(submission).state == "failed"
