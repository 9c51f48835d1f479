"""A rating is stored and the next item handed out at once: what comes of it, and what it costs."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.campaigns.actions import work_queue
from annotations.campaigns.actions.work_queue import (
    Judgement,
    NotHanded,
    fill_queue,
    give_back,
    rate,
    rate_and_refill,
    skip,
)
from annotations.campaigns.models import Assignment, Participation, Slot
from tests.campaigns.rating_all import rate_all
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db
State = Assignment.State


# --- a rating and the next item at once -----------------------------------------------------------


def test_with_the_rating_comes_what_would_have_been_handed_out_after_it() -> None:
    one, two = (made_raters(made_campaign(), 1)[0] for _ in range(2))
    for rater in (one, two):
        Participation.objects.filter(pk=rater.pk).update(seed=5)
    positions = {
        item.pk: place
        for rater in (one, two)
        for place, item in enumerate(rater.campaign.items.all())
    }
    rated, following = (fill_queue(one).assignments[place].item for place in (0, 1))
    stored, given = rate_and_refill(one, rated.public_id, Judgement(key="a", score=4))
    assert (stored.revision.score, stored.revision.assignment.item, stored.is_new) == (
        4,
        rated,
        True,
    )
    assert given.assignments[0].item == following

    rate(two, fill_queue(two).assignments[0].item.public_id, Judgement(key="a", score=4))
    separately = fill_queue(two).assignments
    assert [positions[one.item_id] for one in given.assignments] == [
        positions[one.item_id] for one in separately
    ]
    assert [one.propensity for one in given.assignments] == [one.propensity for one in separately]


def test_a_rating_sent_again_brings_the_same_items() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_queue(rater).assignments[0].item.public_id
    first, given = rate_and_refill(rater, item, Judgement(key="a", score=4))
    again, given_again = rate_and_refill(rater, item, Judgement(key="a", score=2))
    assert (again.revision, again.is_new, again.revision.score) == (first.revision, False, 4)
    assert given_again == given


@pytest.mark.parametrize("failures", [1, 2])
def test_a_rating_is_stored_whatever_happens_to_the_next_item(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    (rater,) = made_raters(made_campaign(), 1)
    item = fill_queue(rater).assignments[0].item.public_id
    claim, left = work_queue.claim_regular, iter(range(failures))

    def breaks(holder: Participation, *arguments: object) -> Assignment | None:
        claimed = claim(holder, *arguments)  # half-way: the item is claimed, and must be free again
        if next(left, None) is not None:
            raise RuntimeError("the next item cannot be had")
        return claimed

    monkeypatch.setattr(work_queue, "claim_regular", breaks)
    if failures == 1:
        assert len(rate_and_refill(rater, item, Judgement(key="a", score=4))[1].assignments) == 2
    else:
        with pytest.raises(RuntimeError):
            rate_and_refill(rater, item, Judgement(key="a", score=4))
    rater.refresh_from_db()
    done = Assignment.objects.get(participation=rater, state=State.DONE)
    assert (done.item.public_id, done.current.score, rater.rated) == (item, 4, 1)
    held = Assignment.objects.filter(participation=rater, state=State.LEASED)
    # The one in hand before, and the next where the second try got it
    assert held.count() == 3 - failures
    assert Slot.objects.filter(holder__isnull=False).count() == 1 + held.count()


def test_nothing_is_handed_out_with_a_rating_that_is_refused() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    given = fill_queue(rater).assignments
    with pytest.raises(NotHanded):
        rate_and_refill(rater, "nobody-has-this", Judgement(key="a", score=4))
    assert fill_queue(rater).assignments == given


def test_ratings_are_counted_once_each() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    first, second = (one.item.public_id for one in fill_queue(rater).assignments)
    rate_and_refill(rater, first, Judgement(key="a", score=4))
    rate_and_refill(rater, first, Judgement(key="a", score=4))  # sent again
    rate(rater, first, Judgement(key="b", score=2))  # another mind
    skip(rater, second, "unclear")
    third = fill_queue(rater).assignments[0].item.public_id
    give_back(rater)
    rate(rater, third, Judgement(key="c", score=3))  # late: its place was still free
    rater.refresh_from_db()
    assert rater.rated == rater.assignments.filter(state=State.DONE).count() == 2


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize("done", [2, 40])
def test_submit_and_next_item_take_few_queries_however_much_was_done(done: int) -> None:
    """The rater's row, what the rater has, expired leases, free slots, the slot's item; the rating
    and its item, the next one and its slot, the rater's row."""
    campaign = made_campaign(dialogues=10, turns=3)
    (rater,) = made_raters(campaign, 1)
    rate_all(rater, most=done)
    current = fill_queue(rater).assignments[0]
    with CaptureQueriesContext(connection) as queries:
        rate_and_refill(rater, current.item.public_id, Judgement(key="x", score=3))
    asked = [
        query["sql"]
        for query in queries
        if query["sql"].split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")
    ]
    assert len(asked) <= 10, "\n".join(asked)
