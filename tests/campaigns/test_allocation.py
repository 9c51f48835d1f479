"""A campaign that looks at its ratings while it runs: where the next ones go, when it stops, who
sees what."""

from __future__ import annotations

import re

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import allocation
from annotations.campaigns.actions.allocation import go_on_to_all, look
from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.opening import NotReady, open_campaign
from annotations.campaigns.actions.terms import NothingToDo
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate, rate_and_refill
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    FormVersion,
    Look,
    Participation,
    RatingRevision,
)
from annotations.campaigns.plan.evidence import LOOKS
from annotations.campaigns.queries.allocation import (
    cells_of_campaign,
    certainty_of,
    requested_systems,
    weights_now,
)
from annotations.campaigns.queries.rating_stream import ratings_to_export
from annotations.models import AuditEntry
from annotations.questions.schema import to_data
from tests.campaigns.forms import made_form
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db
SYSTEMS = ("awful", "middling", "likewise", "superb")
GOOD = {"awful": 1, "middling": 3, "likewise": 3, "superb": 5}


@pytest.fixture(autouse=True)
def _counted_after_every_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation.cache, "add", lambda *_, **__: True)


def score_of(assignment: Assignment) -> int:
    """What everybody would say, now and then a point more or less."""
    good = GOOD[assignment.item.system.name]
    return min(max(good + (-1, 0, 0, 1)[assignment.item.pk % 4], 1), 5)


def work(rater: Participation, most: int = 10_000) -> tuple[int, str]:
    """How many items were rated, and why there are no more."""
    desk = fill_queue(rater)
    for done in range(most):
        if not desk.assignments:
            return done, desk.why_empty
        first = desk.assignments[0]
        judgement = Judgement(key=f"key {first.pk}", score=score_of(first))
        _, desk = rate_and_refill(rater, first.item.public_id, judgement)
    return most, ""


def adaptive(**fields: object) -> Campaign:
    """4 systems × 20 dialogues × 1 turn, k = 1: 80 slots, a look after every 4 ratings."""
    given: dict[str, object] = {
        "dialogues": 20,
        "turns": 1,
        "k": 1,
        "allocation": "adaptive",
        **fields,
    }
    return made_campaign(systems=SYSTEMS, **given)  # type: ignore[arg-type]


# --- the draw -------------------------------------------------------------------------------------


def test_before_the_first_look_all_systems_have_the_same_chance() -> None:
    (rater,) = made_raters(adaptive(), 1)
    first, second = fill_queue(rater).assignments
    assert first.system_propensity == 0.25
    assert second.system_propensity == 0.25
    assert first.propensity < first.system_propensity


def test_the_next_ratings_go_where_the_order_is_open() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 50)
    rated = Assignment.objects.filter(participation=rater, state="done")
    counts = {name: rated.filter(item__system__name=name).count() for name in SYSTEMS}
    assert counts["middling"] + counts["likewise"] > 28
    assert min(counts.values()) >= 5  # nobody is given up


def test_the_stored_probability_is_that_of_the_look_before() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 40)
    weights = weights_now(campaign)
    assert sum(weights.values()) == pytest.approx(1)
    drawn = fill_queue(rater, want=3).assignments[-1]
    assert drawn.system_propensity == pytest.approx(weights[drawn.item.system_id])


def test_all_items_are_rated_in_the_end() -> None:
    campaign = adaptive(dialogues=8)
    raters = made_raters(campaign, 1)
    assert work(raters[0]) == (32, "finished")


def test_an_even_campaign_stores_no_probability_of_a_system() -> None:
    (rater,) = made_raters(made_campaign(), 1)
    assert {one.system_propensity for one in fill_queue(rater).assignments} == {None}
    assert not Look.objects.exists()


# --- looks ----------------------------------------------------------------------------------------


def test_a_look_is_stored_after_each_twentieth() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 14)  # the look comes with the next request
    fill_queue(rater)
    looks = Look.objects.filter(campaign=campaign).order_by("number")
    assert [(one.number, one.ratings) for one in looks] == [(1, 4), (2, 8), (3, 12)]


