"""What a rater is given: training, then free slots; kept, given back, skipped."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.campaigns.actions import claims, desk
from annotations.campaigns.actions.desk import (
    Judgement,
    NotHanded,
    fill_desk,
    give_back,
    rate,
    rate_and_refill,
    renew,
    skip,
)
from annotations.campaigns.models import Assignment, Campaign, Conflict, Conversation, Item, Participation, Slot
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db
State = Assignment.State


def rate_all(rater: Participation, score: int = 3, most: int = 1000) -> list[Assignment]:
    """Work until the desk stays empty; what was rated, in order."""
    rated: list[Assignment] = []
    while len(rated) < most and (given := fill_desk(rater).assignments):
        if given[0].item.chat_system_id:
            Conversation.objects.create(assignment=given[0], finished_at=timezone.now())
        rate(rater, given[0].item.public_id, Judgement(key=f"key {len(rated)}", score=score))
        rated.append(given[0])
    return rated


def let_leases_end(rater: Participation) -> None:
    Assignment.objects.filter(participation=rater, state=State.LEASED).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


# --- being given items -----------------------------------------------------------------------------------------


def test_two_items_are_in_hand_the_current_and_the_next() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_desk(rater)
    assert [one.position for one in given.assignments] == [0, 1]
    assert Slot.objects.filter(holder__participation=rater).count() == 2
    assert given.why_empty == ""


def test_asking_again_gives_the_same_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert fill_desk(rater).assignments == fill_desk(rater).assignments


def test_asking_for_one_item_claims_one() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert len(fill_desk(rater, want=1).assignments) == 1


def test_the_next_item_follows_when_the_first_is_rated() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    first, second = fill_desk(rater).assignments
    rate(rater, first.item.public_id, Judgement(key="a", score=4))
    following = fill_desk(rater).assignments
    assert following[0] == second
    assert [one.position for one in following] == [1, 2]


@pytest.mark.parametrize(("kind", "items"), [("turn", 12), ("dialogue", 6), ("interactive", 6)])
def test_a_rater_alone_rates_every_item_once(kind: str, items: int) -> None:
    campaign = made_campaign(kind)
    (rater,) = made_raters(campaign, 1)
    rated = rate_all(rater)
    assert len({one.item_id for one in rated}) == len(rated) == items
    assert [one.position for one in rated] == list(range(items))
    assert fill_desk(rater).why_empty == "finished"


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
    assert fill_desk(late).why_empty == "finished"


def test_who_finds_the_rest_in_the_hands_of_others_waits() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)  # two items
    first, late = made_raters(campaign, 2)
    fill_desk(first)
    assert fill_desk(late).why_empty == "wait"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not connection.features.has_select_for_update_skip_locked, reason="SQLite has one writer")
def test_who_meets_the_last_item_while_it_is_being_given_to_another_waits() -> None:
    """The other's claim is not committed: the place is neither free to be taken nor seen as held."""
    campaign = made_campaign(systems=["one"], dialogues=1, turns=1, k=1)
    first, late = made_raters(campaign, 2)
    claimed, told = threading.Event(), threading.Event()

    def be_slow() -> None:
        with transaction.atomic():
            fill_desk(first)
            claimed.set()
            told.wait(20)
        connection.close()

    slow = threading.Thread(target=be_slow)
    slow.start()
    assert claimed.wait(20)
    why = fill_desk(late).why_empty
    told.set()
    slow.join()
    assert why == "wait"


def test_what_others_hold_is_no_reason_to_wait_for_who_has_rated_it() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=2)  # two items, four places
    first, second = made_raters(campaign, 2)
    rate_all(first)
    fill_desk(second)
    assert fill_desk(first).why_empty == "finished"


def test_what_waits_comes_when_given_back() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    first, late = made_raters(campaign, 2)
    held = {one.item_id for one in fill_desk(first).assignments}
    give_back(first)
    assert {one.item_id for one in fill_desk(late).assignments} == held


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
    assert [one.propensity for one in fill_desk(rater).assignments] == [0.5, 1.0]


def test_systems_with_a_stake_are_never_given() -> None:
    campaign = made_campaign(systems=("own", "other"))
    (rater,) = made_raters(campaign, 1)
    own = campaign.systems.get(name="own")
    Conflict.objects.create(user=rater.user, system=own)
    rated = rate_all(rater)
    assert {one.item.system.name for one in rated} == {"other"}
    assert len(rated) == 6
    assert fill_desk(rater).why_empty == "finished"


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


