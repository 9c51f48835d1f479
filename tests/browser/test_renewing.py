"""A page that waits for its numbers becomes the page by itself, but never in the place of one that was asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visit import Visit

NEW, ANOTHER_NEW = (f"/corpora/demo/metrics/compare/?first=bleu_3&second={one}" for one in ("rouge_2", "rouge_1"))
"""Questions that no other test asks: their pages wait."""
A_POLL_AND_A_HALF = 3_000


@pytest.mark.slow
def test_a_page_that_renews_itself_leaves_who_is_leaving_alone(visit: Callable[..., Visit]) -> None:
    """The page asks every 2 s and is told to renew itself while the page that was clicked is still on its way."""
    page, held, told = visit().page, [], []

    def renew(route: Route) -> None:
        told.append(route.request.url)
        route.fulfill(status=200, headers={"HX-Refresh": "true"})

    page.route("**/analyses/**", lambda route: route.fulfill(status=204))
    page.goto(NEW)
    expect(page.locator(".analysis-state[hx-get]")).to_be_visible()
    page.route("**/metrics/", lambda route: held.append(route))
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Metrics").click(no_wait_after=True)
    page.route("**/analyses/**", renew)
    page.wait_for_timeout(A_POLL_AND_A_HALF)
    assert told
    held[0].continue_()
    expect(page).to_have_url(held[0].request.url)


@pytest.mark.slow
def test_a_page_renews_itself_while_nobody_leaves(visit: Callable[..., Visit]) -> None:
    page, asked = visit().page, []
    page.route("**/analyses/**", lambda route: route.fulfill(status=204))
    page.goto(ANOTHER_NEW)
    expect(page.locator(".analysis-state[hx-get]")).to_be_visible()
    page.on("request", lambda request: asked.append(request.url) if request.is_navigation_request() else None)
    page.route("**/analyses/**", lambda route: route.fulfill(status=200, headers={"HX-Refresh": "true"}))
    page.wait_for_timeout(A_POLL_AND_A_HALF)
    assert asked
