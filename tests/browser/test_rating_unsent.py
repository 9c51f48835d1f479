"""What waits to be sent when the page it was given on is left, or another page, tab or rater is
there by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating_stage import (
    campaign_for_rater,
    expect_nothing_waits,
    item_on,
    rate_by_key,
    stored_ratings,
)
from tests.browser.stage import Stage
from tests.browser.visit import PASSWORDS, Held, Visit

MATE = """
from django.contrib.auth import get_user_model
from annotations.campaigns.models import Campaign, Participation
mate = get_user_model().objects.create_user("mate", password="demo-mate")
campaign = Campaign.objects.get(slug={slug!r})
read = campaign.guidelines.first()
Participation.objects.create(campaign=campaign, user=mate, position=1, seed=4, guidelines_read=read)
"""
TAKEN_BY_OTHERS = """
from annotations.campaigns.models import Assignment, Campaign
campaign = Campaign.objects.get(slug={slug!r})
Assignment.objects.filter(item__campaign=campaign).update(state="returned", lease_expires_at=None)
campaign.slots.all().delete()
"""
ONE_ITEM: dict[str, Any] = {"dialogues": 1, "turns": 1, "systems": ["one"]}


def block(page: Page) -> None:
    """No rating gets through; whoever leaves the page all the same may."""
    page.route("**/submit/", lambda route: route.abort())
    page.on("dialog", lambda dialog: dialog.accept())


def forgive_what_was_blocked(visitor: Visit) -> None:
    visitor.complaints = [text for text in visitor.complaints if "ERR_FAILED" not in text]


def test_what_waits_is_not_sent_as_somebody_elses(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="two-raters")
    stage.python(MATE.format(slug=slug))
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    visitor.log_in_again("mate", "demo-mate")
    visitor.expected_status = {401}
    item = rate_by_key(page, 2)
    expect(page.locator("#rating-status")).to_contain_text("somebody else has logged in here")
    assert stored_ratings(stage, slug) == []
    visitor.log_in_again("rater", PASSWORDS["rater"])
    expect_nothing_waits(page)
    expect(page.locator("#rating-status")).to_be_empty()
    assert [(row["item"], row["score"]) for row in stored_ratings(stage, slug)] == [(item, 2)]
    assert stage.python(
        "from annotations.campaigns.models import RatingRevision as R;"
        f"print(R.objects.get(assignment__item__campaign__slug='{slug}').assignment.participation.user)"
    ).split() == ["rater"]


def test_the_page_at_the_end_tells_what_was_refused_there(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="refused-at-the-end", k=1, **ONE_ITEM)
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    block(page)
    rate_by_key(page, 2)
    stage.python(TAKEN_BY_OTHERS.format(slug=slug))
    page.goto(f"/rate/{slug}/item/")
    expect(page.locator(".unsent")).to_have_text("1 rating waits to be sent.")
    expect(page.locator(".all-stored")).to_be_hidden()
    visitor.expected_status = {409}
    page.unroute("**/submit/")
    expect(page.get_by_role("alert")).to_contain_text("Others have rated this item in the meantime")
    expect(page.locator(".all-stored")).to_be_hidden()
    expect_nothing_waits(page)
    page.reload()
    expect(page.locator(".all-stored")).to_be_visible()
    forgive_what_was_blocked(visitor)


@pytest.mark.parametrize(
    ("status", "told"),
    [(404, "One rating could not be sent"), (422, "One rating was not taken: Not on the scale.")],
)
def test_the_page_at_the_end_tells_what_is_gone_and_what_is_faulty(
    visit: Callable[..., Visit], stage: Stage, status: int, told: str
) -> None:
    slug = campaign_for_rater(stage, slug=f"end-{status}", k=1, **ONE_ITEM)
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    block(page)
    rate_by_key(page, 2)
    stage.python(TAKEN_BY_OTHERS.format(slug=slug))
    page.goto(f"/rate/{slug}/item/")
    expect(page.locator(".unsent")).to_have_text("1 rating waits to be sent.")
    visitor.expected_status = {status}
    page.route(
        "**/submit/",
        lambda route: route.fulfill(
            status=status, json={"stored": False, "errors": {"score": ["Not on the scale."]}}
        ),
    )
    expect(page.get_by_role("alert")).to_contain_text(told)
    expect(page.locator(".all-stored")).to_be_hidden()
    forgive_what_was_blocked(visitor)


def test_a_tab_whose_last_rating_another_tab_has_sent_goes_on(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="sent-elsewhere", **ONE_ITEM)
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    page.route("**/submit/", lambda route: route.fulfill(status=401, json={"stored": False}))
    visitor.expected_status = {401}
    rate_by_key(page, 4)
    expect(page.locator("#rating-status")).to_contain_text("1 rating waits to be sent.")
    page.evaluate(
        "() => { window.setTimeout = () => 0; }"
    )  # it tries no more: nothing of it is on its way
    other = page.context.new_page()
    other.goto(f"/rate/{slug}/item/")
    expect(other.get_by_role("heading", name="You have rated all of it")).to_be_visible()
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()
    assert [row["score"] for row in stored_ratings(stage, slug)] == [4]


def test_a_pause_begins_when_what_waits_is_sent(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="pause-unsent")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    held = Held(page, "**/submit/")
    rate_by_key(page, 4)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#rating-status")).to_contain_text("The pause begins when this is sent.")
    assert page.locator(".messages").count() == 0
    held.request(0).continue_()
    expect(page.locator(".messages")).to_contain_text("All your ratings are stored")
    assert [row["score"] for row in stored_ratings(stage, slug)] == [4]


def test_the_start_page_sends_what_waits(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="start-unsent")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    block(page)
    rate_by_key(page, 4)
    page.goto(f"/rate/{slug}/")
    expect(page.locator(".unsent")).to_have_text("1 rating waits to be sent.")
    page.unroute("**/submit/")
    expect(page.locator(".unsent")).to_be_empty()
    expect(page.get_by_text("1 of 12")).to_be_visible()
    assert [row["score"] for row in stored_ratings(stage, slug)] == [4]
    forgive_what_was_blocked(visitor)


def test_going_back_beyond_the_page_keeps_what_was_typed(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="back-typed")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    first = rate_by_key(page, 2)
    expect_nothing_waits(page)
    page.reload()
    second = item_on(page)
    page.keyboard.press("c")
    page.keyboard.type("Half a thought")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.keyboard.press("Backspace")
    expect(page.locator(f"#item-place [data-item='{first}']")).to_be_visible()
    page.wait_for_load_state("load")  # the item is there before the script is
    page.keyboard.press("Escape")
    expect(page.locator(f"#item-place [data-item='{second}']")).to_be_visible()
    assert page.locator("input[name=score]:checked").input_value() == "3"
    assert page.get_by_label("Comment", exact=True).input_value() == "Half a thought"
    page.reload()
    block(page)
    rate_by_key(page, 5)
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(page.get_by_role("alert")).to_contain_text("Back once your last rating is sent")
    forgive_what_was_blocked(visitor)


def test_digits_that_need_shift_rate_too(visit: Callable[..., Visit], stage: Stage) -> None:
    """French and Czech keyboards have other characters without it."""
    slug = campaign_for_rater(stage, slug="shifted-digits")
    page = visit(role="rater").go(f"/rate/{slug}/item/")
    page.evaluate("""document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "4", shiftKey: true, bubbles: true }))""")
    assert page.locator("input[name=score]:checked").input_value() == "4"
