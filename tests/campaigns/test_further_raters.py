"""Items whose raters differ: a further rater decides, pairs too; two organisers at one item."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotations.campaigns.actions import quality
from annotations.campaigns.actions.adjudication import (
    CannotAdjudicate,
    DecidedMeanwhile,
    adjudicate,
    set_rule,
    state_of,
    withdraw,
)
from annotations.campaigns.actions.publishing import publish
from annotations.campaigns.actions.setup import delete
from annotations.campaigns.actions.work_queue import (
    ItemTaken,
    Judgement,
    fill_queue,
    give_back,
    rate,
    skip,
)
from annotations.campaigns.models import Adjudication, Assignment, Campaign, Item, Participation
from annotations.campaigns.plan.adjudication import differing
from annotations.campaigns.queries.adjudication import differing_items
from annotations.campaigns.queries.overview import slot_counts
from annotations.campaigns.queries.rating_stream import ratings_to_export
from annotations.campaigns.queries.ratings import campaign_agreement
from annotations.models import Preference
from common.roles import ORGANISER
from tests.campaigns.forms import comparing, made_form
from tests.campaigns.rating_browser import address, browser_of
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


def scored(by_raters: bool = True) -> tuple[Campaign, list[Participation]]:
    """Of two items the first rater says 1 and 3, the second 5 and 3: they differ on the first. The
    third rater has rated none; k = 2."""
    campaign = made_campaign(systems=["one"], dialogues=2, turns=1)
    raters = made_raters(campaign, 3)
    for rater, score in zip(raters[:2], (1, 5), strict=True):
        for one in fill_queue(rater).assignments:
            value = score if one.item.dialogue.position == 0 else 3
            rate(rater, one.item.public_id, Judgement("a-key", value))
    set_rule(campaign, 2, by_raters)
    return campaign, raters


def given_to(rater: Participation) -> list[Assignment]:
    return list(fill_queue(Participation.objects.get(pk=rater.pk)).assignments)


# --- who gets what --------------------------------------------------------------------------------


def test_a_further_rater_gets_what_the_others_differ_on() -> None:
    campaign, (first, second, third) = scored()
    (one,) = given_to(third)
    assert (one.item.dialogue.position, one.adjudicates, one.propensity) == (0, True, None)
    assert not given_to(first)
    assert not given_to(second)
    assert not hasattr(one, "slot")  # k stays 2
    assert slot_counts(campaign) == (4, 4, 0)


def test_without_the_rule_it_stays_with_the_organisers() -> None:
    _campaign, (*_, third) = scored(by_raters=False)
    assert not given_to(third)


def test_one_rater_decides_at_a_time() -> None:
    campaign, (*_, third) = scored()
    (fourth,) = made_raters(campaign, 1)
    (one,) = given_to(third)
    assert not given_to(fourth)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            participation=fourth,
            item=one.item,
            adjudicates=True,
            position=9,
            claimed_at=one.claimed_at,
            lease_expires_at=one.lease_expires_at,
        )
    give_back(third)
    assert [other.item_id for other in given_to(fourth)] == [one.item_id]


def test_who_comes_late_decides_unless_another_rater_does() -> None:
    campaign, (*_, third) = scored()
    (fourth,) = made_raters(campaign, 1)
    (one,) = given_to(third)
    give_back(third)
    given_to(fourth)
    with pytest.raises(ItemTaken):
        rate(third, one.item.public_id, Judgement("late", 4))
    give_back(fourth)
    rate(third, one.item.public_id, Judgement("late", 4))
    assert Adjudication.objects.get().score == 4


def test_who_skipped_it_does_not_get_it_again() -> None:
    campaign, (*_, third) = scored()
    (one,) = given_to(third)
    skip(third, one.item.public_id, "I know the speaker.")
    assert not given_to(third)
    assert given_to(made_raters(campaign, 1)[0])


def test_an_item_that_lacks_a_rating_is_not_decided_yet() -> None:
    campaign, (first, _second, third) = scored()
    quality.exclude(first, "careless")
    assert all(not one.adjudicates for one in given_to(third))
    assert campaign.slots.filter(holder=None).count() == 0  # regular ones, to be rated again


def test_who_has_a_stake_in_the_system_does_not_decide() -> None:
    campaign, (*_, third) = scored()
    quality.declare_conflict(third.user, campaign.version.systems.get())
    assert not given_to(third)


# --- what it becomes ------------------------------------------------------------------------------


def decided() -> tuple[Campaign, Participation, Item]:
    campaign, (*_, third) = scored()
    (one,) = given_to(third)
    rate(third, one.item.public_id, Judgement("third", 4, comment="Off topic."))
    return campaign, third, one.item


def test_what_a_further_rater_says_is_the_adjudicated_value_and_no_rating() -> None:
    campaign, (*_, third) = scored()
    before = campaign_agreement(campaign), len(list(ratings_to_export(campaign, True)))
    (one,) = given_to(third)
    rate(third, one.item.public_id, Judgement("third", 4, comment="Off topic."))
    stored = Adjudication.objects.get()
    assert (stored.score, stored.comment, stored.points) == (4, "Off topic.", 2)
    assert stored.assignment.participation_id == third.pk
    assert before == (campaign_agreement(campaign), len(list(ratings_to_export(campaign, True))))
    (shown,) = differing_items(campaign)
    assert (shown.state, set(shown.answers)) == ("rater", {"rater 1", "rater 2"})


def test_a_second_thought_changes_it_until_an_organiser_decides() -> None:
    campaign, third, item = decided()
    rate(third, item.public_id, Judgement("again", 2))
    assert Adjudication.objects.get().score == 2
    adjudicate(campaign, item.public_id, score=3)
    rate(third, item.public_id, Judgement("once more", 5))
    stored = Adjudication.objects.get()
    assert (stored.score, stored.assignment) == (3, None)
    withdraw(campaign, item.public_id)
    rate(third, item.public_id, Judgement("and again", 1))
    assert not Adjudication.objects.exists()


def test_an_organiser_who_was_faster_keeps_the_decision() -> None:
    campaign, (*_, third) = scored()
    (one,) = given_to(third)
    adjudicate(campaign, one.item.public_id, score=3)
    rate(third, one.item.public_id, Judgement("third", 4))
    assert Adjudication.objects.get().score == 3


def test_a_rater_taken_back_does_not_fill_a_slot_with_the_decided_value() -> None:
    campaign, third, _item = decided()
    quality.exclude(third, "careless")
    campaign.slots.filter(item__dialogue__position=0).order_by("pk")[:1].get()
    first = campaign.slots.filter(item__dialogue__position=0).first()
    type(first).objects.filter(pk=first.pk).update(holder=None)
    assert quality.restore(third).counted == 0


def test_a_campaign_is_deleted_with_what_a_rater_decided() -> None:
    campaign, *_ = decided()
    delete(campaign, campaign.slug)
    assert not Campaign._base_manager.filter(pk=campaign.pk).exists()


def test_the_file_says_who_decided() -> None:
    campaign, *_ = decided()
    browser = browser_of(made_user("", ORGANISER))
    export = address("campaign-export", campaign)
    stream = browser.get(export, {"format": "adjudications"}).streaming_content
    (row,) = csv.DictReader(io.StringIO(b"".join(stream).decode("utf-8-sig")))
    assert (row["score"], row["decided_by"]) == ("4", "rater 3")
    page = browser.get(address("campaign-adjudication", campaign)).content.decode()
    assert "adjudicated by a further rater" in page


# --- pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (("a", "b"), ("p",)),
        (("a2", "a1"), ()),  # one is preferred, whatever the degree
        (("a1", "tie"), ("p",)),
        (("tie", "both_bad"), ("p",)),
        (("a", "cannot_judge"), ()),
    ],
)
def test_preferences_differ_where_another_one_is_preferred(
    answers: tuple[str, ...], found: tuple[str, ...]
) -> None:
    form = made_form({"key": "p", "type": "preference", "text": "?", "points": 5}, level="pair")
    assert differing(form.questions, [{"p": one} for one in answers], 1) == found


def compared(kind: str = "pair", form: str = "pairwise", key: str = "preference") -> Any:
    """Both raters answer ``a``; one saw the systems in the other order, so they differ."""
    campaign = comparing(form, kind, dialogues=1, turns=1)
    raters = made_raters(campaign, 3)
    for rater in raters[:2]:
        (one,) = fill_queue(rater).assignments
        judgement = Judgement("key", None, form=campaign.form, answers={key: "a"})
        rate(rater, one.item.public_id, judgement)
    set_rule(campaign, 1, by_raters=True)
    return campaign, raters


def test_raters_of_a_pair_are_compared_whichever_they_saw_first() -> None:
    campaign, _raters = compared()
    (one,) = differing_items(campaign)
    assert sorted(given["preference"] for given in one.answers.values()) == ["a", "b"]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_further_rater_decides_a_pair_in_the_order_of_its_systems(is_swapped: bool) -> None:
    campaign, (*_, third) = compared()
    (one,) = given_to(third)
    Assignment.objects.filter(pk=one.pk).update(is_swapped=is_swapped)
    answers = {"preference": "a"}
    rate(third, one.item.public_id, Judgement("k", None, form=campaign.form, answers=answers))
    assert Adjudication.objects.get().answers == {"preference": "b" if is_swapped else "a"}


@pytest.mark.parametrize(
    ("kind", "form", "key"),
    [("pair", "pairwise", "preference"), ("dialogue_pair", "acute-eval", "engaging")],
)
def test_an_adjudicated_preference_is_published_apart(kind: str, form: str, key: str) -> None:
    campaign, _raters = compared(kind, form, key)
    (one,) = differing_items(campaign)
    adjudicate(campaign, one.public_id, form=campaign.form, answers={key: "b"})
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    assert publish(Campaign.objects.get(pk=campaign.pk), "better") == 2
    found = Preference.objects.get(rater__name=f"{campaign.slug}/adjudicator")
    assert (found.aspect, found.preferred) == ("better (adjudicated)", "b")
    item = campaign.items.get()
    if kind == "pair":
        assert (found.response_a_id, found.response_b_id) == (item.response_id, item.response_b_id)
    else:
        assert (found.system_a_id, found.system_b_id) == (item.system_id, item.system_b_id)
    assert Preference.objects.filter(aspect="better").count() == 2


def test_an_organiser_decides_a_pair_on_its_page() -> None:
    campaign, _raters = compared()
    browser = browser_of(made_user("", ORGANISER))
    (one,) = differing_items(campaign)
    decide = f"{address('campaign-adjudication', campaign)}{one.public_id}/"
    page = browser.get(decide).content.decode()
    assert page.count('class="arm"') == 2
    assert not [name for name in ("northwind", "southgate") if name in page.split("<main")[1]]
    given = {"item": one.public_id, "key": "adjudication", "form": "1", "q.preference": "tie"}
    assert browser.post(decide, given).status_code == 302
    assert Adjudication.objects.get().answers == {"preference": "tie"}


# --- two at one item ------------------------------------------------------------------------------


def deciding(browser: Client, campaign: Campaign) -> tuple[str, dict[str, str]]:
    """The page's address, and what it sends back: which decision it showed."""
    (one,) = differing_items(campaign)
    decide = f"{address('campaign-adjudication', campaign)}{one.public_id}/"
    seen = browser.get(decide).context["seen"]
    return decide, {"item": one.public_id, "key": "adjudication", "seen": seen}


