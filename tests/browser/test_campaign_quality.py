"""The organiser's pages of raters and agreement, in a browser: live, usable on a phone, blind to
nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.stage import Stage
from tests.browser.visit import Visit

CAMPAIGN = """
from tests.campaigns.sets import made_campaign, made_raters
from tests.campaigns.judged import items_of, judge
campaign = made_campaign(systems=["one", "two"], dialogues=4, turns=1, slug="live", k=3)
raters = made_raters(campaign, 3)
for number, item in enumerate(items_of(campaign)):
    for shift, rater in enumerate(raters[:2]):
        judge(rater, item, 1 + (number + shift * (number % 2)) % 5)
"""
ONE_MORE = """
from annotations.campaigns.models import Campaign
from tests.campaigns.judged import items_of, judge
campaign = Campaign.objects.get(slug="live")
judge(campaign.participations.get(position=2), items_of(campaign)[0], 5)
from leaderboard.models import Analysis
Analysis.objects.update(seconds=0)
"""


@pytest.fixture(scope="package")
def live_campaign(stage: Stage) -> str:
    stage.python(CAMPAIGN)
    return "/campaigns/live"


@pytest.mark.slow
def test_the_agreement_page_follows_the_ratings(
    visit: Callable[..., Visit], stage: Stage, live_campaign: str
) -> None:
    """16 ratings, then 17, without anybody touching the page."""
    visitor = visit(role="organiser")
    page, address = visitor.page, f"{live_campaign}/agreement/"
    visitor.go(address)  # until the worker has computed it
    page.clock.install()
    page.goto(address)
    raters = page.locator(".pair-matrix tbody tr")
    assert raters.count() == 2
    chosen = page.locator("#live-agreement th:has([data-sort])").nth(1)
    chosen.locator("a").click()
    order = chosen.get_attribute("aria-sort")
    assert order in ("ascending", "descending")
    stage.python(ONE_MORE)
    for _ in range(60):
        page.clock.fast_forward(15_000)
        if raters.count() > 2:
            break
        page.wait_for_timeout(500)  # of the worker's time, which goes on
    expect(raters).to_have_count(3)
    expect(page.locator(".progress .figure")).to_have_text("17 of 24")
    expect(chosen, "the table that came anew is in the order that was chosen").to_have_attribute(
        "aria-sort", order
    )


@pytest.mark.parametrize("name", ["agreement", "raters", "raters/?rater=1", "ratings"])
def test_nothing_scrolls_sideways_on_a_phone(
    visit: Callable[..., Visit], live_campaign: str, name: str
) -> None:
    page = visit(width=390, role="organiser").page
    page.goto(f"{live_campaign}/{name}{'' if '?' in name else '/'}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_organiser_excludes_a_rater_and_takes_the_rater_back(
    visit: Callable[..., Visit], live_campaign: str
) -> None:
    page = visit(role="organiser").page
    page.goto(f"{live_campaign}/raters/")
    page.get_by_role("link", name="rater 2").click()
    page.get_by_label("Reason", exact=True).fill("rated without reading")
    page.get_by_role("button", name="Exclude rater 2").click()
    page.get_by_text("8 ratings no longer count").wait_for()
    page.get_by_role("button", name="Take back into the campaign").click()
    page.get_by_text("count again: 8").wait_for()
