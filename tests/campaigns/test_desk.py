"""What a rater is given: free slots; kept, given back, skipped."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from annotations.campaigns.actions import claims, work_queue
from annotations.campaigns.actions.work_queue import (
    Judgement,
    NotHanded,
    fill_queue,
    give_back,
    rate,
    renew,
    skip,
)
from annotations.campaigns.models import Assignment, Campaign, Conflict, Participation, Slot
from tests.campaigns.rating_all import rate_all
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db
State = Assignment.State


def let_leases_end(rater: Participation) -> None:
    Assignment.objects.filter(participation=rater, state=State.LEASED).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


# --- being given items ----------------------------------------------------------------------------


def test_two_items_are_in_hand_the_current_and_the_next() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_queue(rater)
    assert [one.position for one in given.assignments] == [0, 1]
    assert Slot.objects.filter(holder__participation=rater).count() == 2
    assert given.why_empty == ""


def test_asking_again_gives_the_same_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert fill_queue(rater).assignments == fill_queue(rater).assignments


def test_asking_for_one_item_claims_one() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert len(fill_queue(rater, want=1).assignments) == 1


def test_the_next_item_follows_when_the_first_is_rated() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    first, second = fill_queue(rater).assignments
    rate(rater, first.item.public_id, Judgement(key="a", score=4))
    following = fill_queue(rater).assignments
    assert following[0] == second
    assert [one.position for one in following] == [1, 2]


@pytest.mark.parametrize(("kind", "items"), [("turn", 12), ("dialogue", 6), ("interactive", 6)])
def test_a_rater_alone_rates_every_item_once(kind: str, items: int) -> None:
    campaign = made_campaign(kind)
    (rater,) = made_raters(campaign, 1)
    rated = rate_all(rater)
    assert len({one.item_id for one in rated}) == len(rated) == items
    assert [one.position for one in rated] == list(range(items))
    assert fill_queue(rater).why_empty == "finished"


def test_k_raters_fill_every_item() -> None:
    campaign = made_campaign(k=3)
    raters = made_raters(campaign, 3)
    for rater in raters:
        rate_all(rater)
    assert not campaign.slots.filter(holder__isnull=True).exists()
    counts = Counter(Assignment.objects.filter(state=State.DONE).values_list("item", flat=True))
    assert set(counts.values()) == {3}


def test_who_comes_when_all_places_are_filled_is_finished() -> None:
    campaign = made_campaign(k=1)
    first, late = made_raters(campaign, 2)
    rate_all(first)
    assert fill_queue(late).why_empty == "finished"


def test_who_finds_the_rest_in_the_hands_of_others_waits() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)  # two items
    first, late = made_raters(campaign, 2)
    fill_queue(first)
    assert fill_queue(late).why_empty == "wait"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    not connection.features.has_select_for_update_skip_locked, reason="SQLite has one writer"
)
def test_who_meets_the_last_item_while_it_is_being_given_to_another_waits() -> None:
    """The other's claim is not committed: the place is neither free to be taken nor seen as
    held."""
    campaign = made_campaign(systems=["one"], dialogues=1, turns=1, k=1)
    first, late = made_raters(campaign, 2)
    claimed, told = threading.Event(), threading.Event()

    def be_slow() -> None:
        with transaction.atomic():
            fill_queue(first)
            claimed.set()
            told.wait(20)
        connection.close()

    slow = threading.Thread(target=be_slow)
    slow.start()
    assert claimed.wait(20)
    why = fill_queue(late).why_empty
    told.set()
    slow.join()
    assert why == "wait"


def test_what_others_hold_is_no_reason_to_wait_for_who_has_rated_it() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=2)  # two items, four places
    first, second = made_raters(campaign, 2)
    rate_all(first)
    fill_queue(second)
    assert fill_queue(first).why_empty == "finished"


def test_what_waits_comes_when_given_back() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    first, late = made_raters(campaign, 2)
    held = {one.item_id for one in fill_queue(first).assignments}
    give_back(first)
    assert {one.item_id for one in fill_queue(late).assignments} == held


@pytest.mark.slow
def test_the_order_is_the_raters_own() -> None:
    campaign = made_campaign(dialogues=6, turns=3, k=6)
    orders = [tuple(one.item_id for one in rate_all(rater)) for rater in made_raters(campaign, 3)]
    assert len(set(orders)) == 3


def test_the_same_seed_gives_the_same_order() -> None:
    orders = []
    for _ in range(2):
        campaign = made_campaign(dialogues=5)
        (rater,) = made_raters(campaign, 1, seed=99)
        first = campaign.items.order_by("pk").first().pk
        orders.append([one.item_id - first for one in rate_all(rater)])
    assert orders[0] == orders[1]


def test_neighbouring_items_are_of_different_dialogues() -> None:
    campaign = made_campaign(dialogues=10, turns=7, k=2)  # 140 items
    (rater,) = made_raters(campaign, 1)
    dialogues = [one.item.dialogue_id for one in rate_all(rater, most=100)]
    for place in range(9, len(dialogues)):
        assert dialogues[place] not in dialogues[place - 8 : place]


def test_dialogues_come_evenly() -> None:
    campaign = made_campaign(dialogues=10, turns=7, k=2)
    (rater,) = made_raters(campaign, 1)
    counts = Counter(one.item.dialogue_id for one in rate_all(rater, most=50))
    assert set(counts.values()) <= {4, 5, 6}  # 50 items of 10 dialogues: 5 each


def test_propensity_says_how_probable_the_draw_was() -> None:
    campaign = made_campaign(systems=("a", "b"), dialogues=1, turns=1, k=1)  # two slots, then one
    (rater,) = made_raters(campaign, 1)
    assert [one.propensity for one in fill_queue(rater).assignments] == [0.5, 1.0]


def test_systems_with_a_stake_are_never_given() -> None:
    campaign = made_campaign(systems=("own", "other"))
    (rater,) = made_raters(campaign, 1)
    own = campaign.systems.get(name="own")
    Conflict.objects.create(user=rater.user, system=own)
    rated = rate_all(rater)
    assert {one.item.system.name for one in rated} == {"other"}
    assert len(rated) == 6
    assert fill_queue(rater).why_empty == "finished"


def test_anothers_stake_is_no_matter() -> None:
    campaign = made_campaign(systems=("own", "other"))
    (rater,) = made_raters(campaign, 1)
    Conflict.objects.create(user=made_user(), system=campaign.systems.get(name="own"))
    assert len(rate_all(rater)) == 12


def test_places_freed_behind_the_search_are_found() -> None:
    campaign = made_campaign(dialogues=4, turns=2, k=1)  # 16 items
    first, second = made_raters(campaign, 2)
    rated = rate_all(first)
    freed = rated[:3]
    Slot.objects.filter(holder__in=freed).update(holder=None)
    assert {one.item_id for one in rate_all(second)} == {one.item_id for one in freed}


@pytest.mark.slow
def test_the_search_goes_on_where_it_last_found_a_slot() -> None:
    campaign = made_campaign(dialogues=60, turns=5, k=2)  # 600 items
    (rater,) = made_raters(campaign, 1)
    with connection.cursor() as cursor:
        # PostgreSQL does so by itself once this is committed: plans for empty tables take a minute
        cursor.execute("ANALYZE")
    rate_all(rater, most=300)
    assert rater.cursor > 50
    known = Assignment.objects.filter(participation=rater).values("item")
    assert (
        not campaign.slots.filter(ordinal__lt=rater.cursor, holder__isnull=True)
        .exclude(item__in=known)
        .exists()
    )


def test_the_search_passes_a_long_run_of_items_already_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "FIRST_READ", 2)
    monkeypatch.setattr(claims, "MOST_READ", 4)
    # 40 items; ordinals 0-39, then the same once more
    campaign = made_campaign(dialogues=10, turns=2, k=2)
    (rater,) = made_raters(campaign, 1)
    rate_all(rater, most=30)
    give_back(rater)
    # Before 30 or so places of items judged
    Participation.objects.filter(pk=rater.pk).update(cursor=40)
    assert len(rate_all(rater)) == 10


# --- keeping, giving back, skipping ---------------------------------------------------------------


def test_the_heartbeat_renews() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    fill_queue(rater)
    let_leases_end(rater)
    assert renew(rater) > timezone.now() + timedelta(seconds=60)


def test_the_heartbeat_of_an_empty_hand_keeps_nothing() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert renew(rater) is None


def test_what_a_silent_rater_held_goes_to_others() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    silent, other = made_raters(campaign, 2)
    held = {one.item_id for one in fill_queue(silent).assignments}
    let_leases_end(silent)
    assert {one.item_id for one in fill_queue(other).assignments} == held
    assert set(silent.assignments.values_list("state", flat=True)) == {State.RETURNED}


def test_a_silent_rater_who_comes_back_first_keeps_the_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    before = fill_queue(rater).assignments
    let_leases_end(rater)
    after = fill_queue(rater).assignments
    assert after == before
    assert all(one.lease_expires_at > timezone.now() for one in after)


def test_given_back_items_are_free_and_may_come_again_as_one_row() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)  # two items
    (rater,) = made_raters(campaign, 1)
    before = {one.item_id: one.pk for one in fill_queue(rater).assignments}
    assert give_back(rater) == 2
    assert campaign.slots.filter(holder__isnull=True).count() == 2
    again = fill_queue(rater).assignments
    assert {one.item_id: one.pk for one in again} == before
    assert [one.position for one in again] == [2, 3]


def test_logging_out_gives_back() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    fill_queue(rater)
    browser = Client()
    browser.force_login(rater.user)
    browser.logout()
    assert not campaign.slots.filter(holder__isnull=False).exists()


def test_a_skipped_item_is_free_for_others_and_never_comes_again() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    rater, other = made_raters(campaign, 2)
    skipped = fill_queue(rater).assignments[0]
    skip(rater, skipped.item.public_id, "the text is cut off")
    assert skipped.item_id not in {one.item_id for one in rate_all(rater)}
    assert skipped.item_id in {one.item_id for one in fill_queue(other).assignments}
    skipped.refresh_from_db()
    assert (skipped.state, skipped.skip_reason) == (State.SKIPPED, "the text is cut off")


def test_a_rated_item_cannot_be_skipped() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_queue(rater).assignments[0]
    rate(rater, given.item.public_id, Judgement(key="a", score=2))
    skip(rater, given.item.public_id, "too late")
    given.refresh_from_db()
    assert given.state == State.DONE
    assert given.slot is not None


def test_who_was_not_given_an_item_cannot_skip_it() -> None:
    campaign = made_campaign()
    one, other = made_raters(campaign, 2)
    item = fill_queue(one).assignments[0].item
    with pytest.raises(NotHanded):
        skip(other, item.public_id, "not mine")


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "nul \x00"])
def test_a_skip_needs_a_reason(reason: str) -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_queue(rater).assignments[0].item
    with pytest.raises(ValueError, match="reason"):
        skip(rater, item.public_id, reason)


# --- when the campaign hands out nothing ----------------------------------------------------------


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "paused"}, "paused"),
        ({"state": "closed"}, "closed"),
        ({"closes_at": -HOUR}, "closed"),
        ({"opens_at": HOUR}, "not_open"),
        ({"state": "draft", "opened_at": None}, "not_open"),
    ],
)
def test_nothing_is_handed_out(change: dict[str, object], why: str) -> None:
    campaign = made_campaign()
    now = timezone.now()
    moments = {
        name: now + value if isinstance(value, timedelta) else value
        for name, value in change.items()
    }
    Campaign.objects.filter(pk=campaign.pk).update(**moments)
    (rater,) = made_raters(campaign, 1)
    assert fill_queue(rater) == work_queue.WorkQueue((), why)


def test_a_pause_leaves_what_is_in_hand_but_does_not_renew_it() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    before = fill_queue(rater).assignments
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert fill_queue(rater).assignments == before
    let_leases_end(rater)
    assert renew(rater) is None
    assert fill_queue(rater) == work_queue.WorkQueue((), "paused")
    assert not campaign.slots.filter(holder__isnull=False).exists()


def test_an_excluded_rater_gets_nothing() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    Participation.objects.filter(pk=rater.pk).update(
        state="excluded", exclusion_reason="asked to go", excluded_at=timezone.now()
    )
    assert fill_queue(rater) == work_queue.WorkQueue((), "excluded")
    assert rater.state == Participation.State.EXCLUDED
