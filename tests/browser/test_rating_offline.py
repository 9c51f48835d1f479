"""Without a connection, with a server that fails, and after being logged out: no rating is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.browser.rating_stage import (
    campaign_for_rater,
    expect_nothing_waits,
    heading,
    item_on,
    rate_by_key,
    stored_ratings,
)
from tests.browser.stage import Stage
from tests.browser.visit import Visit


def test_ratings_wait_while_offline_and_go_when_back(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="rating-offline")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    page.context.set_offline(True)
    first = rate_by_key(page, 2)
    expect(page.locator("#rating-status")).to_contain_text("1 rating waits to be sent.")
    second = rate_by_key(page, 5)  # it was there already
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    expect(page.locator("#rating-status")).to_contain_text("2 ratings wait to be sent.")
    expect(page.locator("#rating-status")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("#item-heading")).to_have_text("Item 3 of 12")
    expect(page.locator("#rating-status")).to_be_empty()
    expect_nothing_waits(page)
    assert [(row["item"], row["score"]) for row in stored_ratings(stage, slug)] == [
        (first, 2),
        (second, 5),
    ]
    visitor.complaints = [
        text for text in visitor.complaints if "ERR_INTERNET_DISCONNECTED" not in text
    ]


def test_a_reload_keeps_what_waits(visit: Callable[..., Visit], stage: Stage) -> None:
    """The tab warns; who leaves all the same finds the rating sent by the next page."""
    slug = campaign_for_rater(stage, slug="reload")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    page.route("**/submit/", lambda route: route.abort())
    first = rate_by_key(page, 4)
    second = item_on(page)
    expect(page.locator("#rating-status")).to_contain_text("1 rating waits to be sent.")
    warnings: list[str] = []

    def leave(dialog) -> None:  # type: ignore[no-untyped-def]
        warnings.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.reload()
    assert warnings == ["beforeunload"]
    expect(page.locator("#item-heading")).to_have_text("Item 2 of 12")
    assert item_on(page) == second
    page.unroute("**/submit/")
    expect_nothing_waits(page)
    assert [(row["item"], row["score"]) for row in stored_ratings(stage, slug)] == [(first, 4)]
    visitor.complaints = [text for text in visitor.complaints if "ERR_FAILED" not in text]


def test_an_answer_that_is_lost_makes_no_second_rating(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    """The server stores, the answer never arrives, the page sends again: the key is the same."""
    slug = campaign_for_rater(stage, slug="rating-lost-answer")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    seen: list[str] = []

    def lose_the_first(route: Route) -> None:
        seen.append(route.request.post_data or "")
        if len(seen) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/submit/", lose_the_first)
    rate_by_key(page, 3)
    expect_nothing_waits(page)
    assert len(seen) == 2
    assert [(row["score"], row["number"]) for row in stored_ratings(stage, slug)] == [(3, 1)]
    visitor.complaints = [text for text in visitor.complaints if "ERR_FAILED" not in text]


@pytest.mark.slow
def test_a_failing_server_is_tried_again(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="fails")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    visitor.expected_status = {500}
    answers = iter([500, 500])

    def fail_twice(route: Route) -> None:
        status = next(answers, None)
        if status is None:
            route.continue_()
        else:
            route.fulfill(status=status, body="<h1>no</h1>", content_type="text/html")

    page.route("**/submit/", fail_twice)
    rate_by_key(page, 3)
    expect_nothing_waits(page)
    assert [row["score"] for row in stored_ratings(stage, slug)] == [3]


def test_who_was_logged_out_logs_in_elsewhere_and_loses_nothing(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="logged-out")
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    page.context.clear_cookies(name="sessionid")
    visitor.expected_status = {401, 403}
    rate_by_key(page, 2)
    link = page.get_by_role("link", name="Log in in a new tab")
    expect(link).to_be_visible()
    with page.context.expect_page() as opened:
        link.click()
    tab = opened.value
    tab.get_by_label("Username").fill("rater")
    tab.get_by_label("Password").fill("demo-rater")
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("heading", name="Your campaigns").wait_for()
    page.bring_to_front()
    expect_nothing_waits(page)
    assert heading(page) == "Item 2 of 12"
    assert [row["score"] for row in stored_ratings(stage, slug)] == [2]


def test_a_rating_that_comes_too_late_is_told(visit: Callable[..., Visit], stage: Stage) -> None:
    slug = campaign_for_rater(stage, slug="too-late", k=1)
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    stage.python(
        "from annotations.campaigns.models import Assignment as A, Campaign as "
        f"C;A.objects.filter(item__campaign__slug='{slug}').update(state='returned', "
        f"lease_expires_at=None);C.objects.get(slug='{slug}').slots.update(holder=None);"
        f"C.objects.get(slug='{slug}').slots.filter(item__public_id='{item_on(page)}').delete()"
    )
    visitor.expected_status = {409}
    rate_by_key(page, 2)
    expect(page.get_by_role("alert")).to_contain_text("Others have rated this item in the meantime")
    expect_nothing_waits(page)
    assert stored_ratings(stage, slug) == []


def test_who_waits_for_an_item_of_a_deleted_campaign_is_told_that_it_is_gone(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="deleted", dialogues=1, turns=1, systems=["one"])
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    stage.python(
        "from annotations.campaigns.models import Campaign as C; "
        f"C.objects.get(slug='{slug}').delete()"
    )
    visitor.expected_status = {404}
    rate_by_key(page, 2)
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    expect_nothing_waits(page)


def test_a_practice_rating_that_is_refused_brings_its_item_again(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    slug = campaign_for_rater(stage, slug="refused-practice", training=[[4, 5]])
    visitor = visit(role="rater")
    page = visitor.go(f"/rate/{slug}/item/")
    first, visitor.expected_status = item_on(page), {422}
    page.route(
        "**/submit/",
        lambda route: route.fulfill(
            status=422, json={"stored": False, "errors": {"score": ["Not on the scale."]}}
        ),
    )
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(
        "This rating was not taken: Not on the scale."
    )
    assert item_on(page) == first
