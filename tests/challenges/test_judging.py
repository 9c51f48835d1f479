"""What organisers decide about teams and submissions, and when others get to see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import AuditEntry, Corpus, CorpusVersion, System
from leaderboard.challenges.actions import judging
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.actions.rounds import edit_round
from leaderboard.challenges.models import LogLine, Round, Submission, Team
from tests.at_once import at_once
from tests.campaigns.sets import made_user
from tests.challenges.sets import as_requested, open_round, scored, submit, team_with_member
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(round: Round) -> Submission:
    """A scored submission of its own team."""
    team, _user = team_with_member(round.challenge)
    return scored(round, team)


def revision_of(round: Round) -> int:
    return Round.objects.get(pk=round.pk).revision


def is_published(submission: Submission) -> bool:
    return not System.objects.get(pk=submission.system_id).withheld


# --- teams ----------------------------------------------------------------------------------------


def test_a_disqualified_team_reads_the_reason_and_boards_are_made_anew(
    round: Round, done: Submission
) -> None:
    before = revision_of(round)
    team = judging.disqualify_team(done.team, " Two accounts. ", made_user("olga"))
    assert (team.disqualification, revision_of(round)) == ("Two accounts.", before + 1)
    entry = AuditEntry.objects.get(action="team.disqualified")
    assert (entry.actor, entry.challenge) == ("olga", round.challenge.slug)
    assert entry.details["reason"] == "Two accounts."


def test_a_team_is_disqualified_once(done: Submission) -> None:
    judging.disqualify_team(done.team, "First.")
    with pytest.raises(Refused, match="already"):
        judging.disqualify_team(done.team, "Second.")
    assert Team.objects.get(pk=done.team_id).disqualification == "First."


@pytest.mark.parametrize("reason", ["", "  ", "a\0b", "x" * 501, "\ud800"])
def test_a_reason_must_say_something(done: Submission, reason: str) -> None:
    with pytest.raises(Refused, match="reason"):
        judging.disqualify_team(done.team, reason)
    with pytest.raises(Refused, match="reason"):
        judging.disqualify(done, reason)
    assert not AuditEntry.objects.filter(action__contains="disqualified").exists()


def test_a_disqualified_teams_systems_leave_the_corpus_and_come_back_only_by_publishing(
    round: Round, done: Submission
) -> None:
    judging.publish_systems(round)
    judging.disqualify_team(done.team, "Two accounts.")
    assert not is_published(done)
    judging.reinstate_team(done.team)
    assert not is_published(done)
    assert judging.publish_systems(round) == 1


def test_a_team_that_takes_part_is_not_reinstated(done: Submission) -> None:
    with pytest.raises(Refused, match="not disqualified"):
        judging.reinstate_team(done.team)


# --- submissions ----------------------------------------------------------------------------------


def test_a_disqualified_submission_says_why_in_its_log_and_keeps_its_attempt(
    round: Round, done: Submission
) -> None:
    before = revision_of(round)
    judging.disqualify(done, "The answers are the references.")
    stored = Submission.objects.get(pk=done.pk)
    assert stored.disqualification == "The answers are the references."
    assert (stored.day_place, stored.total_place) == (1, 1)
    assert LogLine.objects.filter(
        submission=done, level="warning", text__contains="are the references"
    ).exists()
    assert revision_of(round) == before + 1


def test_disqualifying_a_published_submission_takes_it_off_the_corpus(
    round: Round, done: Submission
) -> None:
    judging.publish_systems(round)
    before = CorpusVersion.objects.get(pk=round.version_id).revision
    judging.disqualify(done, "No.")
    assert not is_published(done)
    assert CorpusVersion.objects.get(pk=round.version_id).revision == before + 1


def test_a_submission_is_reinstated(done: Submission) -> None:
    judging.disqualify(done, "No.")
    assert judging.reinstate(done).disqualified_at is None
    assert AuditEntry.objects.get(action="submission.reinstated").details["reason_before"] == "No."
    with pytest.raises(Refused, match="not disqualified"):
        judging.reinstate(done)


def test_a_baseline_is_one_on_the_corpus_too(round: Round, done: Submission) -> None:
    before = revision_of(round)
    judging.flag_baseline(done, True)
    assert System.objects.get(pk=done.system_id).kind == "baseline"
    assert revision_of(round) == before + 1
    with pytest.raises(Refused, match="already"):
        judging.flag_baseline(done, True)
    judging.flag_baseline(done, False)
    assert System.objects.get(pk=done.system_id).kind == "agent"


def test_a_submission_flagged_before_it_was_accepted_is_published_as_a_baseline(
    round: Round,
) -> None:
    team, _user = team_with_member(round.challenge)
    submission = submit(round, team)
    judging.flag_baseline(submission, True)
    from tests.challenges.sets import computed, taken_in

    done = computed(taken_in(submission))
    judging.publish_systems(round)
    assert System.objects.get(pk=done.system_id).kind == "baseline"


# --- release ------------------------------------------------------------------------------------


def test_release_is_now_and_once(round: Round) -> None:
    planned = timezone.now() + timedelta(days=3)
    Round.objects.filter(pk=round.pk).update(release_at=planned)
    released = judging.release(round)
    assert released.release_at <= timezone.now()
    assert released.revision == round.revision + 1
    assert AuditEntry.objects.get(action="round.released").details["planned"] == planned.isoformat()
    with pytest.raises(Refused, match="released already"):
        judging.release(round)


def test_references_are_opened_once() -> None:
    round = open_round(references="hidden")
    assert judging.open_references(round).references == "public"
    with pytest.raises(Refused, match="public already"):
        judging.open_references(round)
    assert AuditEntry.objects.get(action="round.references_opened").details["corpus"] == str(
        round.version
    )


# --- publishing -----------------------------------------------------------------------------------


def test_publishing_takes_what_is_scored_and_not_disqualified(
    round: Round, done: Submission
) -> None:
    """Of five submissions two may be seen: the fixture's and ``good``."""
    good, bad, out = (scored(round, team_with_member(round.challenge)[0]) for _ in range(3))
    waiting = submit(round, team_with_member(round.challenge)[0])
    judging.disqualify(bad, "No.")
    judging.disqualify_team(out.team, "No.")
    before = CorpusVersion.objects.get(pk=round.version_id).revision
    assert judging.publish_systems(round, made_user("olga")) == 2
    assert [is_published(one) for one in (done, good, bad, out)] == [True, True, False, False]
    assert waiting.system_id is None
    assert CorpusVersion.objects.get(pk=round.version_id).revision == before + 1
    assert len(AuditEntry.objects.get(action="round.published").details["systems"]) == 2


