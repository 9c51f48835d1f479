"""Campaigns of pairs that choose the next comparison, and stop: what is stored, when, and what the
pages say."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import allocation
from annotations.campaigns.actions.opening import NotReady
from annotations.campaigns.actions.quality import exclude, restore
from annotations.campaigns.actions.work_queue import (
    Judgement,
    RatingsClosed,
    fill_queue,
    give_back,
    rate,
    rate_and_refill,
)
from annotations.campaigns.models import Assignment, Campaign, Look, Participation
from annotations.campaigns.queries.allocation import (
    requested_systems,
    votes_of_campaign,
    weights_now,
)
from annotations.campaigns.queries.rating_stream import ratings_to_export
from common.roles import ORGANISER
from tests.campaigns.forms import comparing, made_form
from tests.campaigns.rating_browser import address, browser_of
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version
from tests.campaigns.test_pair_pages import typed

pytestmark = pytest.mark.django_db
SYSTEMS = ("ash", "birch", "cedar")


@pytest.fixture(autouse=True)
def _counted_after_every_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation.cache, "add", lambda *_, **__: True)


@pytest.fixture
def organiser() -> Client:
    return browser_of(made_user("", ORGANISER))


def adaptive(**fields: Any) -> Campaign:
    """3 systems × 20 dialogues × 1 turn: 60 pairs of responses, a look after every 3 ratings."""
    given = {"systems": SYSTEMS, "dialogues": 20, "turns": 1, "k": 1, "allocation": "adaptive"}
    return comparing(**{**given, **fields})


def answer_to(one: Assignment) -> str:
    """Cedar nearly always loses; of ash and birch each wins every other time."""
    return "a" if first_wins(one) != one.is_swapped else "b"


def first_wins(one: Assignment) -> bool:
    place = one.item.dialogue.position
    return place % 2 > 0 if one.item.system_b.name == "birch" else place % 5 > 0


def work(rater: Participation, most: int = 10_000) -> tuple[int, str]:
    """How many comparisons were made, and why there are no more."""
    desk = fill_queue(rater)
    for done in range(most):
        if not desk.assignments:
            return done, desk.why_empty
        first = desk.assignments[0]
        judgement = Judgement(
            f"key {first.pk}",
            None,
            form=rater.campaign.form,
            answers={"preference": answer_to(first)},
        )
        _, desk = rate_and_refill(rater, first.item.public_id, judgement)
    return most, ""


# --- the choice -----------------------------------------------------------------------------------


def test_before_the_first_look_all_pairs_have_one_chance() -> None:
    (rater,) = made_raters(adaptive(), 1)
    one, _next = fill_queue(rater).assignments
    assert one.system_propensity == pytest.approx(1 / 3)
    assert 0 < one.propensity < one.system_propensity


def test_the_stored_probability_is_that_of_the_look_before() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 20)
    chances = weights_now(campaign)
    assert sum(chances.values()) == pytest.approx(1)
    assert min(chances.values()) >= 0.2 / 3
    drawn = fill_queue(rater, want=3).assignments[-1]
    pair = drawn.item.system_id, drawn.item.system_b_id
    assert drawn.system_propensity == pytest.approx(chances[pair])
    (line,) = [one for one in ratings_to_export(campaign) if one.position == 5]
    assert line.system_propensity == Assignment.objects.get(position=5).system_propensity


def test_the_open_pair_is_asked_about_most() -> None:
    campaign = adaptive(dialogues=30)
    (rater,) = made_raters(campaign, 1)
    work(rater, 45)
    done = Assignment.objects.filter(state="done")
    counts = {
        names: done.filter(item__system__name=names[0], item__system_b__name=names[1]).count()
        for names in (("ash", "birch"), ("ash", "cedar"), ("birch", "cedar"))
    }
    assert counts["ash", "birch"] == max(counts.values())
    assert min(counts.values()) >= 5  # no pair is given up


def test_votes_are_of_the_systems_whichever_was_shown_first() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 30)
    votes = votes_of_campaign(campaign, requested_systems(campaign))
    rows = Assignment.objects.filter(state="done").select_related("item").order_by("pk")
    assert votes.won.tolist() == [first_wins(one) for one in rows]
    assert {one.is_swapped for one in rows} == {True, False}
    # of a pair the second system is never the first in the corpus's order
    assert (votes.first < votes.second).all()


def test_ties_are_half_wins_and_who_cannot_judge_is_left_out() -> None:
    unsure = made_form(
        {"key": "preference", "type": "preference", "text": "?", "cannot_judge": True}, level="pair"
    )
    campaign = adaptive(form=unsure, dialogues=2)
    (rater,) = made_raters(campaign, 1)
    for one, answer in zip(range(3), ("tie", "cannot_judge", "tie"), strict=True):
        held = fill_queue(rater).assignments[0]
        judgement = Judgement(f"{one}", None, form=campaign.form, answers={"preference": answer})
        rate_and_refill(rater, held.item.public_id, judgement)
    assert votes_of_campaign(campaign, requested_systems(campaign)).won.tolist() == [0.5, 0.5]


def test_all_pairs_are_compared_in_the_end() -> None:
    campaign = adaptive(dialogues=6)
    (rater,) = made_raters(campaign, 1)
    assert work(rater) == (18, "finished")
    assert Look.objects.latest("number").ratings == 18


def test_whole_dialogues_are_chosen_too() -> None:
    campaign = adaptive(form="acute-eval", kind="dialogue_pair")
    (rater,) = made_raters(campaign, 1)
    found = [one.system_propensity for one in fill_queue(rater).assignments]
    assert found == pytest.approx([1 / 3, 1 / 3])


# --- the stop rule --------------------------------------------------------------------------------


def test_a_width_that_is_reached_ends_it_and_the_page_says_so(organiser: Client) -> None:
    campaign = adaptive(dialogues=30, target="width", target_value=1000)
    (rater,) = made_raters(campaign, 1)
    done, why = work(rater)
    assert (why, done < 90) == ("finished", True)
    last = Look.objects.latest("number")
    assert last.widest <= 1000
    page = " ".join(organiser.get(address("campaign", campaign)).content.decode().split())
    assert f"The target is met: with {last.ratings} of 90 ratings" in page
    assert "Target: no interval wider than 1,000 points of the rating." in page
    assert ">Rating<" in page


def test_separated_systems_end_it() -> None:
    campaign = adaptive(dialogues=40, target="pairs", target_value=60)
    (rater,) = made_raters(campaign, 1)
    done, why = work(rater)
    assert (why, done < 120) == ("finished", True)
    assert Look.objects.latest("number").separated == 2  # 60 % of 3; ash and birch are alike


def test_a_budget_is_the_number_of_comparisons(organiser: Client) -> None:
    campaign = adaptive(budget=25)
    for rater, counts in zip(made_raters(campaign, 2), (10, 15), strict=True):
        assert work(rater, counts)[0] == counts
        give_back(rater)
    assert Assignment.objects.filter(state="done").count() == 25
    assert work(rater) == (0, "finished")
    page = " ".join(organiser.get(address("campaign", campaign)).content.decode().split())
    assert "The budget of 25 comparisons is used." in page
    assert "25 of 25 (100 %)" in page
    # looks come after each twentieth of the budget, not of all pairs
    assert Look.objects.latest("number").number == 20


def test_what_another_rater_has_in_hand_may_come_back() -> None:
    campaign = adaptive(budget=2)
    one, other = made_raters(campaign, 2)
    assert len(fill_queue(one).assignments) == 2
    desk = fill_queue(other)
    assert (desk.assignments, desk.why_empty) == ((), "wait")
    give_back(one)
    assert len(fill_queue(other).assignments) == 2


def rated(one: Assignment) -> Judgement:
    return Judgement(
        f"key {one.pk}", None, form=one.item.campaign.form, answers={"preference": "a"}
    )


def test_a_late_rating_is_not_stored_once_the_budget_is_used() -> None:
    """The lease ran out, and another rater made the only comparison."""
    one, other = made_raters(adaptive(budget=1), 2)
    (held,) = fill_queue(one).assignments
    give_back(one)
    assert work(other)[0] == 1
    with pytest.raises(RatingsClosed, match="All comparisons"):
        rate(one, held.item.public_id, rated(held))
    assert Assignment.objects.filter(slot__isnull=False).count() == 1


def test_a_rater_who_is_taken_back_counts_within_the_budget() -> None:
    """Of 3 comparisons made, 2 are made by others while the rater is excluded: 1 counts again."""
    campaign = adaptive(budget=3)
    one, other = made_raters(campaign, 2)
    work(one)
    exclude(one, "too fast")
    assert work(other, 2)[0] == 2
    give_back(other)
    restored = restore(one)
    assert (restored.counted, restored.full) == (1, 2)
    assert campaign.slots.filter(holder__isnull=False).count() == 3


def test_a_campaign_that_spreads_evenly_may_have_a_target_and_a_budget() -> None:
    campaign = adaptive(allocation="uniform", target="width", target_value=900, budget=30)
    (rater,) = made_raters(campaign, 1)
    work(rater)
    assert set(Look.objects.values_list("chances", flat=True)) == {None}
    assert set(Assignment.objects.values_list("system_propensity", flat=True)) == {None}


# --- setting it up --------------------------------------------------------------------------------


def test_the_settings_are_stored_and_shown(organiser: Client) -> None:
    given = typed(
        made_version(SYSTEMS, dialogues=3),
        "pair",
        allocation="adaptive",
        target="width",
        target_width="150",
        budget="20",
    )
    assert organiser.post(reverse("campaign-new"), given).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.allocation, campaign.target, campaign.target_value, campaign.budget) == (
        *("adaptive", "width", 150),
        20,
    )
    page = organiser.get(address("campaign-settings", campaign)).content.decode()
    for field, value in (("budget", 20), ("target_width", 150)):
        assert f'name="{field}" value="{value}' in page


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"target": "width", "target_width": "0"}, "target_width"),
        ({"target": "width", "target_width": "4001"}, "target_width"),
        ({"target": "width"}, "target_width"),
        ({"budget": "0"}, "budget"),
        ({"budget": "many"}, "budget"),
    ],
)
def test_bad_settings_are_refused_at_their_field(
    organiser: Client, changes: dict[str, str], field: str
) -> None:
    answer = organiser.post(
        reverse("campaign-new"), typed(made_version(SYSTEMS), "pair", **changes)
    )
    assert (answer.status_code, set(answer.context["form"].errors)) == (422, {field})


def test_a_form_without_a_preference_ranks_nobody() -> None:
    choice = made_form(
        {"key": "why", "type": "text", "text": "What differs?"},
        level="pair",
    )
    with pytest.raises(NotReady, match="Ask for a preference"):
        adaptive(form=choice)


@pytest.mark.parametrize("values", [{"budget": 0}, {"target": "width", "target_value": 4001}])
def test_the_database_refuses_what_no_form_stores(values: dict[str, Any]) -> None:
    campaign = adaptive()
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(**values)


def test_only_pairs_have_a_budget() -> None:
    campaign = made_campaign()
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(budget=5)
