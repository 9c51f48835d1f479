"""The date of the release in a round's form: a slip would show the private leaderboard for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.challenges.actions import judging, rounds
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.models import Round
from tests.campaigns.sets import made_user
from tests.challenges.organising import page_of, round_form, said
from tests.challenges.sets import (
    as_requested,
    open_challenge,
    open_round,
    small_version,
    submit,
    team_with_member,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now()
PASSED, STILL_OPEN = "This moment has passed.", "still open then"


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


def written(moment: datetime | None) -> str:
    """As the form has it."""
    return moment.strftime("%Y-%m-%dT%H:%M") if moment else ""


def days(count: int | None) -> datetime | None:
    return None if count is None else NOW + timedelta(days=count)


def stored_with(organiser: Client, round: Round, **changes: Any) -> str:
    """What the settings say once they are sent with these changes of what the round has; None sends
    nothing of a field, as a browser of one that is settled."""
    names = ("opens_at", "closes_at", "release_at")
    dates = {name: written(getattr(round, name)) for name in names}
    given = {**dates, "slug": round.slug, "public_share": "50", **changes}
    data = {
        name: value
        for name, value in round_form(round.version, **given).items()
        if value is not None
    }
    answer = organiser.post(
        reverse("round-settings", args=[round.challenge.slug, round.slug]), data, follow=True
    )
    return answer.content.decode()


@pytest.mark.parametrize(
    ("closes", "releases", "words"),
    [
        (None, -1, PASSED),
        (-2, -1, PASSED),
        (3, 2, STILL_OPEN),
        (3, 3, ""),
        (3, 4, ""),
        (None, 1, ""),
        (3, None, ""),
    ],
)
def test_a_new_round_is_released_at_its_end_or_later(
    organiser: Client, closes: int | None, releases: int | None, words: str
) -> None:
    data = round_form(
        small_version(), closes_at=written(days(closes)), release_at=written(days(releases))
    )
    answer = organiser.post(reverse("round-new", args=[open_challenge().slug]), data)
    assert (words in answer.content.decode(), Round.objects.exists()) == (True, not words)


@pytest.mark.parametrize("has_submissions", [False, True])
def test_a_date_that_is_slipped_into_the_past_releases_nothing(
    organiser: Client, has_submissions: bool
) -> None:
    round = open_round(public_share=0.5, release_at=days(3))
    if has_submissions:
        submit(round, team_with_member(round.challenge)[0])
    assert PASSED in stored_with(organiser, round, release_at=written(days(-3)))
    assert Round.objects.get().release_at == days(3)


def test_who_lets_the_round_close_later_releases_it_later(organiser: Client) -> None:
    round = open_round(public_share=0.5, closes_at=days(3), release_at=days(3))
    assert STILL_OPEN in stored_with(organiser, round, closes_at=written(days(5)))
    stored_with(organiser, round, closes_at=written(days(5)), release_at=written(days(5)))
    stored = Round.objects.get()
    assert (written(stored.closes_at), written(stored.release_at)) == (
        written(days(5)),
        written(days(5)),
    )


@pytest.mark.parametrize(("closes", "releases"), [(None, -3), (-4, -3), (3, -3), (3, 2)])
def test_dates_that_the_round_has_already_hold_up_no_other_change(
    organiser: Client, closes: int | None, releases: int
) -> None:
    round = open_round(public_share=0.5, closes_at=days(closes), release_at=days(releases))
    assert "The settings are stored." in stored_with(organiser, round, daily_limit="9")
    assert Round.objects.get().daily_limit == 9


def test_a_round_that_was_released_early_may_close_later(organiser: Client) -> None:
    round = open_round(public_share=0.5, closes_at=days(3))
    submit(round, team_with_member(round.challenge)[0])
    arguments = [round.challenge.slug, round.slug]
    said(organiser, "round-release", *arguments)
    released = Round.objects.get().release_at
    assert "What was seen cannot be hidden again." in page_of(
        organiser, "round-settings", *arguments
    )
    assert "The settings are stored." in stored_with(
        organiser, round, closes_at=written(days(5)), release_at=None
    )
    assert Round.objects.get().release_at == released


# --- whoever writes it, with whatever in hand -----------------------------------------------------


@pytest.mark.parametrize(("closes", "releases", "words"), [(None, -1, PASSED), (3, 2, STILL_OPEN)])
def test_a_round_that_no_form_has_seen_is_released_at_its_end_or_later(
    closes: int | None, releases: int, words: str
) -> None:
    params = {"slug": "", "closes_at": days(closes), "release_at": days(releases)}
    asked = replace(as_requested(open_round(public_share=0.5)), **params)
    with pytest.raises(Refused, match=words) as refusal:
        rounds.create_round(Round.objects.get().challenge, asked)
    assert refusal.value.field == "release_at"
    assert Round.objects.count() == 1


def test_a_date_may_stay_that_the_round_has_now_not_one_that_it_had_when_the_form_was_opened() -> (
    None
):
    opened = open_round(public_share=0.5, closes_at=days(3), release_at=days(2))
    asked = replace(as_requested(opened), daily_limit=9)
    Round.objects.update(release_at=days(4))  # by somebody else meanwhile
    with pytest.raises(Refused, match=STILL_OPEN):
        rounds.edit_round(opened, asked)
    assert Round.objects.get().release_at == days(4)


def test_no_change_sets_a_date_that_has_passed() -> None:
    opened = open_round(public_share=0.5, release_at=days(4))
    with pytest.raises(Refused, match=PASSED):
        rounds.edit_round(opened, replace(as_requested(opened), release_at=days(-1)))
    assert Round.objects.get().release_at == days(4)


def test_who_released_early_may_go_on_changing_the_round() -> None:
    round = judging.release(open_round(public_share=0.5, closes_at=days(3), release_at=days(3)))
    assert rounds.edit_round(round, replace(as_requested(round), daily_limit=9)).daily_limit == 9