def test_the_search_goes_on_where_it_last_found_a_slot() -> None:
    campaign = made_campaign(dialogues=60, turns=5, k=2)  # 600 items
    (rater,) = made_raters(campaign, 1)
    rate_all(rater, most=300)
    assert rater.cursor > 50
    known = Assignment.objects.filter(participation=rater).values("item")
    assert not campaign.slots.filter(ordinal__lt=rater.cursor, holder__isnull=True).exclude(item__in=known).exists()


def test_the_search_passes_a_long_run_of_items_already_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "FIRST_READ", 2)
    monkeypatch.setattr(claims, "MOST_READ", 4)
    campaign = made_campaign(dialogues=10, turns=2, k=2)  # 40 items; ordinals 0-39, then the same once more
    (rater,) = made_raters(campaign, 1)
    rate_all(rater, most=30)
    give_back(rater)
    Participation.objects.filter(pk=rater.pk).update(cursor=40)  # before 30 or so places of items judged
    assert len(rate_all(rater)) == 10


# --- training and attention ------------------------------------------------------------------------------------


def test_training_comes_first_and_in_order() -> None:
    campaign = made_campaign(training=[(1, 2), (3, 3), (4, 5)])
    (rater,) = made_raters(campaign, 1)
    roles = [(one.item.role, one.item.position) for one in rate_all(rater, most=5)]
    assert roles == [("training", 0), ("training", 1), ("training", 2), ("regular", 0), ("regular", 0)]


def test_nothing_regular_is_given_before_the_training_is_over() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 2)]), 1)
    assert [one.item.role for one in fill_desk(rater).assignments] == ["training"]


@pytest.mark.parametrize(
    ("scores", "passed"),
    [
        ([1, 5, 3], True),  # 2 of 3 within their ranges: 0.67 ≥ 0.6
        ([1, 1, 3], False),  # 1 of 3: 0.33 < 0.6
    ],
)
def test_the_pass_mark_decides(scores: list[int], passed: bool) -> None:
    campaign = made_campaign(training=[(1, 2), (4, 5), (4, 5)], pass_mark=0.6)
    (rater,) = made_raters(campaign, 1)
    for number, score in enumerate(scores):
        rate(rater, fill_desk(rater).assignments[0].item.public_id, Judgement(key=str(number), score=score))
    assert rater.qualification == ("passed" if passed else "failed")
    after = fill_desk(rater)
    assert after.why_empty == ("" if passed else "failed")
    assert len(after.assignments) == (2 if passed else 0)


def test_a_pass_mark_of_two_thirds_takes_two_of_three() -> None:
    campaign = made_campaign(training=[(1, 1), (1, 1), (1, 1)], pass_mark=2 / 3)
    (rater,) = made_raters(campaign, 1)
    for number, score in enumerate([1, 1, 5]):
        rate(rater, fill_desk(rater).assignments[0].item.public_id, Judgement(key=str(number), score=score))
    assert rater.qualification == "passed"


def test_the_second_thought_on_a_training_item_does_not_count() -> None:
    """The answer was shown after the first."""
    campaign = made_campaign(training=[(1, 1), (1, 1)], pass_mark=1)
    (rater,) = made_raters(campaign, 1)
    first, second = (one.item.public_id for one in fill_desk(rater).assignments)
    rate(rater, first, Judgement(key="wrong", score=5))
    rate(rater, first, Judgement(key="now I know", score=1))
    rate(rater, second, Judgement(key="right", score=1))
    assert rater.qualification == "failed"


def test_training_without_a_pass_mark_is_passed_by_all() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1)]), 1)
    rate(rater, fill_desk(rater).assignments[0].item.public_id, Judgement(key="a", score=5))
    assert rater.qualification == "passed"


def test_a_skipped_training_item_is_not_right() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1)], pass_mark=0.5), 1)
    skip(rater, fill_desk(rater).assignments[0].item.public_id, "unclear")
    assert rater.qualification == "failed"


def test_training_items_given_back_come_again() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1), (2, 2)]), 1)
    before = [one.item_id for one in fill_desk(rater).assignments]
    give_back(rater)
    assert [one.item_id for one in fill_desk(rater).assignments] == before


def test_every_rater_gets_every_training_item() -> None:
    campaign = made_campaign(training=[(1, 2)], k=1)
    for rater in made_raters(campaign, 4):
        assert fill_desk(rater).assignments[0].item.role == "training"


