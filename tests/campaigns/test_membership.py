"""Joining a campaign: once, by invitation or group, however often and however many at a time."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from annotations.campaigns.actions.work_queue import CannotJoin, join
from annotations.campaigns.models import Campaign, Invitation, Participation
from tests.at_once import at_once
from tests.campaigns.sets import made_campaign, made_user


@pytest.mark.django_db
def test_raters_are_numbered_as_they_come() -> None:
    campaign = made_campaign()
    assert [join(campaign, made_user()).pseudonym for _ in range(3)] == [
        "rater 1",
        "rater 2",
        "rater 3",
    ]


@pytest.mark.django_db
def test_joining_makes_a_rater_of_a_person() -> None:
    user = made_user()
    join(made_campaign(), user)
    assert user.groups.filter(name="rater").exists()


@pytest.mark.django_db
def test_joining_twice_is_joining_once() -> None:
    campaign, user = made_campaign(), made_user()
    invitation = Invitation.objects.create(campaign=campaign, most_uses=5)
    assert join(campaign, user, invitation) == join(campaign, user, invitation)
    invitation.refresh_from_db()
    assert invitation.uses == 1


@pytest.mark.django_db
def test_orders_begin_anywhere_in_the_campaign() -> None:
    campaign = made_campaign(dialogues=10, turns=5, k=2)  # 200 slots
    starts = [join(campaign, made_user()).start for _ in range(12)]
    assert all(0 <= start < 200 for start in starts)
    assert len(set(starts)) > 6
    assert Participation.objects.first().cursor == Participation.objects.first().start


@pytest.mark.django_db
def test_a_collection_has_no_slots_and_is_joined_all_the_same() -> None:
    assert join(made_campaign("collection"), made_user()).start == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "draft", "opened_at": None}, "not open yet"),
        ({"state": "closed"}, "closed"),
        ({"closes_at": timezone.now() - timedelta(days=1)}, "closed"),
    ],
)
def test_drafts_and_closed_campaigns_cannot_be_joined(
    change: dict[str, object], message: str
) -> None:
    campaign = made_campaign()
    Campaign.objects.filter(pk=campaign.pk).update(**change)
    invitation = Invitation.objects.create(campaign=campaign)
    user = made_user()
    with pytest.raises(CannotJoin, match=message):
        join(campaign, user, invitation)
    invitation.refresh_from_db()
    assert invitation.uses == 0
    assert not user.groups.exists()


@pytest.mark.django_db
def test_a_paused_campaign_can_be_joined() -> None:
    campaign = made_campaign()
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert join(campaign, made_user()).position == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"revoked_at": timezone.now()}, "withdrawn"),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, "expired"),
        ({"most_uses": 2, "uses": 2}, "as often as it may"),
    ],
)
def test_an_invitation_that_is_over_is_refused(fields: dict[str, object], message: str) -> None:
    campaign = made_campaign()
    with pytest.raises(CannotJoin, match=message):
        join(campaign, made_user(), Invitation.objects.create(campaign=campaign, **fields))
    assert not campaign.participations.exists()


@pytest.mark.django_db
def test_an_invitation_to_another_campaign_is_refused() -> None:
    elsewhere = Invitation.objects.create(campaign=made_campaign())
    with pytest.raises(CannotJoin, match="not valid"):
        join(made_campaign(), made_user(), elsewhere)


@pytest.mark.django_db
def test_who_is_in_stays_in_when_the_invitation_is_withdrawn() -> None:
    campaign, user = made_campaign(), made_user()
    first = join(campaign, user, Invitation.objects.create(campaign=campaign))
    assert (
        join(
            campaign, user, Invitation.objects.create(campaign=campaign, revoked_at=timezone.now())
        )
        == first
    )


@pytest.mark.django_db(transaction=True)
def test_many_who_join_at_once_get_numbers_without_a_gap() -> None:
    campaign = made_campaign()
    joined = at_once(*[partial(join, campaign, made_user()) for _ in range(8)])
    assert sorted(one.position for one in joined) == list(range(8))


@pytest.mark.django_db(transaction=True)
def test_one_person_who_clicks_many_times_joins_once() -> None:
    campaign, user = made_campaign(), made_user()
    invitation = Invitation.objects.create(campaign=campaign)
    assert len({one.pk for one in at_once(*[lambda: join(campaign, user, invitation)] * 6)}) == 1
    invitation.refresh_from_db()
    assert invitation.uses == 1


@pytest.mark.django_db(transaction=True)
def test_the_last_use_of_an_invitation_is_used_once() -> None:
    campaign = made_campaign()
    invitation = Invitation.objects.create(campaign=campaign, most_uses=3)
    results = at_once(*[partial(join, campaign, made_user(), invitation) for _ in range(7)])
    assert sum(isinstance(one, Participation) for one in results) == 3
    assert campaign.participations.count() == 3
