"""Raters who can be taken out of a campaign: no access at once, and what they rated stays under
their name."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import collection, invitations
from annotations.campaigns.actions.quality import remove, restore
from annotations.campaigns.actions.work_queue import (
    CannotJoin,
    Judgement,
    RatingsClosed,
    fill_queue,
    join,
    rate,
    renew,
)
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Participation,
    RatingRevision,
    Room,
    Slot,
)
from annotations.campaigns.queries.ratings import counted_ratings
from annotations.models import AuditEntry
from tests.at_once import at_once
from tests.campaigns.judged import table
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Four items of one system, k = 2; two raters judged all of them."""
    campaign = made_campaign(systems=["one"], dialogues=2, turns=2)
    table(campaign, made_raters(campaign, 2), {0: [1, 2, 3, 4], 1: [5, 5, 5, 5]})
    return campaign


@pytest.fixture
def organiser() -> Any:
    return made_user("olga", "organiser")


def rater(campaign: Campaign, number: int) -> Participation:
    return campaign.participations.get(position=number - 1)


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("keeps_ratings", "free", "state"), [(True, 0, "active"), (False, 4, "excluded")]
)
def test_the_organiser_chooses_whether_the_ratings_of_a_removed_rater_count(
    campaign: Campaign, organiser: Any, keeps_ratings: bool, free: int, state: str
) -> None:
    assert remove(rater(campaign, 2), "a leaked link", keeps_ratings, organiser) == free
    removed = rater(campaign, 2)
    assert (removed.state, removed.removed_at is None) == (state, False)
    assert Slot.objects.filter(campaign=campaign, holder__isnull=True).count() == free
    assert len(counted_ratings(campaign)) == 8 - free
    assert RatingRevision.objects.filter(assignment__participation=removed).count() == 4, (
        "attributed as before"
    )
    entry = AuditEntry.objects.get(action="rater.removed")
    assert (entry.actor, entry.subject, entry.details["ratings_count"]) == (
        "olga",
        "rater 2",
        keeps_ratings,
    )
    assert entry.details["reason"] == "a leaked link"


def test_a_removed_rater_has_no_access_at_once() -> None:
    campaign, user = made_campaign(), made_user("mallory")
    participation = join(campaign, user)
    client = client_of(user)
    fill_queue(participation)
    names = ("rating-start", "rating-work", "rating-guidelines")
    assert [client.get(reverse(name, args=[campaign.slug])).status_code for name in names] != [
        404
    ] * 3
    remove(participation, "a leaked link", keeps_ratings=True)
    for name in names:
        assert client.get(reverse(name, args=[campaign.slug])).status_code == 404, name
    for name in ("rating-submit", "rating-skip", "rating-heartbeat", "rating-leave"):
        assert client.post(reverse(name, args=[campaign.slug])).status_code == 404, name
    assert campaign.name not in client.get(reverse("rate")).content.decode()


def test_what_a_removed_rater_held_is_free_for_others_and_nothing_more_is_taken_or_given() -> None:
    campaign = made_campaign()
    participation = join(campaign, made_user())
    held = fill_queue(participation).assignments
    remove(participation, "a leaked link", keeps_ratings=True)
    assert not Slot.objects.filter(holder__in=held).exists()
    assert set(Assignment.objects.values_list("state", flat=True)) == {"returned"}
    assert fill_queue(participation).assignments == ()
    assert renew(participation) is None
    with pytest.raises(RatingsClosed):
        rate(participation, held[0].item.public_id, Judgement(key="late", score=3))
    assert not RatingRevision.objects.exists()


def test_a_removed_writer_s_room_ends_for_the_partner_too() -> None:
    campaign = made_campaign("collection")
    one, two = made_raters(campaign, 2)
    collection.meet(one)
    room = collection.meet(two)
    remove(two, "a leaked link", keeps_ratings=True)
    room.refresh_from_db()
    assert room.state == Room.State.ABANDONED
    with pytest.raises(collection.NoFreeChat):
        collection.meet(two)