def test_who_hands_in_is_told_that_the_description_becomes_public_with_the_system(
    round: Round, client: Client
) -> None:
    team, user = team_with_member(round.challenge)
    scored(round, team, description="Trained on our own chats.")
    Corpus.objects.filter(pk=round.version.corpus_id).update(is_public=True)
    systems = reverse("corpus", args=[round.version.corpus.slug])
    assert "Trained on our own chats." not in client.get(systems).content.decode()
    judging.publish_systems(round)
    assert "Trained on our own chats." in client.get(systems).content.decode()
    client.force_login(user)
    for page in ("round", "prompt-new"):
        text = client.get(reverse(page, args=[round.challenge.slug, round.slug])).content.decode()
        assert "everybody once they publish the system" in text


def test_publishing_again_takes_what_came_since(round: Round, done: Submission) -> None:
    judging.publish_systems(round)
    with pytest.raises(Refused, match="nothing new"):
        judging.publish_systems(round)
    scored(round, done.team)
    assert judging.publish_systems(round) == 1


@pytest.mark.parametrize(
    "held_back", [{"public_share": 0.5}, {"public_share": 0.0}, {"private_metrics": ["rouge_l"]}]
)
def test_nothing_is_published_that_would_show_the_private_board(held_back: dict[str, Any]) -> None:
    round = open_round(**held_back)
    done = scored(round, team_with_member(round.challenge)[0])
    with pytest.raises(Refused, match="not released"):
        judging.publish_systems(round)
    assert not is_published(done)
    judging.release(round)
    assert judging.publish_systems(round) == 1


def test_systems_are_taken_back(round: Round, done: Submission) -> None:
    with pytest.raises(Refused, match="None of"):
        judging.withhold_systems(round)
    judging.publish_systems(round)
    assert judging.withhold_systems(round) == 1
    assert not is_published(done)


def test_no_metric_becomes_private_while_systems_are_published(
    round: Round, done: Submission
) -> None:
    """Scored anew by it, their pages would show its scores turn by turn before the release."""
    params = replace(as_requested(round), private_metrics=["rouge_l"])
    judging.publish_systems(round)
    with pytest.raises(Refused, match="Withhold the systems first") as refusal:
        edit_round(round, params)
    assert refusal.value.field == "private_metrics"
    assert Round.objects.get(pk=round.pk).private_metrics == []
    judging.withhold_systems(round)
    assert edit_round(round, params).private_metrics == ["rouge_l"]


def test_after_the_release_nothing_is_private(done: Submission, round: Round) -> None:
    judging.release(round)
    judging.publish_systems(round)
    round = Round.objects.get(pk=round.pk)
    assert edit_round(
        round, replace(as_requested(round), private_metrics=["rouge_l"])
    ).private_metrics == ["rouge_l"]


# --- scoring again --------------------------------------------------------------------------------


def test_all_of_a_round_is_scored_on_the_metric_that_was_added(
    round: Round, done: Submission
) -> None:
    submit(round, team_with_member(round.challenge)[0])  # not accepted yet: nothing to score
    Round.objects.filter(pk=round.pk).update(metrics=["word_f1", "bleu_4", "rouge_l"])
    round.refresh_from_db()
    assert judging.re_evaluate_all(round, made_user("olga", "organiser")) == 1
    runs = MetricRun.objects.filter(system=done.system_id)
    assert set(runs.values_list("configuration", "state")) == {
        ("word_f1", "done"),
        ("bleu_4", "done"),
        ("rouge_l", "pending"),
    }
    assert AuditEntry.objects.get(action="round.re-evaluated").details["submissions"] == 1


def test_with_nothing_scored_there_is_nothing_to_score_again(round: Round) -> None:
    with pytest.raises(Refused, match="No submission"):
        judging.re_evaluate_all(round)


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_four_who_disqualify_at_once_one_does() -> None:
    done = submit(*_team_of(open_round()))
    told = at_once(*[partial(judging.disqualify, done, f"Reason {number}.") for number in range(4)])
    assert sum(isinstance(one, Refused) for one in told) == 3
    assert AuditEntry.objects.filter(action="submission.disqualified").count() == 1


def _team_of(round: Round) -> tuple[Round, Team]:
    return round, team_with_member(round.challenge)[0]
