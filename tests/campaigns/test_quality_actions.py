"""Whose ratings count: exclusion, restoration, stakes in systems."""

from __future__ import annotations

from functools import partial

import pytest

from annotations.campaigns.actions import collection
from annotations.campaigns.actions.quality import (
    declare_conflict,
    exclude,
    restore,
    withdraw_conflict,
)
from annotations.campaigns.actions.work_queue import Judgement, RatingsClosed, fill_queue, rate
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conflict,
    Participation,
    RatingRevision,
    Slot,
)
from annotations.campaigns.queries.ratings import campaign_matrix, counted_ratings
from tests.at_once import at_once
from tests.campaigns.judged import items_of, judge, table
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Four items of one system, k = 2; two raters judged all of them."""
    campaign = made_campaign(systems=["one"], dialogues=2, turns=2)
    table(campaign, made_raters(campaign, 2), {0: [1, 2, 3, 4], 1: [5, 5, 5, 5]})
    return campaign


def rater(campaign: Campaign, number: int) -> Participation:
    return campaign.participations.get(position=number - 1)


def test_exclusion_frees_the_places_and_keeps_the_ratings(campaign: Campaign) -> None:
    assert exclude(rater(campaign, 2), "always 5") == 4
    excluded = rater(campaign, 2)
    assert (excluded.state, excluded.exclusion_reason, excluded.excluded_at is None) == (
        "excluded",
        "always 5",
        False,
    )
    assert Slot.objects.filter(campaign=campaign, holder__isnull=True).count() == 4
    assert RatingRevision.objects.filter(assignment__participation=excluded).count() == 4


def test_exclusion_takes_back_what_is_in_hand(campaign: Campaign) -> None:
    (one,) = made_raters(campaign, 1)
    exclude(rater(campaign, 2), "to make room")
    assignment = judge(one, items_of(campaign)[0], 3)
    Assignment.objects.filter(pk=assignment.pk).update(
        state=Assignment.State.LEASED, current=None, lease_expires_at=assignment.claimed_at
    )
    exclude(one, "gone")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.lease_expires_at) == ("returned", None)
    assert not Slot.objects.filter(holder=assignment).exists()


def test_exclusion_tells_stored_statistics(campaign: Campaign) -> None:
    before = campaign.changes
    exclude(rater(campaign, 2), "always 5")
    campaign.refresh_from_db()
    assert campaign.changes == before + 1


def test_excluding_again_only_changes_the_reason(campaign: Campaign) -> None:
    exclude(rater(campaign, 2), "always 5")
    assert exclude(rater(campaign, 2), "always 5, in 3 s each") == 0
    assert rater(campaign, 2).exclusion_reason == "always 5, in 3 s each"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "nul \0"])
def test_an_exclusion_without_a_storable_reason_is_refused(campaign: Campaign, reason: str) -> None:
    with pytest.raises(ValueError, match="the reason"):
        exclude(rater(campaign, 2), reason)
    assert rater(campaign, 2).state == "active"


def test_others_are_given_the_places(campaign: Campaign) -> None:
    """All places were held, so the third rater had nothing to do; then four are free."""
    (third,) = made_raters(campaign, 1, qualification="passed")
    assert fill_queue(third).why_empty == "finished"
    exclude(rater(campaign, 2), "always 5")
    assert len(fill_queue(third).assignments) == 2


def test_an_excluded_rater_cannot_rate_any_more(campaign: Campaign) -> None:
    third, _ = made_raters(campaign, 2, qualification="passed")
    exclude(rater(campaign, 2), "to make room")
    item = fill_queue(third).assignments[0].item
    exclude(third, "gone")
    with pytest.raises(RatingsClosed):
        rate(third, item.public_id, Judgement(key="late", score=3))


def test_what_the_rater_changes_later_stays_out_of_the_count(campaign: Campaign) -> None:
    """A rating without a place is only revised: it does not take a place that meanwhile belongs to
    others."""
    system = campaign.version.systems.get()
    declare_conflict(rater(campaign, 1).user, system)
    rate(rater(campaign, 1), items_of(campaign)[0].public_id, Judgement(key="again", score=5))
    assert counted_ratings(campaign).filter(participation=rater(campaign, 1)).count() == 0


def test_restoring_takes_the_places_back(campaign: Campaign) -> None:
    exclude(rater(campaign, 2), "a mistake")
    restored = restore(rater(campaign, 2))
    assert (restored.counted, restored.full) == (4, 0)
    back = rater(campaign, 2)
    assert (back.state, back.exclusion_reason, back.excluded_at) == ("active", "", None)
    assert counted_ratings(campaign).count() == 8


def test_restoring_leaves_places_that_others_have_filled(campaign: Campaign) -> None:
    """k = 2: the third rater judges two of the four items meanwhile, so two ratings count again and
    two do not."""
    exclude(rater(campaign, 2), "under inquiry")
    (third,) = made_raters(campaign, 1)
    for item in items_of(campaign)[:2]:
        judge(third, item, 3)
    restored = restore(rater(campaign, 2))
    assert (restored.counted, restored.full) == (2, 2)
    assert {item.slots.filter(holder__isnull=False).count() for item in items_of(campaign)} == {2}
    scores = campaign_matrix(campaign).matrix.scores
    assert (~(scores != scores)).sum() == 8  # 4 of rater 1, 2 of rater 2, 2 of rater 3


def test_restoring_who_is_not_excluded_changes_nothing(campaign: Campaign) -> None:
    restored = restore(rater(campaign, 1))
    campaign.refresh_from_db()
    assert (restored.counted, restored.full, campaign.changes) == (0, 0, 0)


def test_a_stake_takes_ratings_of_that_system_out_of_the_count() -> None:
    campaign = made_campaign(systems=["own", "other"], dialogues=1, turns=2)
    (one,) = made_raters(campaign, 1)
    table(campaign, [one], {0: [5, 5, 2, 2]})
    own = campaign.version.systems.get(name="own")
    assert declare_conflict(one.user, own) == 2
    assert set(counted_ratings(campaign).values_list("item__system__name", flat=True)) == {"other"}
    restored = withdraw_conflict(one.user, own)
    assert ((restored.counted, restored.full), Conflict.objects.exists()) == ((2, 0), False)


def test_a_stake_noted_twice_is_one(campaign: Campaign) -> None:
    system = campaign.version.systems.get()
    person = rater(campaign, 1).user
    assert [declare_conflict(person, system) for _ in range(2)] == [4, 0]
    assert Conflict.objects.count() == 1


def test_restoring_leaves_out_what_the_rater_has_a_stake_in(campaign: Campaign) -> None:
    exclude(rater(campaign, 2), "own team")
    declare_conflict(rater(campaign, 2).user, campaign.version.systems.get())
    assert restore(rater(campaign, 2)).counted == 0


@pytest.mark.django_db(transaction=True)
def test_two_restorations_at_once_take_each_place_once(campaign: Campaign) -> None:
    exclude(rater(campaign, 1), "a")
    exclude(rater(campaign, 2), "b")
    people = [rater(campaign, 1), rater(campaign, 2), rater(campaign, 2)]
    outcomes = at_once(*[partial(restore, person) for person in people])
    assert sorted(one.counted for one in outcomes) == [0, 4, 4]
    assert counted_ratings(campaign).count() == 8


def test_checks_of_a_system_in_which_the_rater_has_a_stake_are_never_shown() -> None:
    """Both training items and both attention items are the own team's answers: nothing of them is
    given."""
    campaign = made_campaign(
        systems=["own", "other"],
        dialogues=4,
        training=[(1, 2)] * 2,
        attention=[(1, 1)] * 2,
        attention_every=2,
    )
    own = campaign.systems.get(name="own")
    campaign.items.exclude(role="regular").update(system=own)
    (one,) = made_raters(campaign, 1)
    assert fill_queue(one).assignments[0].item.role == "training"
    declare_conflict(one.user, own)
    seen = set()
    while given := fill_queue(one).assignments:
        seen.add(given[0].item.system.name)
        rate(one, given[0].item.public_id, Judgement(f"key {len(seen)} {given[0].pk}", 3))
    assert seen == {"other"}
    assert one.qualification == "passed"


def test_who_is_excluded_writes_no_more_and_the_partner_is_free() -> None:
    campaign = made_campaign("collection", dialogues_per_system=3, utterances=4)
    excluded, partner, third = made_raters(campaign, 3)
    collection.meet(excluded)
    room = collection.meet(partner)
    exclude(excluded, "insults")
    with pytest.raises(collection.ChatClosed):
        collection.say(excluded, room.public_id, "And another thing", "k1")
    assert collection.meet(partner).pk != room.pk
    assert collection.meet(third).rater_a == partner
