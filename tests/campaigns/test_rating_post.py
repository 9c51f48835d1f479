"""What the rating page sends, and what it is answered, with JavaScript and without."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import work_queue
from annotations.campaigns.models import Assignment, Campaign, Item, RatingRevision
from annotations.campaigns.outbox import outbox_name
from tests.campaigns.rating_browser import JSON, a_rater, address, browser_of, in_hand, send
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


# --- one POST -------------------------------------------------------------------------------------


def test_a_rating_is_stored_with_all_that_was_said() -> None:
    campaign = made_campaign(axes_below=3)
    rater, browser = a_rater(campaign)
    item, other = in_hand(rater)
    said = {
        "axis": ["fluency", "humanness"],
        "axes_asked": "1",
        "flagged": "1",
        "comment": " Odd.\n",
    }
    times = {
        "first_key_ms": 1200,
        "submit_ms": 3400,
        "active_ms": 3000,
        "shown_ms": 1_790_000_000_000,
    }
    answer = send(browser, campaign, item, 2, have=[item, other], **said, **times)
    assert answer.status_code == 200
    stored = RatingRevision.objects.get()
    assert (stored.score, stored.low_axes, stored.flagged, stored.comment) == (
        2,
        ["fluency", "humanness"],
        True,
        "Odd.",
    )
    assert (stored.first_key_ms, stored.submit_ms, stored.active_ms) == (1200, 3400, 3000)
    assert stored.shown_at.timestamp() == 1_790_000_000
    assert stored.guidelines.number == 1
    assert stored.assignment.state == Assignment.State.DONE


def test_the_answer_brings_the_next_item_and_only_what_is_not_there() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    first, second = in_hand(rater)
    document = send(browser, campaign, first, have=[first, second]).json()
    third = in_hand(rater)[1]
    assert (document["stored"], document["item"], document["revision"]) == (True, first, 1)
    assert document["progress"] == {"done": 1, "total": 12}  # 2 systems × 3 dialogues × 2 turns
    assert [one["item"] for one in document["next"]] == [second, third]
    assert document["next"][0]["html"] is None
    assert f'data-item="{third}"' in document["next"][1]["html"]
    assert document["feedback"] is None


def test_the_same_key_is_one_rating() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    answers = [send(browser, campaign, item, key="the-same").json()["revision"] for _ in range(3)]
    assert answers == [1, 1, 1]
    assert RatingRevision.objects.count() == 1


def test_another_key_is_a_revision() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    assert [send(browser, campaign, item, score).json()["revision"] for score in (2, 5)] == [1, 2]
    assert Assignment.objects.get(item__public_id=item).current.score == 5


def test_an_earlier_rating_stands_in_the_form_again() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    send(browser, campaign, item, 2, comment="As before")
    page = browser.get(address("rating-work", campaign), {"item": item})
    text = " ".join(page.content.decode().split())
    assert 'value="2" required checked' in text
    assert ">As before</textarea>" in text
    assert "You have rated this." in text


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"score": ""}, "score"),
        ({"score": "6"}, "score"),
        ({"score": "0"}, "score"),
        ({"score": "3.5"}, "score"),
        ({"score": "four"}, "score"),
        ({"key": ""}, "key"),
        ({"key": "x" * 65}, "key"),
        ({"key": "<script>"}, "key"),
        ({"item": ""}, "item"),
        ({"item": "../../etc"}, "item"),
        ({"comment": "a\0b"}, "comment"),
        ({"comment": "x" * 4001}, "comment"),
        ({"comment": "half \ud800 pair".encode("utf-16", "surrogatepass").hex() + "\0"}, "comment"),
        ({"axis": "no_such_axis"}, "axis"),
        ({"guidelines": "7"}, "guidelines"),
        ({"score": "\N{ARABIC-INDIC DIGIT THREE}"}, "score"),
        ({"score": "1.0"}, "score"),
        ({"score": "true"}, "score"),
        ({"guidelines": "one"}, "guidelines"),
        ({"guidelines": str(2**70)}, "guidelines"),
    ],
)
def test_what_no_page_sends_is_refused_by_name_and_stores_nothing(
    fields: dict[str, str], field: str
) -> None:
    campaign = made_campaign(axes_below=3)
    rater, browser = a_rater(campaign)
    given = {"item": in_hand(rater)[0], "score": "4", **fields}
    answer = send(browser, campaign, given.pop("item"), given.pop("score"), **given)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert RatingRevision.objects.count() == 0


@pytest.mark.parametrize("time", ["-1", "soon", str(2**31), "1e3", ""])
def test_a_broken_clock_costs_no_rating(time: str) -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    send(browser, campaign, in_hand(rater)[0], submit_ms=time, shown_ms="9" * 15)
    stored = RatingRevision.objects.get()
    assert (stored.submit_ms, stored.shown_at) == (None, None)


def test_an_item_never_given_is_told_kindly() -> None:
    campaign = made_campaign()
    _, browser = a_rater(campaign)
    answer = send(browser, campaign, "AAAAAAAAAAAAAAAA")
    assert answer.status_code == 409
    assert "Your other ratings are unaffected." in answer.json()["reason"]
    assert len(answer.json()["next"]) == 2


def test_an_item_that_others_have_filled_is_told_kindly() -> None:
    campaign = made_campaign(k=1)
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    work_queue.give_back(rater)
    other = made_raters(campaign, 1)[0]
    taken = Assignment.objects.create(
        participation=other,
        item=Item.objects.get(public_id=item),
        position=900,
        state="returned",
        claimed_at=other.joined_at,
    )
    campaign.slots.filter(item__public_id=item).update(holder=taken)
    answer = send(browser, campaign, item)
    assert answer.status_code == 409
    assert "Others have rated this item" in answer.json()["reason"]


def test_a_closed_campaign_is_told() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    work_queue.give_back(rater)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    answer = send(browser, campaign, item)
    assert (answer.status_code, answer.json()["ended"]) == (409, "closed")
    assert "closed" in answer.json()["reason"]
    assert (
        "It takes no more ratings."
        in browser.get(address("rating-work", campaign)).content.decode()
    )


def test_who_was_logged_out_is_told_where_to_log_in() -> None:
    campaign = made_campaign()
    answer = send(Client(), campaign, "AAAAAAAAAAAAAAAA")
    assert (answer.status_code, answer.json()["login"]) == (401, reverse("login"))


# --- axes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("below", "score", "sent", "status", "stored"),
    [
        (3, 2, {"axes_asked": "1", "axis": ["fluency"]}, 200, ["fluency"]),
        (3, 2, {"axes_asked": "1"}, 200, []),
        (3, 2, {"axis": ["fluency", "fluency"]}, 200, ["fluency"]),
        (3, 2, {}, 422, None),
        (3, 3, {}, 200, None),
        (3, 3, {"axes_asked": "1"}, 200, None),
        (3, 3, {"axis": ["fluency"]}, 422, None),
        (None, 1, {}, 200, None),
        (None, 1, {"axis": ["fluency"]}, 422, None),
    ],
)
def test_axes_are_taken_just_where_the_score_asks_for_them(
    below: int | None, score: int, sent: dict[str, Any], status: int, stored: list[str] | None
) -> None:
    campaign = made_campaign("dialogue", axes_below=below)
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], score, **sent)
    assert answer.status_code == status
    assert list(RatingRevision.objects.values_list("low_axes", flat=True)) == (
        [stored] if status == 200 else []
    )


# --- without JavaScript ---------------------------------------------------------------------------


def test_the_plain_form_goes_on_to_the_next_item() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    answer = send(browser, campaign, in_hand(rater)[0], accept={})
    assert answer.headers["Location"] == address("rating-work", campaign)


def test_the_plain_form_asks_for_axes_in_a_second_step() -> None:
    campaign = made_campaign("dialogue", axes_below=3)
    rater, browser = a_rater(campaign)
    item = in_hand(rater)[0]
    page = send(browser, campaign, item, 1, accept={}, key="mine", comment="Hm")
    text = " ".join(page.content.decode().split())
    assert page.status_code == 200
    assert RatingRevision.objects.count() == 0
    assert 'name="axes_asked"' in text
    assert 'value="1" required checked' in text
    assert ">Hm</textarea>" in text
    assert 'name="key" value="mine"' in text


def test_the_plain_form_says_what_is_wrong_and_keeps_what_was_typed() -> None:
    campaign = made_campaign()
    rater, browser = a_rater(campaign)
    page = send(browser, campaign, in_hand(rater)[0], "", accept={}, comment="Typed")
    assert page.status_code == 422
    assert "Choose a score from 1 to 5." in page.content.decode()
    assert ">Typed</textarea>" in page.content.decode()


# --- what another rater kept ----------------------------------------------------------------------


def test_what_a_rater_kept_is_not_stored_as_somebody_elses() -> None:
    campaign = made_campaign()
    (rater, browser), (other, others_browser) = a_rater(campaign), a_rater(campaign)
    item = in_hand(rater)[0]
    in_hand(other)
    for name in ("rating-submit", "rating-skip"):
        kept = {
            "item": item,
            "key": "kept",
            "score": 2,
            "reason": "other",
            "outbox": outbox_name(rater),
        }
        answer = others_browser.post(address(name, campaign), kept, **JSON)
        assert (answer.status_code, answer.json()["login"]) == (401, reverse("login"))
    assert RatingRevision.objects.count() == 0
    assert not Assignment.objects.filter(state="skipped").exists()
    assert (
        send(browser, campaign, item, 2, key="kept", outbox=outbox_name(rater)).status_code == 200
    )
    assert RatingRevision.objects.get().assignment.participation == rater


def test_what_a_rater_kept_waits_while_somebody_is_logged_in_who_takes_no_part() -> None:
    """Only who knows the name learns that there is such a campaign."""
    campaign, stranger = made_campaign(), browser_of(made_user())
    rater, _ = a_rater(campaign)
    item = in_hand(rater)[0]
    assert send(stranger, campaign, item, outbox=outbox_name(rater)).status_code == 401
    assert send(stranger, campaign, item, outbox="of-nobody").status_code == 404
    assert send(stranger, campaign, item).status_code == 404
    assert send(stranger, campaign, item, accept={}, outbox=outbox_name(rater)).status_code == 404
    Campaign.objects.filter(pk=campaign.pk).delete()
    assert send(stranger, campaign, item, outbox=outbox_name(rater)).status_code == 404


def test_what_a_rater_kept_waits_while_somebody_is_logged_in_who_may_join() -> None:
    campaign, user = made_campaign(), made_user()
    rater, _ = a_rater(campaign)
    group = Group.objects.create(name="assistants")
    campaign.groups.add(group)
    user.groups.add(group)
    item = in_hand(rater)[0]
    assert send(browser_of(user), campaign, item, outbox=outbox_name(rater)).status_code == 401
    assert send(browser_of(user), campaign, item).status_code == 302