def test_attention_items_come_among_the_others_once_each_and_hold_no_slot() -> None:
    campaign = made_campaign(dialogues=10, turns=4, k=1, attention=[(1, 1), (5, 5), (2, 3)], attention_every=4)
    (rater,) = made_raters(campaign, 1)
    rated = rate_all(rater)  # 80 regular items: so many that all three checks came
    assert rated[0].item.role == Item.Role.REGULAR
    assert rated[-1].item.role == Item.Role.REGULAR
    checks = [one for one in rated if one.item.role == Item.Role.ATTENTION]
    assert len({one.item_id for one in checks}) == len(checks) == 3
    assert not Slot.objects.filter(holder__in=checks).exists()
    assert {one.propensity for one in checks} == {None}


def test_no_attention_items_unless_the_campaign_asks_for_them() -> None:
    campaign = made_campaign(attention=[(1, 1)])
    (rater,) = made_raters(campaign, 1)
    assert {one.item.role for one in rate_all(rater)} == {"regular"}


# --- keeping, giving back, skipping ----------------------------------------------------------------------------


def test_the_heartbeat_renews() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    fill_desk(rater)
    let_leases_end(rater)
    assert renew(rater) > timezone.now() + timedelta(seconds=60)


def test_the_heartbeat_of_an_empty_hand_keeps_nothing() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert renew(rater) is None


def test_what_a_silent_rater_held_goes_to_others() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    silent, other = made_raters(campaign, 2)
    held = {one.item_id for one in fill_desk(silent).assignments}
    let_leases_end(silent)
    assert {one.item_id for one in fill_desk(other).assignments} == held
    assert set(silent.assignments.values_list("state", flat=True)) == {State.RETURNED}


def test_a_silent_rater_who_comes_back_first_keeps_the_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    before = fill_desk(rater).assignments
    let_leases_end(rater)
    after = fill_desk(rater).assignments
    assert after == before
    assert all(one.lease_expires_at > timezone.now() for one in after)


def test_given_back_items_are_free_and_may_come_again_as_one_row() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)  # two items
    (rater,) = made_raters(campaign, 1)
    before = {one.item_id: one.pk for one in fill_desk(rater).assignments}
    assert give_back(rater) == 2
    assert campaign.slots.filter(holder__isnull=True).count() == 2
    again = fill_desk(rater).assignments
    assert {one.item_id: one.pk for one in again} == before
    assert [one.position for one in again] == [2, 3]


def test_logging_out_gives_back() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    fill_desk(rater)
    browser = Client()
    browser.force_login(rater.user)
    browser.logout()
    assert not campaign.slots.filter(holder__isnull=False).exists()


def test_a_skipped_item_is_free_for_others_and_never_comes_again() -> None:
    campaign = made_campaign(dialogues=1, turns=1, k=1)
    rater, other = made_raters(campaign, 2)
    skipped = fill_desk(rater).assignments[0]
    skip(rater, skipped.item.public_id, "the text is cut off")
    assert skipped.item_id not in {one.item_id for one in rate_all(rater)}
    assert skipped.item_id in {one.item_id for one in fill_desk(other).assignments}
    skipped.refresh_from_db()
    assert (skipped.state, skipped.skip_reason) == (State.SKIPPED, "the text is cut off")


def test_a_rated_item_cannot_be_skipped() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_desk(rater).assignments[0]
    rate(rater, given.item.public_id, Judgement(key="a", score=2))
    skip(rater, given.item.public_id, "too late")
    given.refresh_from_db()
    assert given.state == State.DONE
    assert given.slot is not None


def test_who_was_not_given_an_item_cannot_skip_it() -> None:
    campaign = made_campaign()
    one, other = made_raters(campaign, 2)
    item = fill_desk(one).assignments[0].item
    with pytest.raises(NotHanded):
        skip(other, item.public_id, "not mine")


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "nul \x00"])
def test_a_skip_needs_a_reason(reason: str) -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_desk(rater).assignments[0].item
    with pytest.raises(ValueError, match="reason"):
        skip(rater, item.public_id, reason)


# --- when the campaign hands out nothing -----------------------------------------------------------------------

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
    moments = {name: now + value if isinstance(value, timedelta) else value for name, value in change.items()}
    Campaign.objects.filter(pk=campaign.pk).update(**moments)
    (rater,) = made_raters(campaign, 1)
    assert fill_desk(rater) == desk.Desk((), why)


def test_a_pause_leaves_what_is_in_hand_but_does_not_renew_it() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    before = fill_desk(rater).assignments
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert fill_desk(rater).assignments == before
    let_leases_end(rater)
    assert renew(rater) is None
    assert fill_desk(rater) == desk.Desk((), "paused")
    assert not campaign.slots.filter(holder__isnull=False).exists()


