"""The first page's links: each role's next step, nobody else's, and a bounded number of questions
to the database."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.campaigns.models import Campaign, Participation
from annotations.models import Corpus
from common.roles import ORGANISER, RATER
from dialeval_site.next_actions import MOST, Next, next_actions
from tests.campaigns.sets import made_campaign, made_user, made_version
from tests.challenges.sets import open_challenge, open_round, submit, team_with_member

pytestmark = pytest.mark.django_db
QUESTIONS = 45
"""Of an organiser's first page with everything on it; some are left for what comes to it."""


def words_of(steps: list[Next]) -> dict[str, str]:
    return {step.words: step.remark for step in steps}


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


def test_a_visitor_is_led_to_the_open_challenge_and_to_no_draft() -> None:
    challenge = open_challenge(name="Spring task")
    open_challenge(name="Secret task", state="draft")
    steps = next_actions(AnonymousUser(), [])
    assert words_of(steps) == {
        "Take part in a challenge": "Spring task.",
        "Log in": "To rate, to submit, or to organise.",
    }
    assert steps[0].href == f"/challenges/{challenge.slug}/"


def test_a_rater_reads_what_to_rate_and_how_far_it_is() -> None:
    """2 systems × 3 dialogues × 2 turns = 12 items, 2 raters each; the only active rater's share is
    all 12."""
    rater = made_user("ada", RATER)
    join(named("Tea talks"), rater)
    paused = named("Another one")
    join(paused, rater)
    paused.state = "paused"
    paused.save()
    assert words_of(next_actions(rater, [])) == {"Rate “Tea talks”": "0 of 12 rated."}


def test_a_rater_who_may_join_is_told_so_and_one_who_failed_the_practice_is_not() -> None:
    rater, campaign = made_user("ada", RATER), named("Tea talks")
    campaign.groups.add(rater.groups.get())
    assert words_of(next_actions(rater, [])) == {"Look at “Tea talks”": "You may join it."}
    one = join(campaign, rater)
    one.qualification = "failed"
    one.save()
    assert "Rate “Tea talks”" not in words_of(next_actions(rater, []))


def test_a_team_reads_its_limits_its_deadline_and_its_latest_submission() -> None:
    """5 a day and 100 in all; one submission counts: 4 and 99 are left."""
    ends = timezone.now() + timedelta(days=3)
    round = open_round(closes_at=ends)
    team, user = team_with_member(round.challenge)
    submit(round, team, user, name="first try")
    (step,) = next_actions(user, [])
    assert step.words == f"Submit to “{round.challenge.name} · {round.name}”"
    assert step.remark == (
        f"4 of 5 attempts left today, 99 of 100 in all. Closes {ends:%Y-%m-%d %H:%M} UTC. Latest: "
        "first try, received."
    )


def test_rounds_that_are_over_or_of_a_disqualified_team_lead_nobody() -> None:
    over = open_round(closes_at=timezone.now() - timedelta(hours=1))
    _, user = team_with_member(over.challenge)
    other = open_round()
    team, disqualified = team_with_member(other.challenge)
    team.disqualified_at, team.disqualification = timezone.now(), "two teams of the same people"
    team.save()
    for one in (user, disqualified):
        assert not [step for step in next_actions(one, []) if step.words.startswith("Submit")]


def test_an_organiser_reads_what_waits_and_trouble_comes_first() -> None:
    organiser = made_user("grace", ORGANISER)
    named("Tea talks")
    named("Later", opened=False)
    open_challenge(name="Next year", state="draft")
    round = open_round()
    team, user = team_with_member(round.challenge)
    submission = submit(round, team, user)
    type(submission).objects.filter(pk=submission.pk).update(
        state="failed", error="the machine was full", ended_at=timezone.now(),
        day=None, day_place=None, total_place=None,
    )  # fmt: skip
    steps = next_actions(organiser, [])
    assert words_of(steps) == {
        f"See to submissions of “{round.challenge.name}”": "1 failed in the last 7 days.",
        "Follow “Tea talks”": "0 of 24 ratings.",
        "Open a campaign": "1 draft waits.",
        "Open “Next year”": "A draft: nobody else sees it.",
    }
    assert [step.is_trouble for step in steps] == [True, False, False, False]


def test_what_one_organises_nobody_else_is_told() -> None:
    named("Tea talks")
    named("Later", opened=False)
    open_challenge(name="Next year", state="draft")
    for user in (AnonymousUser(), made_user("ada", RATER)):
        assert not [
            step for step in next_actions(user, []) if "Tea" in step.words or "year" in step.words
        ]


def test_the_first_page_says_nothing_twice_above_its_parts() -> None:
    made_version(slug="tea")
    Corpus.objects.update(is_public=True)
    page = Client().get("/").content.decode()
    above = re.findall(r"<(?:h\d|figcaption)\b[^>]*>([^<]*)<", page)
    assert above[0] == "Corpora"
    assert len(above) == len(set(above)) == 3, above


def test_the_first_page_asks_no_more_of_the_database_for_twelve_campaigns_than_for_four() -> None:
    organiser = made_user("grace", ORGANISER)
    client = Client()
    client.force_login(organiser)
    version = made_version(slug="tea")
    Corpus.objects.update(is_public=True)

    def questions() -> int:
        cache.clear()
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert client.get("/").status_code == 200
        return len(asked)

    def more(number: int) -> None:
        for _ in range(number):
            join(made_campaign(version=version), organiser)
            team_with_member(open_round(version).challenge)

    more(MOST + 1)
    few = questions()
    more(8)
    assert questions() <= few <= QUESTIONS