def test_of_two_organisers_the_second_is_told_and_loses_nothing() -> None:
    campaign, _raters = scored(by_raters=False)
    first, second = (browser_of(made_user("", ORGANISER)) for _ in range(2))
    decide, given = deciding(first, campaign)
    deciding(second, campaign)
    assert first.post(decide, {**given, "score": "2"}).status_code == 302
    late = second.post(decide, {**given, "score": "4", "comment": "See turn 3."})
    assert late.status_code == 409
    page = late.content.decode()
    assert "Somebody else decided this item" in page
    assert Adjudication.objects.get().score == 2
    assert late.context["score"] == 4
    assert "See turn 3." in page
    again = {**given, "seen": late.context["seen"], "score": "4", "comment": "See turn 3."}
    assert second.post(decide, again).status_code == 302
    assert Adjudication.objects.get().score == 4


def test_answers_of_the_second_stay_on_the_page() -> None:
    campaign, _raters = compared()
    browser = browser_of(made_user("", ORGANISER))
    decide, given = deciding(browser, campaign)
    given |= {"form": "1"}
    assert browser.post(decide, {**given, "q.preference": "a"}).status_code == 302
    late = browser.post(decide, {**given, "q.preference": "tie"})
    assert late.status_code == 409
    fields = late.content.decode().split('value="tie"')[1].split(">")[0]
    assert "checked" in fields


def test_a_decision_that_changed_meanwhile_is_not_withdrawn() -> None:
    campaign, _raters = scored(by_raters=False)
    (one,) = differing_items(campaign)
    seen = state_of(adjudicate(campaign, one.public_id, score=2))
    adjudicate(campaign, one.public_id, score=4, seen=seen)
    with pytest.raises(DecidedMeanwhile):
        withdraw(campaign, one.public_id, seen=seen)
    assert Adjudication.objects.get().score == 4
    with pytest.raises(CannotAdjudicate):
        adjudicate(campaign, one.public_id, score=1, seen="")
