"""Who passed a campaign's training items becomes a group, to which a collection can be opened."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from annotations.campaigns.access import may_join
from annotations.campaigns.actions.qualification import Qualification, group_qualified
from annotations.campaigns.actions.quality import exclude
from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.queries.ratings import qualified
from annotations.models import AuditEntry
from common.roles import ORGANISER
from tests.campaigns.rating_browser import browser_of
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


def with_a_test(**fields: object) -> tuple[Campaign, Participation, Participation]:
    """A campaign with a test, one rater who passed it and one who failed."""
    campaign = made_campaign(training=[(4, 5)], pass_mark=0.5, **fields)  # type: ignore[arg-type]
    [passed] = made_raters(campaign, 1, qualification=Qualification.PASSED)
    [failed] = made_raters(campaign, 1, qualification=Qualification.FAILED)
    return campaign, passed, failed


def test_a_collection_opened_to_the_group_admits_who_passed_alone() -> None:
    campaign, passed, failed = with_a_test()
    group, count = group_qualified(campaign)
    collection = made_campaign("collection")
    collection.groups.add(group)
    assert count == 1
    assert may_join(passed.user, collection.slug)
    assert not may_join(failed.user, collection.slug)
    assert browser_of(passed.user).get(f"/rate/{collection.slug}/").status_code != 404
    assert browser_of(failed.user).get(f"/rate/{collection.slug}/").status_code == 404


def test_again_it_adds_who_passed_since_and_notes_it() -> None:
    campaign, _, failed = with_a_test()
    group_qualified(campaign)
    assert group_qualified(campaign)[1] == 0
    failed.qualification = Qualification.PASSED
    failed.save()
    group, count = group_qualified(campaign)
    assert (count, group.user_set.count()) == (1, 2)
    assert AuditEntry.objects.filter(action="rater.grouped", campaign=campaign.slug).count() == 2


def test_without_a_test_nobody_is_qualified() -> None:
    """Everybody passes a campaign that has no training items or no pass mark."""
    without_mark = made_campaign(training=[(4, 5)])
    without_items = made_campaign(pass_mark=0.5)
    for campaign in (without_mark, without_items):
        made_raters(campaign, 1, qualification=Qualification.PASSED)
        assert not qualified(campaign).exists()


def test_excluded_raters_are_left_out() -> None:
    campaign, passed, _ = with_a_test()
    exclude(passed, "careless")
    assert group_qualified(campaign)[1] == 0


def test_the_organiser_makes_the_group_on_the_page_of_checks() -> None:
    campaign, passed, _ = with_a_test()
    organiser = browser_of(made_user("", ORGANISER))
    address = f"/campaigns/{campaign.slug}/checks/"
    assert "Put them into a group" in organiser.get(address).content.decode()
    page = organiser.post(address, {"action": "group"}, follow=True).content.decode()
    assert f"1 rater who passed was added to the group qualified: {campaign.slug}." in page
    assert list(Group.objects.get(name=f"qualified: {campaign.slug}").user_set.all()) == [
        passed.user
    ]


def test_a_rater_cannot_make_the_group() -> None:
    campaign, passed, _ = with_a_test()
    rater: Client = browser_of(passed.user)
    rater.post(f"/campaigns/{campaign.slug}/checks/", {"action": "group"})
    assert not Group.objects.filter(name__startswith="qualified").exists()
