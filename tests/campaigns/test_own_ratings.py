"""The list of what one has rated: what is on it, and who may change what."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.campaigns.models import Campaign, Item
from tests.campaigns.judged import items_of, judge
from tests.campaigns.rating_browser import a_rater, address, browser_of
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db


def text_of(campaign: Campaign, browser) -> str:
    return browser.get(address("own-ratings", campaign)).content.decode()


def test_each_rating_leads_to_its_item_while_the_campaign_is_open() -> None:
    campaign = made_campaign(dialogues=2, turns=1)
    rater, browser = a_rater(campaign)
    item = items_of(campaign)[0]
    judge(rater, item, 4, comment="A dry remark.")
    text = text_of(campaign, browser)
    assert f"?item={item.public_id}" in text
    assert "A dry remark." in text


def test_after_the_campaign_ratings_are_read_and_not_changed() -> None:
    campaign = made_campaign(dialogues=2, turns=1)
    rater, browser = a_rater(campaign)
    judge(rater, items_of(campaign)[0], 4, comment="A dry remark.")
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    text = text_of(campaign, browser)
    assert "A dry remark." in text
    assert "?item=" not in text


def test_attention_items_are_on_the_list_as_any_other_and_training_is_not() -> None:
    campaign = made_campaign(training=[(4, 5)], attention=[(4, 5)])
    rater, browser = a_rater(campaign)
    [training] = items_of(campaign, Item.Role.TRAINING)
    [attention] = items_of(campaign, Item.Role.ATTENTION)
    judge(rater, training, 5)
    judge(rater, attention, 5)
    judge(rater, items_of(campaign)[0], 4)
    text = text_of(campaign, browser)
    assert f"?item={attention.public_id}" in text
    assert training.public_id not in text
    assert "attention" not in text.lower()


def test_nobody_sees_what_another_rated() -> None:
    campaign = made_campaign(dialogues=2, turns=1, k=2)
    first, second = made_raters(campaign, 2)
    judge(first, items_of(campaign)[0], 4, comment="A dry remark.")
    assert "A dry remark." not in text_of(campaign, browser_of(second.user))


def test_what_was_typed_is_text_on_the_list() -> None:
    campaign = made_campaign(dialogues=2, turns=1)
    rater, browser = a_rater(campaign)
    judge(rater, items_of(campaign)[0], 4, comment="<script>alert(1)</script>")
    assert "<script>alert(1)</script>" not in text_of(campaign, browser)


def test_a_longer_list_needs_no_more_queries() -> None:
    campaign = made_campaign(dialogues=4, turns=1)
    rater, browser = a_rater(campaign)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            text_of(campaign, browser)
        return len(found)

    items = items_of(campaign)
    judge(rater, items[0], 4)
    few = queries()
    for item in items[1:4]:
        judge(rater, item, 4)
    assert queries() == few
