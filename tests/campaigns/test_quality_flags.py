"""Flags of careless raters, with numbers worked by hand, and what publishing asks about them."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.queries.quality import flagged_raters, raters_of
from annotations.campaigns.rater_statistics.flags import (
    MostFrequentScore,
    most_frequent_score,
    quality_flags,
)
from annotations.campaigns.rater_statistics.others import NOBODY_ELSE, alpha_with_others
from annotations.campaigns.rater_statistics.own_ratings import ChecksPassed, Pace
from annotations.models import Rating
from common.estimates import Estimate
from common.roles import ORGANISER
from tests.campaigns.judged import items_of, judge
from tests.campaigns.sets import made_campaign, made_raters, made_user

NAN = float("nan")


def kinds(**changes: object) -> list[str]:
    """Of a careful rater, but for the changes."""
    careful = {
        "pace": Pace(8.0, 20),
        "frequent": MostFrequentScore(4, 20, 0.4, 0.35),
        "alpha": Estimate(0.6),
        "alpha_items": 20,
        "attention": ChecksPassed(3, 3),
        "fast_seconds": 2.0,
    }
    return [flag.kind for flag in quality_flags(**(careful | changes))]  # type: ignore[arg-type]


def test_a_careful_rater_has_no_flag() -> None:
    assert kinds() == []


@pytest.mark.parametrize(
    ("seconds", "timed", "flags"), [(0.2, 20, ["fast"]), (2.0, 20, []), (0.2, 9, [])]
)
def test_a_median_below_the_setting_is_fast(seconds: float, timed: int, flags: list[str]) -> None:
    """Below, not at the limit of 2 s; nine times are too few."""
    assert kinds(pace=Pace(seconds, timed)) == flags


@pytest.mark.parametrize(
    ("share", "others", "items", "flags"),
    [
        (0.95, 0.40, 20, ["straight-lining"]),
        (0.79, 0.40, 20, []),  # below 80 %
        (0.95, 0.75, 20, []),  # the others saw it nearly so: 20 points more
        (1.00, 0.00, 9, []),  # of nine items
    ],
)
def test_straight_lining_is_held_against_the_others(
    share: float, others: float, items: int, flags: list[str]
) -> None:
    assert kinds(frequent=MostFrequentScore(4, items, share, others)) == flags


def test_alpha_below_chance_is_flagged_and_undefined_is_not() -> None:
    assert kinds(alpha=Estimate(-0.1)) == ["alpha"]
    assert kinds(alpha=Estimate(0.0)) == kinds(alpha=Estimate.undefined("none")) == []


def test_half_of_two_attention_items_missed_is_flagged_and_one_of_one_is_not() -> None:
    assert kinds(attention=ChecksPassed(1, 2)) == ["attention"]
    assert kinds(attention=ChecksPassed(0, 1)) == kinds(attention=ChecksPassed(2, 3)) == []


def test_the_others_share_of_a_score_is_averaged_over_the_shared_items() -> None:
    """Rater 0 gives 4, 4, 5 on items that others judged and 1 where nobody did. The others gave 4
    to half of item 0, to none of item 1 and to all of item 2: (½ + 0 + 1) / 3 = ½."""
    scores = np.array([[4, 4, 5, 1], [4, 3, 4, NAN], [2, NAN, NAN, NAN]], dtype=float)
    found = most_frequent_score(scores, ~np.isnan(scores), 0)
    assert found is not None
    assert (found.score, found.items) == (4, 3)
    assert (found.share, found.others) == pytest.approx((2 / 3, 1 / 2))


def test_no_share_of_others_where_nobody_shares_an_item() -> None:
    scores = np.array([[4.0, NAN], [NAN, 4.0]])
    assert most_frequent_score(scores, ~np.isnan(scores), 0) is None


def test_alpha_with_others_is_of_all_pairs_with_the_rater() -> None:
    """Pairs (1, 1), (5, 5), (1, 5): three of each score, one pair of three differs, both ways:
    α = 1 − (6 − 1) · 2 / (3 · 3 + 3 · 3) = 4/9."""
    scores = np.array([[1, 5, NAN], [1, 5, 2], [5, NAN, 2]], dtype=float)
    alpha = alpha_with_others(scores, np.arange(3), ~np.isnan(scores), 0)
    assert alpha.value == pytest.approx(4 / 9)


def test_alpha_of_reversed_scores_is_negative() -> None:
    """(1, 5) and (5, 1): α = 1 − (4 − 1) · 4 / (2 · 2 + 2 · 2) = −½."""
    scores = np.array([[1.0, 5.0], [5.0, 1.0]])
    alpha = alpha_with_others(scores, np.arange(2), ~np.isnan(scores), 0)
    assert alpha.value == pytest.approx(-0.5)


def test_alpha_without_others_is_undefined() -> None:
    scores = np.array([[1.0, 5.0], [NAN, NAN]])
    assert alpha_with_others(scores, np.arange(2), ~np.isnan(scores), 0).reason == NOBODY_ELSE


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def campaign() -> Campaign:
    """Twelve items; rater 1 takes 4 s an item and uses the scale, rater 2 0.2 s and gives 5."""
    campaign = made_campaign(dialogues=12, turns=1, k=2, slug="pilot")
    careful, careless = made_raters(campaign, 2)
    for number, item in enumerate(items_of(campaign)[:12]):
        judge(careful, item, 1 + number % 5)
        judge(careless, item, 5, active_ms=200)
    Campaign.objects.filter(pk=campaign.pk).update(state="paused")
    return campaign


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", ORGANISER))
    return client


@pytest.mark.django_db
def test_the_careless_rater_is_flagged_and_the_careful_one_is_not(campaign: Campaign) -> None:
    """α of both is the same: they are one pair."""
    first, second = raters_of(campaign, intervals=False)
    assert [flag.kind for flag in second.flags if flag.kind != "alpha"] == [
        "fast",
        "straight-lining",
    ]
    assert {flag.kind for flag in first.flags} <= {"alpha"}


@pytest.mark.django_db
def test_the_raters_page_shows_the_figure_and_the_rule(
    campaign: Campaign, organiser: Client
) -> None:
    text = organiser.get(reverse("campaign-raters", args=["pilot"])).content.decode()
    assert "0.2 s per item, median of 12 items" in text
    assert "flagged below 2 s" in text


@pytest.mark.django_db
def test_publishing_asks_about_flagged_raters_first(campaign: Campaign, organiser: Client) -> None:
    address = reverse("campaign-publish", args=["pilot"])
    answer = organiser.post(address, {"aspect": "overall"})
    assert answer.status_code == 200
    assert "flagged-asked" in answer.content.decode()
    assert not Rating.objects.exists()


@pytest.mark.django_db
def test_publishing_keeps_flagged_raters_where_the_organiser_says_so(
    campaign: Campaign, organiser: Client
) -> None:
    decisions = {f"flagged-{one.number}": "keep" for one in flagged_raters(campaign)}
    organiser.post(
        reverse("campaign-publish", args=["pilot"]),
        {"aspect": "overall", "flagged-asked": "1", **decisions},
    )
    assert Rating.objects.count() == 24


@pytest.mark.django_db
def test_publishing_leaves_a_flagged_rater_out_and_deletes_nothing(
    campaign: Campaign, organiser: Client
) -> None:
    decisions = {f"flagged-{one.number}": "keep" for one in flagged_raters(campaign)}
    organiser.post(
        reverse("campaign-publish", args=["pilot"]),
        {"aspect": "overall", "flagged-asked": "1", **decisions, "flagged-2": "exclude"},
    )
    assert Rating.objects.count() == 12
    careless = Participation.objects.get(campaign=campaign, position=1)
    assert (careless.state, careless.assignments.count()) == ("excluded", 12)
    assert "0.2 s per item" in careless.exclusion_reason


@pytest.mark.django_db
def test_a_flagged_rater_without_an_answer_is_asked_about_again(
    campaign: Campaign, organiser: Client
) -> None:
    answer = organiser.post(
        reverse("campaign-publish", args=["pilot"]), {"aspect": "overall", "flagged-asked": "1"}
    )
    assert answer.status_code == 422
    assert not Rating.objects.exists()