def test_an_excluded_rater_gets_nothing() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    Participation.objects.filter(pk=rater.pk).update(
        state="excluded", exclusion_reason="asked to go", excluded_at=timezone.now()
    )
    assert fill_desk(rater) == desk.Desk((), "excluded")
    assert rater.state == Participation.State.EXCLUDED


# --- a rating and the next item at once -----------------------------------------------------------------------


def test_with_the_rating_comes_what_would_have_been_handed_out_after_it() -> None:
    one, two = (made_raters(made_campaign(), 1)[0] for _ in range(2))
    for rater in (one, two):
        Participation.objects.filter(pk=rater.pk).update(seed=5)
    positions = {item.pk: place for rater in (one, two) for place, item in enumerate(rater.campaign.items.all())}
    rated, following = (fill_desk(one).assignments[place].item for place in (0, 1))
    stored, given = rate_and_refill(one, rated.public_id, Judgement(key="a", score=4))
    assert (stored.revision.score, stored.revision.assignment.item, stored.is_new) == (4, rated, True)
    assert given.assignments[0].item == following

    rate(two, fill_desk(two).assignments[0].item.public_id, Judgement(key="a", score=4))
    separately = fill_desk(two).assignments
    assert [positions[one.item_id] for one in given.assignments] == [positions[one.item_id] for one in separately]
    assert [one.propensity for one in given.assignments] == [one.propensity for one in separately]


def test_a_rating_sent_again_brings_the_same_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_desk(rater).assignments[0].item.public_id
    first, given = rate_and_refill(rater, item, Judgement(key="a", score=4))
    again, given_again = rate_and_refill(rater, item, Judgement(key="a", score=2))
    assert (again.revision, again.is_new, again.revision.score) == (first.revision, False, 4)
    assert given_again == given


@pytest.mark.parametrize("failures", [1, 2])
def test_a_rating_is_stored_whatever_happens_to_the_next_item(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_desk(rater).assignments[0].item.public_id
    claim, left = desk.claim_regular, iter(range(failures))

    def breaks(holder: Participation, *arguments: object) -> Assignment | None:
        claimed = claim(holder, *arguments)  # half-way: the item is claimed, and must be free again
        if next(left, None) is not None:
            raise RuntimeError("the next item cannot be had")
        return claimed

    monkeypatch.setattr(desk, "claim_regular", breaks)
    if failures == 1:
        assert len(rate_and_refill(rater, item, Judgement(key="a", score=4))[1].assignments) == 2
    else:
        with pytest.raises(RuntimeError):
            rate_and_refill(rater, item, Judgement(key="a", score=4))
    rater.refresh_from_db()
    done = Assignment.objects.get(participation=rater, state=State.DONE)
    assert (done.item.public_id, done.current.score, rater.rated) == (item, 4, 1)
    held = Assignment.objects.filter(participation=rater, state=State.LEASED)
    assert held.count() == 3 - failures  # the one in hand before, and the next where the second try got it
    assert Slot.objects.filter(holder__isnull=False).count() == 1 + held.count()


def test_nothing_is_handed_out_with_a_rating_that_is_refused() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_desk(rater).assignments
    with pytest.raises(NotHanded):
        rate_and_refill(rater, "nobody-has-this", Judgement(key="a", score=4))
    assert fill_desk(rater).assignments == given


def test_ratings_are_counted_once_each() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    first, second = (one.item.public_id for one in fill_desk(rater).assignments)
    rate_and_refill(rater, first, Judgement(key="a", score=4))
    rate_and_refill(rater, first, Judgement(key="a", score=4))  # sent again
    rate(rater, first, Judgement(key="b", score=2))  # another mind
    skip(rater, second, "unclear")
    third = fill_desk(rater).assignments[0].item.public_id
    give_back(rater)
    rate(rater, third, Judgement(key="c", score=3))  # late: its place was still free
    rater.refresh_from_db()
    assert rater.rated == rater.assignments.filter(state=State.DONE).count() == 2


# --- what it costs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("done", [2, 40])
def test_submit_and_next_item_take_few_queries_however_much_was_done(done: int) -> None:
    """The rater's row, what the rater has, expired leases, free slots, the slot's item; the rating and its item, the
    next one and its slot, the rater's row."""
    campaign = made_campaign(dialogues=10, turns=3)
    (rater,) = made_raters(campaign, 1)
    rate_all(rater, most=done)
    current = fill_desk(rater).assignments[0]
    with CaptureQueriesContext(connection) as queries:
        rate_and_refill(rater, current.item.public_id, Judgement(key="x", score=3))
    asked = [query["sql"] for query in queries if query["sql"].split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")]
    assert len(asked) <= 10, "\n".join(asked)