def test_no_link_and_no_group_lets_a_removed_rater_in_again() -> None:
    campaign, user = made_campaign(), made_user("mallory", "rater")
    campaign.groups.set(user.groups.all())
    remove(join(campaign, user), "a leaked link", keeps_ratings=False)
    for invitation in (None, invitations.invite(campaign)):
        with pytest.raises(CannotJoin, match="removed you"):
            join(campaign, user, invitation)
    client = client_of(user)
    link = reverse("campaign-join", args=[invitations.invite(campaign).token])
    answer = client.post(link)
    assert (answer.status_code, "removed you" in answer.content.decode()) == (410, True)
    assert client.get(reverse("rating-start", args=[campaign.slug])).status_code == 404


def test_a_removed_rater_can_be_taken_back(campaign: Campaign, organiser: Any) -> None:
    remove(rater(campaign, 2), "a mistake", keeps_ratings=True)
    restore(rater(campaign, 2), organiser)
    assert rater(campaign, 2).takes_part
    remove(rater(campaign, 2), "a mistake again", keeps_ratings=False)
    assert restore(rater(campaign, 2), organiser).counted == 4
    assert rater(campaign, 2).takes_part


def test_an_excluded_rater_can_be_removed_too(campaign: Campaign) -> None:
    remove(rater(campaign, 2), "too fast", keeps_ratings=False)
    remove(rater(campaign, 2), "too fast", keeps_ratings=False)
    assert AuditEntry.objects.filter(action="rater.removed").count() == 1


def test_the_page_asks_whether_ratings_count_before_it_removes(
    campaign: Campaign, organiser: Any
) -> None:
    client = client_of(organiser)
    place = reverse("rater-remove", args=[campaign.slug, 2])
    answer = client.post(place, {"removal-reason": "a leaked link"})
    assert answer.status_code == 422
    assert rater(campaign, 2).takes_part
    form = {"removal-reason": "a leaked link", "removal-ratings": "exclude"}
    answer = client.post(place, form, follow=True)
    assert "Ratings that no longer count: 4." in answer.content.decode()
    assert "no link lets this person in" in answer.content.decode()
    assert rater(campaign, 2).removed_at is not None


def test_a_link_of_a_disabled_account_lets_nobody_in(organiser: Any) -> None:
    campaign = made_campaign()
    invitation = invitations.invite(campaign, "leaked", by=organiser)
    type(organiser).objects.filter(pk=organiser.pk).update(is_active=False)
    with pytest.raises(CannotJoin):
        join(campaign, made_user(), invitation)
    assert Client().get(reverse("campaign-join", args=[invitation.token])).status_code == 410
    page = client_of(made_user("mara", "organiser")).get(reverse("campaign", args=[campaign.slug]))
    assert "the account that made it is disabled" in page.content.decode()


def test_the_form_of_a_link_offers_fourteen_days(organiser: Any) -> None:
    campaign = made_campaign()
    text = client_of(organiser).get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert f'value="{timezone.now() + timedelta(days=14):%Y-%m-%dT%H:}' in text


@pytest.mark.django_db(transaction=True)
def test_a_rating_at_the_moment_of_the_removal_is_stored_whole_or_refused() -> None:
    campaign = made_campaign()
    participation = join(campaign, made_user())
    (assignment,) = fill_queue(participation, want=1).assignments
    judgement = Judgement(key="at once", score=3)
    removed, rated = at_once(
        partial(remove, participation, "a leaked link", True),
        partial(rate, participation, assignment.item.public_id, judgement),
    )
    assert removed == 0
    stored = RatingRevision.objects.count()
    assert stored == (0 if isinstance(rated, Exception) else 1)
    assert isinstance(rated, RatingsClosed) or stored == 1
    held = Slot.objects.filter(campaign=campaign, holder__isnull=False).count()
    assert held == stored
    assert not Assignment.objects.filter(state="leased").exists()
