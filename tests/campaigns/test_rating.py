"""Storing ratings: one for one key, revisions, late ones, and when no more are taken."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.campaigns.actions.work_queue import (
    ItemTaken,
    Judgement,
    NotHanded,
    RatingsClosed,
    Stored,
    fill_queue,
    give_back,
    rate,
    skip,
)
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conflict,
    Conversation,
    Participation,
    RatingRevision,
    Slot,
)
from tests.at_once import at_once
from tests.campaigns.sets import made_campaign, made_raters

State = Assignment.State


def in_hand(rater: Participation) -> Assignment:
    return fill_queue(rater).assignments[0]


def lose(assignment: Assignment) -> None:
    """The lease runs out and somebody else's visit sweeps it."""
    Assignment.objects.filter(pk=assignment.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    (other,) = made_raters(assignment.item.campaign, 1)
    fill_queue(other, want=0)
    assignment.refresh_from_db()
    assert assignment.state == State.RETURNED


def fill(assignment: Assignment) -> None:
    """Others rate the item until its places are full."""
    campaign = assignment.item.campaign
    for slot in Slot.objects.filter(item=assignment.item, holder__isnull=True):
        (other,) = made_raters(campaign, 1)
        slot.holder = Assignment.objects.create(
            participation=other,
            item=assignment.item,
            position=0,
            claimed_at=timezone.now(),
            lease_expires_at=timezone.now() + timedelta(hours=1),
        )
        slot.save()


@pytest.mark.django_db
def test_a_rating_is_stored_whole() -> None:
    (rater,) = made_raters(made_campaign(axes_below=3), 1)
    given = in_hand(rater)
    shown = timezone.now()
    judgement = Judgement(
        "k1",
        2,
        ["fluency"],
        True,
        "odd wording",
        given.item.campaign.guidelines.get().pk,
        800,
        4000,
        3500,
        shown,
    )
    stored = rate(rater, given.item.public_id, judgement)
    kept = RatingRevision.objects.get()
    assert stored == Stored(kept, is_new=True)
    assert (kept.number, kept.key, kept.score, kept.low_axes) == (1, "k1", 2, ["fluency"])
    assert (kept.flagged, kept.comment, kept.guidelines.number) == (True, "odd wording", 1)
    assert (kept.first_key_ms, kept.submit_ms, kept.active_ms, kept.shown_at) == (
        800,
        4000,
        3500,
        shown,
    )
    given.refresh_from_db()
    assert (given.state, given.current, given.lease_expires_at) == (State.DONE, kept, None)
    assert given.slot is not None


@pytest.mark.django_db
def test_axes_not_asked_are_null_and_none_marked_is_an_empty_list() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    first, second = fill_queue(rater).assignments
    rate(rater, first.item.public_id, Judgement("a", 5))
    rate(rater, second.item.public_id, Judgement("b", 2, []))
    assert list(RatingRevision.objects.order_by("pk").values_list("low_axes", flat=True)) == [
        None,
        [],
    ]


@pytest.mark.django_db
def test_the_same_key_is_the_same_rating() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    first = rate(rater, given.item.public_id, Judgement("k", 4))
    again = rate(rater, given.item.public_id, Judgement("k", 4))
    assert again == Stored(first.revision, is_new=False)
    assert RatingRevision.objects.count() == 1


@pytest.mark.django_db
def test_the_same_key_is_answered_even_when_nothing_new_is_taken() -> None:
    """A retry after a time-out must learn that the first try was stored."""
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    given = in_hand(rater)
    rate(rater, given.item.public_id, Judgement("k", 4))
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    assert not rate(rater, given.item.public_id, Judgement("k", 4)).is_new


@pytest.mark.django_db
def test_a_second_thought_is_another_revision_and_counts() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    for key, score in (("a", 1), ("b", 4), ("c", 5)):
        rate(rater, given.item.public_id, Judgement(key, score))
    given.refresh_from_db()
    assert list(given.revisions.values_list("number", "score")) == [(1, 1), (2, 4), (3, 5)]
    assert given.current.score == 5


@pytest.mark.django_db
def test_an_item_of_another_rater_is_refused() -> None:
    one, other = made_raters(made_campaign(), 2)
    given = in_hand(one)
    with pytest.raises(NotHanded):
        rate(other, given.item.public_id, Judgement("k", 3))


@pytest.mark.django_db
def test_an_item_of_another_campaign_is_refused() -> None:
    (rater,), (elsewhere,) = (made_raters(made_campaign(), 1) for _ in range(2))
    given = in_hand(elsewhere)
    with pytest.raises(NotHanded):
        rate(rater, given.item.public_id, Judgement("k", 3))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "judgement",
    [
        Judgement("k", 0),
        Judgement("k", 6),
        Judgement("k", True),
        Judgement("k", 3.5),
        Judgement("", 3),
        Judgement("x" * 65, 3),
        Judgement("nul \x00", 3),
        Judgement("k", 2, ["beauty"]),
        Judgement("k", 2, comment="nul \x00"),
        Judgement("k", 2, comment="x" * 4001),
    ],
)
def test_what_no_page_sends_is_refused(judgement: Judgement) -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    with pytest.raises(ValueError, match=r"score|key|axis|comment"):
        rate(rater, given.item.public_id, judgement)
    assert not RatingRevision.objects.exists()


