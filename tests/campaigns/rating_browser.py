"""Raters with a browser, and what it sends, through Django's test client."""

from __future__ import annotations

import uuid
from typing import Any

from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import work_queue
from annotations.campaigns.models import Campaign, Participation
from tests.campaigns.sets import made_raters

JSON = {"HTTP_ACCEPT": "application/json"}


def a_rater(campaign: Campaign) -> tuple[Participation, Client]:
    """Who has read the guidelines and is logged in."""
    rater = made_raters(campaign, 1)[0]
    Participation.objects.filter(pk=rater.pk).update(guidelines_read=campaign.guidelines.first())
    rater.refresh_from_db()
    return rater, browser_of(rater.user)


def browser_of(user: Any) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def address(name: str, campaign: Campaign) -> str:
    return reverse(name, args=[campaign.slug])


def in_hand(rater: Participation) -> list[str]:
    return [one.item.public_id for one in work_queue.fill_queue(rater).assignments]


def send(
    browser: Client,
    campaign: Campaign,
    item: str,
    score: Any = 4,
    accept: Any = JSON,
    **fields: Any,
) -> Any:
    given = {"item": item, "key": uuid.uuid4().hex, "score": score, "guidelines": 1, **fields}
    return browser.post(address("rating-submit", campaign), given, **accept)
