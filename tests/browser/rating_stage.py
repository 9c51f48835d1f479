"""Campaigns on the browser tests' site, and what its database holds of them."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.stage import Stage
from tests.site import wait_until

MADE = """
import json
from django.contrib.auth import get_user_model
from annotations.campaigns.models import Participation
from tests.campaigns.sets import made_campaign, made_version
given = json.loads({given!r})
corpus = {{name: given.pop(name) for name in ("systems", "dialogues", "turns") if name in given}}
version = made_version(**corpus, slug="corpus-of-" + given["slug"])
campaign = made_campaign(given.pop("kind"), version=version, **given)
Participation.objects.create(
    campaign=campaign, user=get_user_model().objects.get(username="rater"), position=0, seed=3,
    guidelines_read=campaign.guidelines.first(),
)
print(campaign.slug)
"""
STORED = """
import json
from annotations.campaigns.models import RatingRevision
rows = RatingRevision.objects.filter(assignment__item__campaign__slug={slug!r}).order_by("pk")
print(json.dumps([
    dict(item=row.assignment.item.public_id, number=row.number, score=row.score, axes=row.low_axes, key=row.key,
         flagged=row.flagged, comment=row.comment, submit_ms=row.submit_ms, active_ms=row.active_ms,
         first_key_ms=row.first_key_ms)
    for row in rows.select_related("assignment__item")
]))
"""


def campaign_for_rater(stage: Stage, kind: str = "turn", **given: Any) -> str:
    """An open campaign that the demo rater has joined, guidelines read. ``given`` goes to
    ``made_campaign``."""
    return stage.python(
        MADE.format(given=json.dumps({"kind": kind, "slug": f"browser-{kind}", **given}))
    ).split()[-1]


def stored_ratings(stage: Stage, slug: str) -> list[dict[str, Any]]:
    """All revisions of the campaign in the order in which they were stored."""
    return json.loads(stage.python(STORED.format(slug=slug)))


def heading(page: Page) -> str:
    return page.locator("#item-heading").inner_text()


def item_on(page: Page) -> str:
    return page.locator("#item-place .item").get_attribute("data-item") or ""


def rate_by_key(page: Page, score: int) -> str:
    """Press the score and Enter; returns the item's id once another item, or the end, is on the
    page."""
    page.wait_for_load_state("load")  # before its script has run, a page hears no key
    expect(page.locator("#item-place .item:visible")).to_have_count(1)
    item = item_on(page)
    page.keyboard.press(str(score))
    page.keyboard.press("Enter")
    expect(page.locator(f"#item-place .item[data-item='{item}']:visible")).to_have_count(0)
    return item


def expect_nothing_waits(page: Page) -> None:
    """The server has said of everything that it has it. (The pages' policy refuses Playwright's own
    waiting.)"""
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('dialeval-rating:')).length"
    # It may pause half a minute
    wait_until(lambda: page.evaluate(kept) == 0, 60, "nothing waits to be sent")