# --- late -----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_late_rating_takes_a_free_place_of_its_item() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    lose(given)
    assert rate(rater, given.item.public_id, Judgement("k", 3)).is_new
    given.refresh_from_db()
    assert given.state == State.DONE
    assert given.slot.item == given.item


@pytest.mark.django_db
def test_a_late_rating_is_refused_when_others_filled_the_item() -> None:
    (rater,) = made_raters(made_campaign(k=1), 1)
    given = in_hand(rater)
    lose(given)
    fill(given)
    with pytest.raises(ItemTaken):
        rate(rater, given.item.public_id, Judgement("k", 3))
    assert not RatingRevision.objects.exists()


@pytest.mark.django_db
def test_a_late_rating_of_ones_own_teams_system_is_refused() -> None:
    """The stake became known when the item was in hand."""
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    give_back(rater)
    Conflict.objects.create(user=rater.user, system=given.item.system)
    with pytest.raises(ItemTaken):
        rate(rater, given.item.public_id, Judgement("k", 3))


@pytest.mark.django_db
def test_an_expired_lease_that_nobody_took_is_as_good_as_new() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    Assignment.objects.filter(pk=given.pk).update(
        lease_expires_at=timezone.now() - timedelta(hours=1)
    )
    slot = given.slot.pk if hasattr(given, "slot") else Slot.objects.get(holder=given).pk
    rate(rater, given.item.public_id, Judgement("k", 3))
    assert Slot.objects.get(holder=given).pk == slot


@pytest.mark.django_db
def test_who_skipped_in_one_tab_and_rated_in_the_other_has_rated() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    skip(rater, given.item.public_id, "unclear")
    rate(rater, given.item.public_id, Judgement("k", 3))
    given.refresh_from_db()
    assert given.state == State.DONE
    assert given.slot is not None


