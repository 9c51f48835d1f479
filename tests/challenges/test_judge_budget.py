"""What judging the submissions of a challenge may cost: who pays, who sees it, what happens when it
is spent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import AuditEntry, System
from leaderboard.challenges.actions import setup
from leaderboard.challenges.actions.finalising import settle
from leaderboard.challenges.actions.judge_budget import budget_of, set_judge_budget
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.models import Challenge, Submission
from leaderboard.challenges.queries.judge_budget import judge_budget
from tests.challenges.sets import open_challenge, open_round, submit, taken_in, team_with_member
from workers.judges import budgets
from workers.judges.core.clients import BillingContext
from workers.judges.models import Budget
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions

pytestmark = pytest.mark.django_db
JUDGE = "cpdscore_detail"


@pytest.fixture
def submission() -> Submission:
    """Being scored, in a round that asks for a judge."""
    challenge = open_challenge("cup", name="Cup")
    round = open_round(None, challenge, metrics=["word_f1", JUDGE])
    team, _user = team_with_member(challenge)
    return taken_in(submit(round, team))


def payer_of(submission: Submission, configuration: str = JUDGE) -> BillingContext:
    return BillingContext(submission.version_id, configuration, (submission.system_id or 0,))


def challenge_of(submission: Submission) -> Challenge:
    assert submission.round is not None
    return Challenge.objects.get(pk=submission.round.challenge_id)


def post(client: Client, challenge: Challenge, **data: Any):
    return client.post(reverse("challenge-judge-budget", args=[challenge.slug]), data)


# --- who pays -------------------------------------------------------------------------------------


def test_the_scores_that_a_round_asks_for_are_paid_from_the_challenge_s_budget_too(
    submission: Submission,
) -> None:
    paying = budgets.budgets_of(payer_of(submission))
    assert [
        one.name for one in paying if one.budget_id == budget_of(challenge_of(submission)).pk
    ] == ["the judges' budget of the challenge Cup"]
    assert len(paying) == 2


def test_scores_that_no_round_asks_for_are_not_the_challenge_s_to_pay(
    submission: Submission,
) -> None:
    """Organisers judge a published submission with their corpus."""
    System.objects.filter(pk=submission.system_id).update(withheld=False)
    (own,) = budgets.budgets_of(payer_of(submission, f"{JUDGE}[samples=3]"))
    assert Budget.objects.filter(pk=own.budget_id, judge_run__isnull=False).exists()


def test_a_metric_is_the_round_s_however_it_is_written(submission: Submission) -> None:
    submission.round.private_metrics = [f"{JUDGE}[ seed=0, samples=3 ]"]
    submission.round.save()
    assert len(budgets.budgets_of(payer_of(submission, f"{JUDGE}[samples=3]"))) == 2


def test_systems_of_two_challenges_are_paid_from_both(submission: Submission) -> None:
    other = open_challenge("other")
    round = open_round(submission.version, other, metrics=["word_f1", JUDGE])
    team, _user = team_with_member(other)
    second = taken_in(submit(round, team))
    payer = BillingContext(
        submission.version_id, JUDGE, (submission.system_id or 0, second.system_id or 0)
    )
    challenges = Challenge.objects.filter(
        judge_budget__in=[one.budget_id for one in budgets.budgets_of(payer)]
    )
    assert {one.slug for one in challenges} == {"cup", "other"}


def test_a_submission_s_system_is_judged_alone_and_others_without_it(
    submission: Submission,
) -> None:
    """In one call for several systems a challenge would pay for those of others, too."""
    shown = [
        System.objects.create(version=submission.version, position=9 + place, name=str(place))
        for place in (0, 1)
    ]
    actions.request([parse(JUDGE)], shown, hint=False)
    keys = dict(MetricRun.objects.filter(configuration=JUDGE).values_list("system", "pk"))
    of_submission = MetricRun.objects.claim(keys[submission.system_id])
    assert of_submission is not None
    assert actions.claim_siblings(of_submission, 99, one_budget=True) == []
    MetricRun.objects.owned(of_submission).release()
    of_others = MetricRun.objects.claim(keys[shown[0].pk])
    assert of_others is not None
    assert [one.row_id for one in actions.claim_siblings(of_others, 99, one_budget=True)] == [
        keys[shown[1].pk]
    ]


def test_a_challenge_has_one_budget_however_often_it_is_asked_for(submission: Submission) -> None:
    challenge = challenge_of(submission)
    assert budget_of(challenge).pk == budget_of(challenge).pk
    assert Budget.objects.filter(challenge=challenge).count() == 1


def test_a_deleted_challenge_leaves_no_budget_behind() -> None:
    challenge = open_challenge("gone", state="draft")
    pk = budget_of(challenge).pk
    setup.delete(challenge)
    assert not Budget.objects.filter(pk=pk).exists()


# --- its limits -----------------------------------------------------------------------------------


def test_the_limits_are_stored_and_the_log_says_who_set_them(
    organiser: Client, submission: Submission
) -> None:
    challenge = challenge_of(submission)
    answer = post(organiser, challenge, tokens="5000", usd="2.50")
    assert answer.status_code == 302
    budget = budget_of(challenge)
    assert (budget.tokens_limit, budget.cost_limit) == (5000, Decimal("2.5"))
    entry = AuditEntry.objects.get(action="challenge.judge_budget")
    assert (entry.actor, entry.challenge) == ("olga", "cup")
    assert entry.details == {"changes": {"tokens_limit": [None, 5000], "cost_limit": [None, "2.5"]}}


def test_the_same_budget_again_is_no_line_in_the_log(submission: Submission) -> None:
    challenge = challenge_of(submission)
    for _ in range(2):
        set_judge_budget(challenge, 5000, Decimal("2.50"))
    assert AuditEntry.objects.filter(action="challenge.judge_budget").count() == 1


def test_left_empty_there_is_no_limit(organiser: Client, submission: Submission) -> None:
    challenge = challenge_of(submission)
    set_judge_budget(challenge, 5000, Decimal(2))
    post(organiser, challenge, tokens="", usd="")
    budget = budget_of(challenge)
    assert (budget.tokens_limit, budget.cost_limit) == (None, None)


@pytest.mark.parametrize(
    ("tokens", "usd", "said"),
    [
        ("-1", "", "From 1."),
        ("0", "", "From 1."),
        ("9" * 30, "", "less than or equal to"),
        ("1e5", "", "Enter a whole number."),
        ("many", "", "Enter a whole number."),
        ("", "-0.5", "More than 0."),
        ("", "0", "More than 0."),
        ("", "NaN", "Enter a number."),
        ("", "Infinity", "Enter a number."),
        ("", "1e400", "Ensure that there are no more than"),
        ("", "1\0", "Enter a number."),
        ("99", "", "100 are spent already"),
        ("", "0.4", "0.5 USD are spent already"),
    ],
)
def test_bad_limits_are_refused_and_nothing_is_stored(
    organiser: Client, submission: Submission, tokens: str, usd: str, said: str
) -> None:
    challenge = challenge_of(submission)
    pk = budget_of(challenge).pk
    Budget.objects.filter(pk=pk).update(
        tokens_spent=100, cost_spent=Decimal("0.5"), tokens_limit=700
    )
    answer = post(organiser, challenge, tokens=tokens, usd=usd)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    budget = Budget.objects.get(pk=pk)
    assert (budget.tokens_limit, budget.cost_limit) == (700, None)


def test_what_was_spent_while_the_form_lay_open_counts(submission: Submission) -> None:
    challenge = challenge_of(submission)
    Budget.objects.filter(pk=budget_of(challenge).pk).update(tokens_spent=100)
    with pytest.raises(Refused):
        set_judge_budget(challenge, 99, None)


def test_setting_limits_leaves_what_is_spent_alone(submission: Submission) -> None:
    """A worker pays while an organiser sets the limits."""
    challenge = challenge_of(submission)
    held = budget_of(challenge)
    Budget.objects.filter(pk=held.pk).update(tokens_spent=100)
    set_judge_budget(challenge, 500, None)
    assert Budget.objects.get(pk=held.pk).tokens_spent == 100


# --- what organisers see --------------------------------------------------------------------------


def settings_page(client: Client, challenge: Challenge) -> str:
    answer = client.get(reverse("challenge-settings", args=[challenge.slug]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_settings_say_what_is_spent_and_left(organiser: Client, submission: Submission) -> None:
    challenge = challenge_of(submission)
    Budget.objects.filter(pk=budget_of(challenge).pk).update(
        tokens_limit=20_000,
        tokens_spent=12_345,
        cost_limit=3,
        cost_spent=Decimal("1.239"),
        calls=67,
    )
    page = settings_page(organiser, challenge)
    assert "of 20,000; 7,655 left" in page  # 20,000 - 12,345
    assert "of 3.00; 1.76 left" in page  # 3 - 1.239 = 1.761
    assert "67" in page
    assert "The budget is spent" not in page


def test_a_spent_budget_says_what_to_do(organiser: Client, submission: Submission) -> None:
    challenge = challenge_of(submission)
    Budget.objects.filter(pk=budget_of(challenge).pk).update(tokens_limit=100, tokens_spent=100)
    assert "Raise the budget, then try them again." in settings_page(organiser, challenge)


def test_the_section_names_the_judges_that_its_rounds_ask_for(submission: Submission) -> None:
    assert judge_budget(challenge_of(submission)).judges == (JUDGE,)


# --- when it is spent -----------------------------------------------------------------------------


def judge_failed(submission: Submission, error: str) -> Submission:
    runs = MetricRun.objects.filter(system=submission.system)
    runs.filter(metric="word_f1").update(
        state="done",
        finished_at=timezone.now(),
        signature="s",
        system_score=0.5,
        turn_scores=[0.5] * 6,
    )
    runs.filter(configuration=JUDGE).update(state="failed", finished_at=timezone.now(), error=error)
    settle(submission.pk)
    return Submission.objects.get(pk=submission.pk)


ERROR = (
    "BudgetSpent: the judges' budget of the challenge Cup (5 USD) at https://api.example.org has "
    "no room"
)


def test_a_team_reads_neutral_words(client: Client, submission: Submission) -> None:
    failed = judge_failed(submission, ERROR)
    assert failed.state == Submission.State.FAILED
    assert failed.error == (
        f"{JUDGE} could not be computed for now: the judge is not at hand, the organisers see why "
        "and can have it tried again"
    )
    client.force_login(failed.team.members.first().user)
    page = client.get(reverse("submission", args=[failed.public_id])).content.decode()
    assert "not at hand" in page
    assert "budget" not in page.lower()
    assert "api.example.org" not in page


def test_the_attempt_is_given_back(submission: Submission) -> None:
    assert judge_failed(submission, ERROR).day_place is None


def test_an_organiser_reads_the_reason_in_the_log_and_is_led_there(
    organiser: Client, submission: Submission
) -> None:
    failed = judge_failed(submission, ERROR)
    page = settings_page(organiser, challenge_of(failed))
    assert "1 submission failed at a judge" in page
    log = organiser.get(
        reverse("challenge-submissions", args=["cup"]), {"chosen": failed.public_id}
    )
    assert "5 USD" in log.content.decode()


def test_tried_again_the_judge_s_run_waits_anew_and_the_other_scores_stay(
    organiser: Client, submission: Submission
) -> None:
    failed = judge_failed(submission, ERROR)
    set_judge_budget(challenge_of(failed), 1_000_000, None)
    organiser.post(reverse("submission-retry", args=[failed.public_id]))
    assert Submission.objects.get(pk=failed.pk).state == Submission.State.SCORING
    states = dict(
        MetricRun.objects.filter(system=failed.system).values_list("configuration", "state")
    )
    assert states == {"word_f1": "done", JUDGE: "pending"}


def test_what_was_handed_in_is_paid_by_its_challenge_when_the_round_no_longer_asks_for_the_judge(
    submission: Submission,
) -> None:
    """Metrics of a round may change while its submissions are being scored, and what is asked for
    by then is asked."""
    assert submission.round is not None
    submission.round.metrics = ["word_f1"]
    submission.round.save()
    paying = {one.budget_id for one in budgets.budgets_of(payer_of(submission))}
    assert budget_of(challenge_of(submission)).pk in paying