def test_the_sums_of_the_database_are_those_of_the_ratings() -> None:
    campaign = adaptive(dialogues=6)
    (rater,) = made_raters(campaign, 1)
    work(rater, 15)
    systems = requested_systems(campaign)
    cells = cells_of_campaign(campaign, systems)
    done = list(Assignment.objects.filter(state="done").select_related("item", "current"))
    for place, system in enumerate(systems):
        own = [one for one in done if one.item.system_id == system]
        weights = [one.system_propensity**-0.5 for one in own]
        assert cells.count[place].sum() == len(own)
        assert cells.weight[place].sum() == pytest.approx(sum(weights))
        assert cells.square[place].sum() == pytest.approx(sum(weight**2 for weight in weights))
        scores = [weight * one.current.score for weight, one in zip(weights, own, strict=True)]
        assert cells.score[place].sum() == pytest.approx(sum(scores))


def test_the_scores_of_a_form_are_summed_as_those_of_the_scale() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 30)
    systems = requested_systems(campaign)
    scores = cells_of_campaign(campaign, systems)
    stars = {"key": "stars", "type": "scale", "text": "How many?", "cannot_judge": True}
    form = FormVersion.objects.create(
        campaign=campaign, number=1, schema=to_data(made_form(stars)), digest="0" * 64
    )
    Campaign.objects.filter(pk=campaign.pk).update(form=form)
    for one in RatingRevision.objects.all():
        one.form, one.answers, one.score = form, {"stars": one.score}, None
        one.save()
    campaign = Campaign.objects.get(pk=campaign.pk)
    answers = cells_of_campaign(campaign, systems)
    for name in ("count", "weight", "score", "square"):
        assert getattr(answers, name) == pytest.approx(getattr(scores, name))
    # Who cannot judge says nothing of the system
    RatingRevision.objects.update(answers={"stars": "cannot_judge"})
    assert cells_of_campaign(campaign, systems).count.sum() == 0


def test_ratings_by_a_form_go_where_the_order_is_open() -> None:
    campaign = adaptive(opened=False)
    write_form(
        campaign, made_form({"key": "stars", "type": "scale", "text": "How many?", "maximum": 7})
    )
    open_campaign(campaign)
    (rater,) = made_raters(campaign, 1)
    desk = fill_queue(rater)
    for _ in range(50):
        first = desk.assignments[0]
        answers = {"stars": score_of(first)}
        judgement = Judgement(f"key {first.pk}", None, form=campaign.form, answers=answers)
        _, desk = rate_and_refill(rater, first.item.public_id, judgement)
    done = Assignment.objects.filter(participation=rater, state="done")
    counts = {name: done.filter(item__system__name=name).count() for name in SYSTEMS}
    assert counts["middling"] + counts["likewise"] > 28
    found = certainty_of(campaign, 80)
    assert found
    assert found.systems[0].ends == (1, 7)


def test_a_look_that_was_made_is_not_made_again() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 9)
    assert look(campaign) is None


def test_a_paused_campaign_is_not_looked_at() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 30)
    Look.objects.all().delete()
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    assert look(campaign) is None


def test_raters_who_come_at_once_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asked: list[int] = []
    monkeypatch.setattr(allocation, "look", lambda campaign: asked.append(campaign.pk))
    campaign = adaptive()
    for rater in made_raters(campaign, 3):
        fill_queue(rater)
    assert asked == [campaign.pk]


# --- the target -----------------------------------------------------------------------------------


def test_with_the_target_met_raters_are_done() -> None:
    campaign = adaptive(target="pairs", target_value=50)
    (rater,) = made_raters(campaign, 1)
    done, why = work(rater)
    campaign.refresh_from_db()
    assert why == "finished"
    assert campaign.has_enough
    assert done < 60  # of 80
    latest = Look.objects.filter(campaign=campaign).first()
    assert latest is not None
    assert latest.separated >= 3
    assert AuditEntry.objects.filter(action="campaign.target_met").count() == 1


def test_an_even_campaign_may_have_a_target_too() -> None:
    campaign = adaptive(allocation="uniform", target="width", target_value=2.0)
    (rater,) = made_raters(campaign, 1)
    done, why = work(rater)
    assert (why, Campaign.objects.get().has_enough) == ("finished", True)
    assert done < 80
    assert not Assignment.objects.exclude(system_propensity=None).exists()


def test_what_is_in_hand_when_the_target_is_met_may_be_rated() -> None:
    campaign = adaptive(target="pairs", target_value=50)
    first, second = made_raters(campaign, 2)
    held = fill_queue(second).assignments
    work(first)
    assert Campaign.objects.get().has_enough
    assert rate(second, held[0].item.public_id, Judgement(key="mine", score=3)).is_new
    assert [one.pk for one in fill_queue(second).assignments] == [held[1].pk]


