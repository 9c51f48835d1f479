"""The desk: each role's sections with numbers and links, nobody else's, and a bounded number of
queries."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import work_queue
from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.queries.work_queue import _share as shares
from annotations.models import CorpusImport, CorpusVersion
from common.roles import ORGANISER, PARTICIPANT, RATER
from dialeval_site.dashboard import queries
from dialeval_site.dashboard.waiting import next_steps, tasks_of
from leaderboard.challenges.board.split import split_dialogues
from tests.campaigns.sets import made_campaign, made_user, made_version
from tests.challenges.boards import board_round, scored_with, team_of_one
from tests.challenges.sets import open_challenge, open_round, submit, team_with_member
from workers.judges.models import Budget, JudgeRun
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


def page_of(user: Any) -> str:
    client = Client()
    client.force_login(user)
    response = client.get("/desk/")
    assert response.status_code == 200
    return response.content.decode()


def row_of(page: str, text: str) -> str:
    """The words of the table row that holds ``text``, without mark-up."""
    rows = [row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if text in row]
    assert len(rows) == 1, len(rows)
    return " ".join(re.sub(r"<[^>]+>", " ", rows[0]).split())


def named(name: str, **fields: Any) -> Campaign:
    campaign = made_campaign(**fields)
    campaign.name = name
    campaign.save()
    return campaign


def join(campaign: Campaign, user: Any) -> Participation:
    position = campaign.participations.count()
    return Participation.objects.create(
        campaign=campaign,
        user=user,
        position=position,
        joined_at=timezone.now(),
        seed=1000 + position,
        start=0,
        cursor=0,
    )


def fail(submission: Any) -> None:
    type(submission).objects.filter(pk=submission.pk).update(
        state="failed",
        error="the machine was full",
        ended_at=timezone.now(),
        day=None,
        day_place=None,
        total_place=None,
    )


def failed_run(version: Any) -> MetricRun:
    return MetricRun.objects.create(
        system=version.systems.first(),
        metric="word_f1",
        metric_version="1",
        configuration="word_f1",
        queue="cpu",
        state="failed",
        error="out of memory",
    )


# --- who lands here -------------------------------------------------------------------------------


def test_logging_in_leads_to_the_desk() -> None:
    user = made_user("ada", RATER)
    user.set_password("a long pass phrase")
    user.save()
    sent = {"username": "ada", "password": "a long pass phrase"}
    assert Client().post(reverse("login"), sent)["Location"] == reverse("desk")


def test_logged_out_visitors_are_asked_to_log_in() -> None:
    assert Client().get("/desk/")["Location"] == f"{reverse('login')}?next=/desk/"


# --- raters ---------------------------------------------------------------------------------------


def test_a_rater_reads_what_is_left_and_where_the_next_item_is() -> None:
    """2 systems × 3 dialogues × 2 turns = 12 items, 2 raters each; the only active rater's share is
    all 12."""
    rater = made_user("ada", RATER)
    campaign = named("Tea talks")
    join(campaign, rater)
    page = page_of(rater)
    assert row_of(page, "Tea talks").startswith("Tea talks 0 of 12 – Next item")
    assert reverse("rating-work", args=[campaign.slug]) in page


def test_paused_campaigns_and_failed_practice_are_not_on_a_rater_dashboard() -> None:
    rater = made_user("ada", RATER)
    paused = named("Tea talks")
    join(paused, rater)
    Campaign.objects.filter(pk=paused.pk).update(state="paused")
    one = join(named("Coffee talks"), rater)
    one.qualification = "failed"
    one.save()
    page = page_of(rater)
    assert "Tea talks" not in page
    assert "Coffee talks" not in page


def test_a_rater_may_join_what_the_own_group_may() -> None:
    rater, campaign = made_user("ada", RATER), named("Tea talks")
    campaign.groups.add(rater.groups.get())
    named("For others")
    page = page_of(rater)
    assert row_of(page, "Tea talks").startswith("Tea talks not joined – Read and join")
    assert "For others" not in page


def test_a_rater_without_a_campaign_reads_how_to_get_one() -> None:
    assert "An organiser sends you a link." in page_of(made_user("ada", RATER))


# --- participants ---------------------------------------------------------------------------------


def test_a_participant_reads_limits_deadline_and_latest_submission() -> None:
    """5 a day and 100 in all; one submission counts: 4 and 99 are left."""
    ends = timezone.now() + timedelta(days=3)
    round = open_round(closes_at=ends)
    team, user = team_with_member(round.challenge, name="Blue")
    submit(round, team, user, name="first try")
    row = row_of(page_of(user), round.challenge.name)
    assert "Blue" in row
    assert f"{ends:%H:%M} UTC 4 of 5; 99 in all first try received" in row


def test_a_failed_submission_is_named_and_its_attempt_is_back() -> None:
    round = open_round()
    team, user = team_with_member(round.challenge)
    fail(submit(round, team, user, name="first try"))
    assert "5 of 5; 100 in all first try failed" in row_of(page_of(user), round.challenge.name)


def test_the_own_rank_comes_from_the_public_leaderboard() -> None:
    """Two public dialogues of means 0.149 and 0.151: se = 0.001, t(1) = 12.706."""
    round = board_round(public_share=0.5)
    is_public = split_dialogues(
        [f"file-{place}" for place in range(4)], 0.5, round.split_seed
    ).public.counted
    apart = iter((-0.001, 0.001))
    own = [score for public in is_public for score in [0.15 + next(apart) if public else 0.9] * 2]
    scored_with(round, team_of_one(round, "Red"), [0.01 + score for score in own])
    scored_with(round, team := team_of_one(round, "Blue"), own)
    row = row_of(page_of(team.members.get().user), round.challenge.name)
    assert "1–2 of 2 , 0.150 [0.137, 0.163]" in row


def test_rounds_that_are_over_and_disqualified_teams_have_no_row() -> None:
    over = open_round(closes_at=timezone.now() - timedelta(hours=1))
    _, user = team_with_member(over.challenge)
    other = open_round()
    team, disqualified = team_with_member(other.challenge)
    team.disqualified_at, team.disqualification = timezone.now(), "two teams of the same people"
    team.save()
    for one in (user, disqualified):
        assert "No round of your teams is open now." in page_of(one)


def test_other_teams_submissions_are_not_on_ones_desk() -> None:
    round = open_round()
    _, user = team_with_member(round.challenge)
    other, _ = team_with_member(round.challenge, name="Red")
    submit(round, other, name="secret weapon")
    page = page_of(user)
    assert "secret weapon" not in page
    assert "Red" not in page


def test_a_new_account_reads_which_challenges_are_open_and_sees_no_draft() -> None:
    open_challenge(name="Spring task")
    open_challenge(name="Secret task", state="draft")
    page = page_of(made_user("ada", PARTICIPANT))
    assert "Spring task" in page
    assert "make a team or join one with its link" in page
    assert "Secret task" not in page


# --- organisers -----------------------------------------------------------------------------------


def test_an_organiser_reads_what_failed_before_what_waits() -> None:
    organiser = made_user("grace", ORGANISER)
    complete = named("All done", systems=("northwind",), dialogues=1, turns=1, k=1)
    rater = join(complete, made_user("ada", RATER))
    (held, *_) = work_queue.fill_queue(rater).assignments
    work_queue.rate(rater, held.item.public_id, work_queue.Judgement(key="k", score=3))
    later = named("Later", opened=False)
    open_challenge(name="Next year", state="draft")
    round = open_round(closes_at=timezone.now() - timedelta(hours=1), public_share=0.5)
    other = open_round()
    team, user = team_with_member(other.challenge)
    fail(submit(other, team, user))
    failed_run(complete.version)
    budget = Budget.objects.create(cost_limit=Decimal(2), cost_spent=Decimal(2), calls=9)
    JudgeRun.objects.create(version=complete.version, configuration="cpdscore", budget=budget)
    found = tasks_of(queries.organiser_dashboard(organiser, timezone.now()))
    assert [(task.kind, task.title) for task in found] == [
        ("failed", "1 metric run failed"),
        ("failed", "1 submission failed"),
        ("failed", "A judge’s budget is spent"),
        ("waiting", "“All done” is complete"),
        ("waiting", f"{round.challenge.name}, {round.name} is over"),
        ("waiting", f"{later.version.corpus.name} has no metric scores"),
        ("draft", "Campaign “Later” is a draft"),
        ("draft", "Challenge “Next year” is a draft"),
    ]


def test_failed_imports_wait_until_their_file_is_sent_again() -> None:
    organiser = made_user("grace", ORGANISER)
    values = {"file_name": "cooks.jsonl", "size": 9, "fields": {"slug": "cooks"}}
    ended = {"state": "failed", "error": "no corpus", "finished_at": timezone.now()}
    failed = CorpusImport.objects.create(stored="imports/1", **values, **ended)
    old = {**ended, "finished_at": timezone.now() - timedelta(days=2)}
    CorpusImport.objects.create(stored="imports/2", **values, **old)
    [task] = tasks_of(queries.organiser_dashboard(organiser, timezone.now()))
    assert (task.kind, task.title) == ("failed", "The import of cooks.jsonl failed")
    assert task.href == reverse("corpus-import", args=[failed.pk])
    CorpusImport.objects.create(stored="imports/1", **values)
    assert tasks_of(queries.organiser_dashboard(organiser, timezone.now())) == []


def test_every_corpus_without_scores_is_named_and_from_the_fourth_on_in_one_line() -> None:
    """Five corpora without a metric run besides the one that has one."""
    organiser = made_user("grace", ORGANISER)
    failed_run(made_version(slug="scored"))
    for slug in ("a", "b", "c", "d", "e"):
        made_version(slug=slug)
    dashboard = queries.organiser_dashboard(organiser, timezone.now())
    slugs = [corpus.slug for corpus in dashboard.set_up.to_score]
    assert slugs == ["e", "d", "c", "b", "a"]
    found = [task for task in tasks_of(dashboard) if "no metric scores" in task.title]
    assert [task.title for task in found] == [
        *(f"{corpus.name} has no metric scores" for corpus in dashboard.set_up.to_score[:3]),
        "2 more corpora have no metric scores",
    ]
    assert found[-1].reason == ", ".join(one.name for one in dashboard.set_up.to_score[3:])


def test_an_older_version_without_scores_does_not_wait() -> None:
    organiser = made_user("grace", ORGANISER)
    version = made_version(slug="tea")
    newer = CorpusVersion.objects.create(
        corpus=version.corpus,
        number=version.number + 1,
        digest="0" * 64,
        format="jsonl",
        aspects=[],
        main_aspect="overall",
        scales={},
    )
    dashboard = queries.organiser_dashboard(organiser, timezone.now())
    assert (newer.systems.count(), dashboard.set_up.to_score) == (0, [])


def test_raters_of_a_campaign_that_closed_meanwhile_were_active() -> None:
    organiser, campaign = made_user("grace", ORGANISER), named("One")
    one = join(campaign, made_user("ada", RATER))
    Participation.objects.filter(pk=one.pk).update(seen_at=timezone.now())
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    dashboard = queries.organiser_dashboard(organiser, timezone.now())
    assert dashboard.campaigns.active_raters == 1


def test_an_organisers_figures_count_the_whole_site() -> None:
    """Two open campaigns and a draft, one open challenge, two raters seen of whom one within a
    week, two submissions today."""
    organiser = made_user("grace", ORGANISER)
    first, _second = named("One"), named("Two")
    named("Three", opened=False)
    for name, days in (("ada", 1), ("bob", 8)):
        one = join(first, made_user(name, RATER))
        Participation.objects.filter(pk=one.pk).update(
            seen_at=timezone.now() - timedelta(days=days)
        )
    round = open_round()
    team, user = team_with_member(round.challenge)
    submit(round, team, user)
    submit(round, team, user)
    dashboard = queries.organiser_dashboard(organiser, timezone.now())
    assert dashboard.campaigns.counts == {"open": 2, "draft": 1}
    assert dashboard.campaigns.active_raters == 1
    assert dashboard.challenges.counts == {"open": 1}
    assert dashboard.challenges.submissions_today == 2
    (shown,) = dashboard.challenges.rounds
    assert (shown.phase, shown.round.teams, shown.round.submission_count) == ("open", 1, 2)


def test_runs_of_judges_stand_apart_from_other_metric_runs() -> None:
    version = made_version()
    for number, (queue, state) in enumerate(
        (("cpu", "pending"), ("cpu", "pending"), ("llm", "pending"))
    ):
        MetricRun.objects.create(
            system=version.systems.first(),
            metric=f"metric_{number}",
            metric_version="1",
            configuration=f"metric_{number}",
            queue=queue,
            state=state,
        )
    dashboard = queries.organiser_dashboard(made_user("grace", ORGANISER), timezone.now())
    assert [(one.judges, one.done, one.queued, one.total) for one in dashboard.runs] == [
        (False, 0, 2, 2),
        (True, 0, 1, 1),
    ]
    assert (dashboard.queued_runs, dashboard.running_runs) == (3, 0)


def test_an_empty_site_says_what_to_do_first() -> None:
    organiser = made_user("grace", ORGANISER)
    steps = next_steps(queries.organiser_dashboard(organiser, timezone.now()).set_up)
    assert [step.title for step, _address in steps if step.is_next] == ["Import a corpus"]
    page = page_of(organiser)
    assert "Nothing waits for you, and nothing has failed." in page
    assert "No challenge is open or being set up." in page


def test_what_is_organised_nobody_else_reads() -> None:
    named("Tea talks")
    named("Later", opened=False)
    open_challenge(name="Next year", state="draft")
    version = made_version()
    failed_run(version)
    for role in (RATER, PARTICIPANT):
        page = page_of(made_user(f"one-{role}", role))
        for text in ("Tea talks", "Later", "Next year", version.corpus.name, "Needs you"):
            assert text not in page, (role, text)


def test_somebody_with_three_roles_reads_three_sections() -> None:
    user = made_user("grace", ORGANISER)
    join(named("Tea talks"), user)
    round = open_round()
    team, _ = team_with_member(round.challenge)
    team.members.update(user=user)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page_of(user))
    assert headings == ["Organiser", "Participant", "Rater"]


def test_every_link_of_the_desk_leads_somewhere() -> None:
    user = made_user("grace", ORGANISER)
    join(named("Tea talks"), user)
    round = open_round()
    team, _ = team_with_member(round.challenge)
    team.members.update(user=user)
    submit(round, team, user)
    failed_run(made_version())
    client = Client()
    client.force_login(user)
    main = client.get("/desk/").content.decode().partition("<main")[2]
    found = {address.partition("#")[0] for address in re.findall(r'href="(/[^"]*)"', main)}
    assert len(found) > 20
    answers = {one: client.get(one).status_code for one in found}
    assert [one for one, status in answers.items() if status >= 400] == []


def test_the_desk_asks_no_more_of_the_database_for_twelve_of_each_than_for_six() -> None:
    user = made_user("grace", ORGANISER)
    client = Client()
    client.force_login(user)
    version = made_version(slug="tea")

    def question_count() -> int:
        cache.clear()
        shares.cache_clear()  # each process keeps a rater's share for 30 s
        with CaptureQueriesContext(connection) as asked:
            assert client.get("/desk/").status_code == 200
        return len(asked)

    def more(number: int) -> None:
        for _ in range(number):
            join(made_campaign(version=version), user)
            made_campaign(version=version, opened=False)
            round = open_round(version)
            team, _ = team_with_member(round.challenge)
            team.members.update(user=user)
            submit(round, team, user)

    more(queries.MOST + 1)
    question_count()  # a first look has workers asked for the leaderboards
    few = question_count()
    more(6)
    question_count()
    assert question_count() <= few <= 88
