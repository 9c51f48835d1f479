"""What the audit log keeps of a campaign: every step of an organiser, and ratings that are not
ordinary."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotations.campaigns.actions import checks, harvest, invitations, publishing, quality, setup
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate
from annotations.campaigns.models import Assignment, Campaign, Item, Slot
from annotations.models import AuditEntry
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version

pytestmark = pytest.mark.django_db


def entry(action: str) -> AuditEntry:
    return AuditEntry.objects.get(action=action)


def actions_of(campaign: Campaign) -> list[str]:
    return list(
        AuditEntry.objects.filter(campaign=campaign.slug)
        .order_by("pk")
        .values_list("action", flat=True)
    )


@pytest.fixture
def olga() -> Any:
    return made_user("olga", "organiser")


def test_the_course_of_a_campaign(olga) -> None:
    version = made_version(["one", "two"], 2, 1)
    asked = setup.CampaignParams(
        name="First", kind="turn", version=version, systems=list(version.systems.all()), seed=3
    )
    campaign = setup.create(asked, by=olga)
    setup.write_guidelines(campaign, "Read first.", by=olga)
    setup.write_guidelines(campaign, "Read first.", by=olga)  # the same text is no new version
    setup.open_campaign(campaign, by=olga)
    setup.pause(campaign, by=olga)
    setup.resume(campaign, by=olga)
    setup.close(campaign, by=olga)
    setup.delete(campaign, by=olga)
    steps = [
        "campaign.created",
        "guidelines.written",
        "campaign.opened",
        "campaign.paused",
        "campaign.resumed",
    ]
    assert actions_of(campaign) == [*steps, "campaign.closed", "campaign.deleted"]
    assert set(AuditEntry.objects.values_list("actor", flat=True)) == {"olga"}
    assert entry("campaign.created").details["settings"]["systems"] == ["one", "two"]
    assert entry("campaign.opened").details == {"items": 4, "slots": 8, "seed": 3}
    assert entry("campaign.deleted").details["ratings"] == 0


def test_a_change_is_kept_with_what_was_before(olga) -> None:
    campaign = made_campaign(systems=["one"], opened=False, k=2)
    asked = setup.CampaignParams(
        name="Renamed",
        kind="turn",
        version=campaign.version,
        systems=list(campaign.systems.all()),
        raters_per_item=3,
    )
    setup.edit(campaign, asked, by=olga)
    changes = entry("campaign.changed").details["changes"]
    assert changes["name"] == [campaign.name, "Renamed"]
    assert changes["raters_per_item"] == [2, 3]
    assert "systems" not in changes


def test_a_change_of_nothing_is_no_entry(olga) -> None:
    campaign = made_campaign(systems=["one"])
    setup.edit(campaign, setup.CampaignParams(name=campaign.name, kind="turn"), by=olga)
    assert not AuditEntry.objects.filter(action="campaign.changed").exists()


def test_a_step_that_was_not_taken_leaves_no_entry(olga) -> None:
    campaign = made_campaign(systems=["one"])
    setup.pause(campaign, by=olga)
    with pytest.raises(setup.WrongState):
        setup.pause(campaign, by=olga)
    assert AuditEntry.objects.filter(action="campaign.paused").count() == 1


def test_a_step_of_a_command_names_nobody() -> None:
    setup.pause(made_campaign(systems=["one"]))
    assert (entry("campaign.paused").actor_id, entry("campaign.paused").actor) == (None, "")


def test_invitations_are_noted_without_the_secret_in_their_link(olga) -> None:
    campaign = made_campaign(systems=["one"])
    invitation = invitations.invite(campaign, "the lab", 5, by=olga)
    assert invitations.revoke(invitation, by=olga)
    assert not invitations.revoke(invitation, by=olga)
    assert actions_of(campaign) == ["invitation.made", "invitation.revoked"]
    assert entry("invitation.made").details["most_uses"] == 5
    assert invitation.token not in str(list(AuditEntry.objects.values()))


def test_who_was_excluded_why_and_taken_back(olga) -> None:
    campaign = made_campaign(systems=["one"])
    rater = made_raters(campaign, 1)[0]
    quality.exclude(rater, "answers in a second", by=olga)
    quality.restore(rater, by=olga)
    assert entry("rater.excluded").details["reason"] == "answers in a second"
    assert entry("rater.excluded").details["account"] == rater.user.username
    assert actions_of(campaign) == ["rater.excluded", "rater.restored"]


def test_stakes_are_noted_once(olga) -> None:
    system = made_version(["one"]).systems.get()
    user = made_user("rita")
    for _ in range(2):
        quality.declare_conflict(user, system, by=olga)
    for _ in range(2):
        quality.withdraw_conflict(user, system, by=olga)
    found = AuditEntry.objects.order_by("pk").values_list("action", "subject", "details__system")
    assert list(found) == [
        ("conflict.declared", "rita", "one"),
        ("conflict.withdrawn", "rita", "one"),
    ]


def judged(rater: Any, score: int, key: str) -> None:
    held = (
        Assignment.objects.filter(participation=rater).order_by("position").first()
        or fill_queue(rater).assignments[0]
    )
    rate(rater, held.item.public_id, Judgement(key=key, score=score))


def test_an_ordinary_rating_is_its_own_note_and_a_revision_is_noted() -> None:
    campaign = made_campaign(systems=["one"])
    rater = made_raters(campaign, 1)[0]
    judged(rater, 4, "key-0001")
    judged(rater, 4, "key-0001")  # the same once more
    assert actions_of(campaign) == []
    judged(rater, 2, "key-0002")
    noted = entry("rating.revised")
    assert (noted.actor, noted.details["before"], noted.details["score"]) == (
        rater.user.username,
        4,
        2,
    )
    assert noted.details["rater"] == rater.pseudonym


def test_a_rating_that_came_after_its_lease_is_noted() -> None:
    campaign = made_campaign(systems=["one"])
    rater = made_raters(campaign, 1)[0]
    held = fill_queue(rater).assignments[0]
    Slot.objects.filter(holder=held).update(holder=None)
    Assignment.objects.filter(pk=held.pk).update(
        state=Assignment.State.RETURNED, lease_expires_at=None
    )
    rate(rater, held.item.public_id, Judgement(key="key-0001", score=5))
    assert actions_of(campaign) == ["rating.late"]


def test_publication_and_its_removal(olga) -> None:
    campaign = made_campaign(systems=["one"])
    judged(made_raters(campaign, 1)[0], 4, "key-0001")
    setup.close(campaign)
    publishing.publish(campaign, by=olga)
    publishing.unpublish(campaign, by=olga)
    assert entry("campaign.published").details["ratings"] == 1
    assert (
        entry("campaign.unpublished").details["aspect"]
        == entry("campaign.published").details["aspect"]
    )


def test_a_check_item_that_goes_is_noted(olga) -> None:
    campaign = made_campaign(systems=["one"], training=[(4, 5)])
    checks.delete_check(campaign.items.get(role=Item.Role.TRAINING), by=olga)
    assert entry("check.deleted").details["role"] == "training"


def test_leaving_out_a_dialogue_that_is_not_there_is_no_entry(olga) -> None:
    campaign = made_campaign("collection", dialogues_per_system=1)
    assert not harvest.leave_out(campaign, "nothing", True, by=olga)
    assert actions_of(campaign) == []


def test_the_pages_say_who_did_it(olga) -> None:
    campaign = made_campaign(systems=["one"])
    client = Client()
    client.force_login(olga)
    client.post(f"/campaigns/{campaign.slug}/state/", {"to": "pause"})
    assert entry("campaign.paused").actor == "olga"