@pytest.mark.slow
def test_it_goes_on_to_all_ratings_where_an_organiser_wants_them() -> None:
    campaign = adaptive(target="pairs", target_value=50)
    (rater,) = made_raters(campaign, 1)
    done, _ = work(rater)
    go_on_to_all(campaign, by=made_user("otto"))
    assert work(rater) == (80 - done, "finished")
    assert Look.objects.filter(campaign=campaign).first().number == LOOKS  # type: ignore[union-attr]
    with pytest.raises(NothingToDo):
        go_on_to_all(campaign)


@pytest.mark.slow
def test_a_target_that_is_out_of_reach_stops_nobody() -> None:
    campaign = adaptive(target="pairs", target_value=100)  # two of the systems are alike
    (rater,) = made_raters(campaign, 1)
    assert work(rater) == (80, "finished")
    campaign.refresh_from_db()
    assert campaign.target_met_at is None


# --- what may be asked for ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"allocation": "greedy"},
        {"target": "pairs", "target_value": None},
        {"target": "pairs", "target_value": 101},
        {"target": "width", "target_value": 0},
        {"target": "width", "target_value": 5},
        {"target": "none", "target_value": 3},
        {"kind": "interactive", "allocation": "adaptive"},
    ],
)
def test_the_database_refuses_what_has_no_meaning(fields: dict[str, object]) -> None:
    campaign = made_campaign(opened=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(**fields)


def test_one_system_has_no_order() -> None:
    campaign = made_campaign(systems=("alone",), opened=False, allocation="adaptive")
    with pytest.raises(NotReady, match="second system"):
        open_campaign(campaign)


def test_the_export_says_with_which_probability_the_system_was_drawn() -> None:
    campaign = adaptive()
    (rater,) = made_raters(campaign, 1)
    work(rater, 12)
    exported = list(ratings_to_export(campaign))
    assert len(exported) == 12
    assert all(
        one.system_propensity is not None and one.system_propensity >= one.propensity
        for one in exported
    )


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("otto", "organiser"))
    return client


def test_an_organiser_reads_how_sure_it_is(organiser: Client) -> None:
    campaign = adaptive(target="pairs", target_value=50)
    (rater,) = made_raters(campaign, 1)
    work(rater)
    page = organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert "The target is met" in page
    assert re.search(r"with \d+ of 80 ratings", page)
    assert all(name in page for name in SYSTEMS)
    assert "Go on to all ratings" in page
    organiser.post(reverse("campaign-state", args=[campaign.slug]), {"to": "all"})
    page = organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert "The campaign goes on to all of them" in page


def test_before_the_first_look_the_page_says_when_it_comes(organiser: Client) -> None:
    campaign = adaptive()
    page = organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert "Nothing is said before 4 ratings are there" in page


def test_going_on_where_nothing_stopped_is_refused_in_words(organiser: Client) -> None:
    campaign = adaptive()
    answer = organiser.post(
        reverse("campaign-state", args=[campaign.slug]), {"to": "all"}, follow=True
    )
    assert "The target is not met" in answer.content.decode()


def test_the_form_asks_for_the_value_of_the_chosen_target(organiser: Client) -> None:
    campaign = made_campaign(opened=False)
    fields = {
        "kind": "turn",
        "name": "Pilot",
        "version": campaign.version_id,
        "systems": [system.pk for system in campaign.systems.all()],
        "seed": 1,
        "raters_per_item": 2,
        **{f"label_{score}": f"label {score}" for score in range(1, 6)},
        "allocation": "adaptive",
        "target": "width",
    }
    refused = organiser.post(reverse("campaign-new"), fields)
    assert "Say how much is enough" in refused.content.decode()
    organiser.post(
        reverse("campaign-new"), {**fields, "target_width": "0.5", "target_pairs": "nonsense"}
    )
    stored = Campaign.objects.get(name="Pilot")
    assert (stored.allocation, stored.target, stored.target_value) == ("adaptive", "width", 0.5)
    page = organiser.get(reverse("campaign-settings", args=[stored.slug])).content.decode()
    assert 'name="target_width" value="0.5"' in page