# --- closed ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_after_the_end_what_is_in_hand_may_be_rated_while_its_lease_lives() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    alive, dead = fill_queue(rater).assignments
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    Assignment.objects.filter(pk=dead.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert rate(rater, alive.item.public_id, Judgement("k", 3)).is_new
    with pytest.raises(RatingsClosed, match="closed"):
        rate(rater, dead.item.public_id, Judgement("l", 3))


@pytest.mark.django_db
def test_a_late_rating_is_not_lost_to_a_pause() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    given = in_hand(rater)
    lose(given)
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert rate(rater, given.item.public_id, Judgement("k", 3)).is_new


@pytest.mark.django_db
def test_a_chat_is_rated_when_it_is_over() -> None:
    (rater,) = made_raters(made_campaign("interactive"), 1)
    given = in_hand(rater)
    chat = Conversation.objects.create(assignment=given)
    with pytest.raises(RatingsClosed, match="The chat is not over yet"):
        rate(rater, given.item.public_id, Judgement("k", 3))
    Conversation.objects.filter(pk=chat.pk).update(finished_at=timezone.now())
    assert rate(rater, given.item.public_id, Judgement("k", 3)).is_new


@pytest.mark.django_db
def test_ratings_may_be_changed_in_a_pause_but_not_after_the_end() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    given = in_hand(rater)
    rate(rater, given.item.public_id, Judgement("a", 3))
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert rate(rater, given.item.public_id, Judgement("b", 4)).revision.number == 2
    Campaign.objects.filter(pk=campaign.pk).update(state="open", closes_at=timezone.now())
    with pytest.raises(RatingsClosed, match="closed"):
        rate(rater, given.item.public_id, Judgement("c", 5))


@pytest.mark.django_db
def test_an_excluded_rater_cannot_rate() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    Participation.objects.filter(pk=rater.pk).update(
        state="excluded", exclusion_reason="asked to go", excluded_at=timezone.now()
    )
    with pytest.raises(RatingsClosed, match="no longer take part"):
        rate(rater, given.item.public_id, Judgement("k", 3))


# --- at the same moment ---------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_double_click_is_one_rating() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    public_id = in_hand(rater).item.public_id
    stored = at_once(*[lambda: rate(rater, public_id, Judgement("k", 3))] * 6)
    assert sorted(one.is_new for one in stored) == [False] * 5 + [True]
    assert RatingRevision.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_tabs_make_two_revisions_of_one_rating() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = in_hand(rater)
    tabs = [
        lambda key=key: rate(rater, given.item.public_id, Judgement(key, 3)) for key in "abcdef"
    ]
    assert all(one.is_new for one in at_once(*tabs))
    assert sorted(given.revisions.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]
    assert Slot.objects.filter(item=given.item, holder__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_ask_at_once_hold_two_items_together() -> None:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    desks = at_once(*[lambda: fill_queue(rater)] * 6)
    assert len({tuple(one.pk for one in given.assignments) for given in desks}) == 1
    assert campaign.slots.filter(holder__isnull=False).count() == 2


@pytest.mark.django_db(transaction=True)
def test_raters_who_ask_at_once_never_get_more_than_k_places() -> None:
    campaign = made_campaign(systems=("a",), dialogues=1, turns=3, k=2)  # three items, six places
    raters = made_raters(campaign, 8)
    desks = at_once(*[lambda rater=rater: fill_queue(rater, want=1) for rater in raters])
    given = [desk.assignments[0] for desk in desks if desk.assignments]
    assert len(given) == 6
    assert sorted(
        [one.item_id for one in given].count(item) for item in {one.item_id for one in given}
    ) == [2, 2, 2]


@pytest.mark.django_db(transaction=True)
def test_late_ratings_at_once_take_no_more_than_the_free_places() -> None:
    campaign = made_campaign(systems=("a",), dialogues=1, turns=1, k=2)  # one item, two places
    raters = made_raters(campaign, 5)
    item = campaign.items.get()
    for rater in raters:
        Assignment.objects.create(
            participation=rater,
            item=item,
            position=0,
            state=State.RETURNED,
            claimed_at=timezone.now(),
        )
    results = at_once(
        *[lambda rater=rater: rate(rater, item.public_id, Judgement("k", 3)) for rater in raters]
    )
    assert sum(isinstance(one, Stored) for one in results) == 2
    assert sum(isinstance(one, ItemTaken) for one in results) == 3
    assert Assignment.objects.filter(state=State.DONE, slot__isnull=False).count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_rating_and_the_sweep_of_its_lease_at_once_end_as_one_story() -> None:
    """Rated and placed, whichever comes first."""
    campaign = made_campaign(systems=("a",), dialogues=2, turns=2, k=1)
    rater, other = made_raters(campaign, 2)
    for number in range(4):
        given = fill_queue(rater, want=1).assignments[0]
        Assignment.objects.filter(pk=given.pk).update(
            lease_expires_at=timezone.now() - timedelta(seconds=1)
        )
        results = at_once(
            lambda given=given, number=number: rate(
                rater, given.item.public_id, Judgement(str(number), 3)
            ),
            lambda: fill_queue(other, want=0),
        )
        assert isinstance(results[0], Stored)
        given.refresh_from_db()
        assert given.state == State.DONE
        assert Slot.objects.filter(holder=given).count() == 1
