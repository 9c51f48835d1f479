"""Training comes before what counts, attention items among it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions.work_queue import (
    Judgement,
    fill_queue,
    give_back,
    rate,
    skip,
)
from annotations.campaigns.models import Assignment, Item, Participation, Slot
from tests.campaigns.rating_all import rate_all
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db
State = Assignment.State


def test_training_comes_first_and_in_order() -> None:
    campaign = made_campaign(training=[(1, 2), (3, 3), (4, 5)])
    (rater,) = made_raters(campaign, 1)
    roles = [(one.item.role, one.item.position) for one in rate_all(rater, most=5)]
    assert roles == [
        ("training", 0),
        ("training", 1),
        ("training", 2),
        ("regular", 0),
        ("regular", 0),
    ]


def test_nothing_regular_is_given_before_the_training_is_over() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 2)]), 1)
    assert [one.item.role for one in fill_queue(rater).assignments] == ["training"]


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
        rate(
            rater,
            fill_queue(rater).assignments[0].item.public_id,
            Judgement(key=str(number), score=score),
        )
    assert rater.qualification == ("passed" if passed else "failed")
    after = fill_queue(rater)
    assert after.why_empty == ("" if passed else "failed")
    assert len(after.assignments) == (2 if passed else 0)


def test_a_pass_mark_of_two_thirds_takes_two_of_three() -> None:
    campaign = made_campaign(training=[(1, 1), (1, 1), (1, 1)], pass_mark=2 / 3)
    (rater,) = made_raters(campaign, 1)
    for number, score in enumerate([1, 1, 5]):
        rate(
            rater,
            fill_queue(rater).assignments[0].item.public_id,
            Judgement(key=str(number), score=score),
        )
    assert rater.qualification == "passed"


def test_raters_learn_of_practice_and_pass_mark_before_they_begin(client: Client) -> None:
    campaign = made_campaign(training=[(1, 2), (4, 5), (4, 5)], pass_mark=0.6)
    (rater,) = made_raters(campaign, 1)
    client.force_login(rater.user)
    start = reverse("rating-start", args=[campaign.slug])
    page = " ".join(client.get(start).content.decode().split())
    assert "It begins with 3 practice items." in page
    assert "at least 60 % of your first ratings have to be in the expected range" in page
    Participation.objects.update(qualification=Participation.Qualification.PASSED)
    assert "practice items" not in client.get(start).content.decode()


def test_the_second_thought_on_a_training_item_does_not_count() -> None:
    """The answer was shown after the first."""
    campaign = made_campaign(training=[(1, 1), (1, 1)], pass_mark=1)
    (rater,) = made_raters(campaign, 1)
    first, second = (one.item.public_id for one in fill_queue(rater).assignments)
    rate(rater, first, Judgement(key="wrong", score=5))
    rate(rater, first, Judgement(key="now I know", score=1))
    rate(rater, second, Judgement(key="right", score=1))
    assert rater.qualification == "failed"


def test_training_without_a_pass_mark_is_passed_by_all() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1)]), 1)
    rate(rater, fill_queue(rater).assignments[0].item.public_id, Judgement(key="a", score=5))
    assert rater.qualification == "passed"


def test_a_skipped_training_item_is_not_right() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1)], pass_mark=0.5), 1)
    skip(rater, fill_queue(rater).assignments[0].item.public_id, "unclear")
    assert rater.qualification == "failed"


def test_training_items_given_back_come_again() -> None:
    (rater,) = made_raters(made_campaign(training=[(1, 1), (2, 2)]), 1)
    before = [one.item_id for one in fill_queue(rater).assignments]
    give_back(rater)
    assert [one.item_id for one in fill_queue(rater).assignments] == before


def test_every_rater_gets_every_training_item() -> None:
    campaign = made_campaign(training=[(1, 2)], k=1)
    for rater in made_raters(campaign, 4):
        assert fill_queue(rater).assignments[0].item.role == "training"


@pytest.mark.slow
def test_attention_items_come_among_the_others_once_each_and_hold_no_slot() -> None:
    campaign = made_campaign(
        dialogues=10, turns=4, k=1, attention=[(1, 1), (5, 5), (2, 3)], attention_every=4
    )
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
