"""What programs rated is told apart from what people rated, in figures as on pages."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions.publishing import CannotPublish, publish
from annotations.campaigns.models import Arena, Campaign
from annotations.campaigns.queries.arena import anomalies_of, counted_battles
from annotations.campaigns.queries.overview import response_time_of
from annotations.models import CorpusVersion, Rating
from common.roles import ORGANISER
from dialeval_site.demo.site import load_demo
from tests.campaigns.judged import judge_all
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db


def rated(simulated: bool) -> Campaign:
    campaign = made_campaign(systems=["one"], dialogues=6, turns=4, k=1, simulated=simulated)
    (rater,) = made_raters(campaign, 1)
    judge_all(rater, list(campaign.items.all()), [3] * 24)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    campaign.refresh_from_db()
    return campaign


@pytest.mark.parametrize(("simulated", "basis"), [(False, "kind"), (True, "assumed")])
def test_the_pace_of_programs_is_no_basis_for_what_people_would_need(
    simulated: bool, basis: str
) -> None:
    rated(simulated)
    assert response_time_of("turn").basis == basis


def test_ratings_of_programs_are_not_published_among_those_of_people() -> None:
    campaign = rated(simulated=True)
    with pytest.raises(CannotPublish, match="programs made these ratings"):
        publish(campaign)
    assert not Rating.objects.exists()


def test_they_may_stand_in_a_corpus_whose_raters_are_programs_anyway() -> None:
    campaign = rated(simulated=True)
    CorpusVersion.objects.update(simulated=True)
    assert publish(campaign) == 24


def test_the_pages_of_such_a_campaign_say_so() -> None:
    client = Client()
    client.force_login(made_user("", ORGANISER))
    for simulated in (True, False):
        page = client.get(reverse("campaign", args=[rated(simulated).slug])).content
        assert (b"The raters of this campaign are programs" in page) is simulated


@pytest.mark.slow
def test_the_demo_brings_campaigns_and_an_arena_to_try_and_some_that_programs_rated() -> None:
    load_demo()
    load_demo()
    found = Campaign.objects.order_by("slug").values_list("slug", "kind", "state", "simulated")
    assert list(found) == [
        ("demo-chat", "interactive", "open", False),
        ("demo-dialogues", "dialogue", "open", False),
        ("demo-meeting", "collection", "open", False),
        ("demo-rated", "turn", "closed", True),
        ("demo-responses", "turn", "open", False),
    ]
    rated_by_programs = Campaign.objects.get(slug="demo-rated")
    assert (
        rated_by_programs.slots.filter(holder__state="done").count()
        == rated_by_programs.slots.count()
        > 0
    )
    arena = Arena.objects.get()
    assert (arena.slug, arena.is_open, counted_battles(arena).count()) == ("demo-arena", True, 72)
    assert anomalies_of(arena) == {}
