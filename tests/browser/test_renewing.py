"""A page that waits for its numbers becomes the page by itself, but never in the place of one that
was asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.visit import Held, Visit

NEW, ANOTHER_NEW = (
    f"/corpora/demo/metrics/compare/?first=bleu_3&second={one}" for one in ("rouge_2", "rouge_1")
)
"""Questions that no other test asks: their pages wait."""
ASKED_WITHIN, RENEWED_WITHIN = 120_000, 1_000
"""It asks every 2 s, if the machine has time for it; what it is told is followed at once."""


def wait_for(found: list[str], page: Page) -> None:
    """While the test waits for the page, and only then, Playwright tells what the page did."""
    for _ in range(ASKED_WITHIN // 100):
        if found:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"the page asked for nothing within {ASKED_WITHIN} ms")


@pytest.mark.slow
def test_a_page_that_renews_itself_leaves_who_is_leaving_alone(visit: Callable[..., Visit]) -> None:
    """The page asks every 2 s and is told to renew itself while the page that was clicked is still
    on its way."""
    page, told = visit().page, []

    def renew(route: Route) -> None:
        told.append(route.request.url)
        route.fulfill(status=200, headers={"HX-Refresh": "true"})

    page.route("**/analyses/**", lambda route: route.fulfill(status=204))
    page.goto(NEW)
    expect(page.locator(".analysis-state[hx-get]")).to_be_visible()
    held = Held(page, "**/metrics/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Metrics").click(
        no_wait_after=True
    )
    page.route("**/analyses/**", renew)
    wait_for(told, page)
    page.wait_for_timeout(RENEWED_WITHIN)
    page.unroute("**/analyses/**", renew)  # who leaves is left alone for ten seconds
    held.request(0).continue_()
    expect(page).to_have_url(held.request(0).request.url)


@pytest.mark.slow
def test_a_page_becomes_what_it_waited_for_in_place(visit: Callable[..., Visit]) -> None:
    page, asked, navigations = visit().page, [], []
    page.route("**/analyses/**", lambda route: route.fulfill(status=204))
    page.goto(ANOTHER_NEW)
    expect(page.locator(".analysis-state[hx-get]")).to_be_visible()
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Metrics")
    link.focus()

    def note(request: Request) -> None:
        if request.is_navigation_request():
            navigations.append(request.url)
        elif request.url.endswith(ANOTHER_NEW):
            asked.append(request.url)

    page.on("request", note)
    page.route(
        "**/analyses/**", lambda route: route.fulfill(status=200, headers={"HX-Refresh": "true"})
    )
    wait_for(asked, page)
    page.wait_for_timeout(RENEWED_WITHIN)
    assert not navigations
    expect(link).to_be_focused()


PART = """() => {
  const part = document.createElement("section");
  part.id = "part";
  part.innerHTML = "<details><summary>One</summary>…</details><details open><summary>Two</summary>…</details>";
  document.querySelector("main").append(part);
}"""
FRESH = """<section id="part"><details><summary>One</summary><p>new</p></details>
  <details open><summary>Two</summary>…</details></section>"""
RENEW = "verb => htmx.ajax(verb, '/part-anew/', {target: '#part', swap: 'outerHTML'})"


@pytest.mark.parametrize(("verb", "unfolded"), [("get", ["One"]), ("post", ["Two"])])
def test_a_part_that_comes_anew_keeps_what_is_unfolded_and_an_answer_does_not(
    visit: Callable[..., Visit], verb: str, unfolded: list[str]
) -> None:
    page = visit().go("/corpora/demo/")
    page.route(
        "**/part-anew/",
        lambda route: route.fulfill(status=200, content_type="text/html", body=FRESH),
    )
    page.evaluate(PART)
    part = page.locator("#part")
    part.get_by_text("One").click()
    part.get_by_text("Two").click()
    page.evaluate(RENEW, verb)
    expect(part.get_by_text("new", exact=True)).to_be_attached()
    assert part.locator("details[open] summary").all_inner_texts() == unfolded
