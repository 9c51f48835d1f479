"""What holds for every page, wide and narrow, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Literal

import pytest
from django.urls import resolve
from playwright.sync_api import Page

from tests.browser.for_everybody import violations, violations_as_it_is
from tests.browser.pages import (
    FRAGMENTS_AND_FILES,
    MADE_BY_OTHER_TESTS,
    OF_CORPORA,
    OPEN,
    ORGANISERS,
    PARTICIPANTS,
    PARTS,
    RATERS,
)
from tests.browser.stage import Stage
from tests.browser.visit import NARROW, WIDE, Visit
from tests.ci import IS_LONG
from tests.reference import addresses, who_may
from tests.site import PROJECT

SCRIPTS = PROJECT / "dialeval_site" / "static" / "dialeval"
RATER = ("page-rater", "reads-every-page")
"""One of their own: who takes part in a campaign no longer sees its corpus, and other tests' rater
does."""
ROWS_UNFOLDED = """all => all.filter(row => !row.closest('details:not([open])')).map(row => row.checkVisibility())"""
"""Whether each shows; what is folded is not printed."""
DRAWN_FOR_A_WIDTH = (
    "[data-chart], script[src*='dialeval/rating-page.'], script[src*='dialeval/room.']"
)
"""Where a page is another when it comes in a narrow window; all others differ by their style sheets
alone."""
ASK_AS_THEY_COME, ASK_WHEN_IT_CHANGES = (
    {"charts.js", "rating-page.js", "rating-view.js", "room.js"},
    {"rating-questions.js", "tables.js", "theme.js", "tips.js"},
)
ASKS_FOR_THE_KEYS = {"chat.js"}
"""Whether there is a mouse, on pages that are not in these lists."""
IN_TURN: tuple[tuple[int, Literal["light", "dark"]], ...] = ((WIDE, "light"), (NARROW, "dark"))
LANDMARKS = """() => Array.from(document.querySelectorAll('nav'))
  .map(nav => [nav.getAttribute('aria-label'), nav.querySelectorAll('[aria-current]').length])"""


@pytest.fixture(scope="module")
def rater(stage: Stage) -> tuple[str, str]:
    stage.python(
        "from django.contrib.auth.models import Group, "
        f"User\nUser.objects.create_user({RATER[0]!r}, "
        f"password={RATER[1]!r}).groups.add(Group.objects.get(name='rater'))"
    )
    return RATER


def test_every_address_is_a_page_here_or_is_known_not_to_be_one() -> None:
    """A new page is looked at by the tests below, or says here why not."""
    opened = {
        resolve(path.partition("?")[0]).url_name
        for path in (*OPEN, *OF_CORPORA, *RATERS, *PARTICIPANTS, *ORGANISERS)
    }
    allowed = who_may()
    rows = {name for name, _, _ in addresses() if "GET" in allowed.get(name, [""])[0]}
    assert rows - opened == FRAGMENTS_AND_FILES | MADE_BY_OTHER_TESTS


def test_scripts_that_ask_for_the_width_are_known() -> None:
    """A new one is seen to by ``DRAWN_FOR_A_WIDTH``, or asks again when the width changes."""
    asking = re.compile(
        "matchMedia|(inner|outer|client|offset)Width|screen\\.|visualViewport|getBoundingClientRect"
    )
    found = {file.name for file in SCRIPTS.glob("*.js") if asking.search(file.read_text())}
    assert found == ASK_AS_THEY_COME | ASK_WHEN_IT_CHANGES | ASKS_FOR_THE_KEYS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "paths"),
    [
        ("", OPEN),
        ("", OF_CORPORA),
        ("rater", RATERS),
        ("participant", PARTICIPANTS),
        ("organiser", ORGANISERS),
    ],
    ids=["open", "corpora", "rater", "participant", "organiser"],
)
def test_every_page_stands_whole_and_can_be_used_by_all(
    visit: Callable[..., Visit], rater: tuple[str, str], role: str, paths: list[str]
) -> None:
    """Each page is seen wide and narrow: nothing reaches out sideways; it has a heading, a title, a
    breadcrumb and one marked place in each navigation; axe finds no violation in it, in turn in a
    wide and light page and in a narrow and dark one; the browser complains of nothing (the fixture
    asserts that)."""
    visitor = visit(role="" if role == "rater" else role)
    if role == "rater":
        visitor.log_in(*rater)
        take_part(visitor)
    faults = {}
    for turn, (own, scheme) in enumerate(IN_TURN):
        # One after the other: who changes the theme of a page has its charts drawn anew
        visitor.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for path, width in product(paths[turn::2], (WIDE, NARROW)):
            come(visitor, path, width)
            found = faults_of(visitor, width)
            if IS_LONG:
                found += violations(visitor.page)
            elif width == own:
                found += violations_as_it_is(visitor.page)
            if found:
                faults[path, width] = found
    assert faults == {}


def come(visitor: Visit, path: str, width: int) -> None:
    """First wide. Narrow, it is the same page, unless one of its scripts asked for the width as it
    came."""
    seen = width == NARROW and not visitor.page.locator(DRAWN_FOR_A_WIDTH).count()
    visitor.resize(width)
    if not seen:
        visitor.go(path)
    visitor.see_everything()


def take_part(visitor: Visit) -> None:
    for campaign in ("demo-responses", "demo-meeting"):
        page = visitor.go(f"/rate/{campaign}/")
        page.locator("main form[method=post] button").first.click()
        page.wait_for_load_state("load")


def faults_of(visitor: Visit, width: int) -> list[str]:
    page, found = visitor.page, []
    if visitor.scroll_width() > width:
        found.append(f"reaches out to {visitor.scroll_width()} px")
    if page.locator("h1").count() != 1 or not page.title().endswith("dialeval"):
        found.append("one heading, and a title that ends with the site's name")
    if page.locator("header.site-header").count():
        found += faults_of_navigation(page)
    return found


def faults_of_navigation(page: Page) -> list[str]:
    """Where one is: the last step of the breadcrumb, one link of the header, at most one of any
    other navigation."""
    marked = page.evaluate(LANDMARKS)
    found = [f"{name}: {count} places marked" for name, count in marked if count > 1]
    if page.locator("nav.breadcrumb li:last-child[aria-current=page]").count() != 1:
        found.append("the breadcrumb does not end here")
    if page.locator("header.site-header [aria-current], .about [aria-current]").count() != 1:
        found.append("the header does not say where one is")
    return found


@pytest.mark.slow
def test_titles_tell_pages_apart(visit: Callable[..., Visit]) -> None:
    visitor = visit(script=False)
    titles = [visitor.go(path).title() for path in (*OPEN[:14], *OF_CORPORA)]
    assert len(set(titles)) == len(titles), titles


@pytest.mark.slow
def test_simulated_ratings_are_called_simulated_wherever_they_are_shown(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit(script=False)
    for path in ["/", *(f"/corpora/demo/{part}" for part in PARTS)]:
        badge = visitor.go(path).locator(".badge.simulated").first
        assert badge.is_visible(), path
    for part in PARTS:
        assert visitor.go(f"/corpora/hostile/{part}").locator(".badge.simulated").count() == 0, part


def test_an_address_without_a_page_leads_back(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/no-such-corpus/", status=404)
    assert page.locator("h1").inner_text() == "Page not found"
    page.get_by_role("link", name="Home").click()
    assert page.locator("h1").inner_text().startswith("Which dialogue system is better")


def test_the_theme_is_remembered_and_set_before_the_page_is_drawn(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit(scheme="light")
    page = visitor.go("/corpora/demo/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate(background)
    assert dark != light
    visitor.go("/corpora/demo/systems/")
    assert page.evaluate(background) == dark
    assert page.get_by_label("Theme").input_value() == "dark"


def test_the_keyboard_reaches_the_content_first_and_shows_where_it_is(
    visit: Callable[..., Visit],
) -> None:
    page = visit().go("/corpora/demo/metrics/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    assert (
        skip.evaluate(
            "link => link === document.activeElement && getComputedStyle(link).outlineStyle"
        )
        == "solid"
    )
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_control_has_a_name(visit: Callable[..., Visit]) -> None:
    visitor = visit(role="organiser")
    nameless = """Array.from(document.querySelectorAll('input:not([type=hidden]), select, textarea'))
      .filter((field) => !field.labels.length && !field.getAttribute('aria-label')).map((field) => field.outerHTML)"""
    for path in [*OPEN[:2], *OF_CORPORA[:8]]:
        assert visitor.go(path).evaluate(nameless) == [], path


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/corpora/demo/metrics/", "/corpora/demo/systems/", "/corpora/demo/agreement/"]
)
def test_printing_leaves_out_what_paper_cannot_do(visit: Callable[..., Visit], path: str) -> None:
    """From a dark page: black on white, no navigation, every row of every table, and the
    signature."""
    page = visit(scheme="dark").go(path)
    page.emulate_media(media="print")
    for gone in (".site-header", ".tabs", ".breadcrumb", ".table-tools", "button:not(.why)"):
        assert page.locator(gone).filter(visible=True).count() == 0, gone
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.locator(".signature code").first.is_visible()
    clipped = page.locator(".table-scroll").evaluate_all(
        "all => all.filter(one => one.scrollHeight > one.clientHeight + 1)"
    )
    assert clipped == []
    rows = page.locator(".data-table tbody tr").evaluate_all(ROWS_UNFOLDED)
    assert rows
    assert all(rows)
    assert len(page.pdf()) > 10_000


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_header_stays_calm(visit: Callable[..., Visit], width: int) -> None:
    """An organiser's header, which has most on it, is one line wide and narrow."""
    page = visit(width=width, role="organiser").go("/campaigns/")
    assert page.locator(".site-header").evaluate("header => header.offsetHeight") <= 64


def test_on_a_phone_the_navigation_is_behind_a_button(visit: Callable[..., Visit]) -> None:
    page = visit(width=NARROW, script=False).go("/")
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Metrics")
    assert not link.is_visible()
    page.get_by_role("button", name="Menu").click()
    link.click()
    assert page.locator("h1").inner_text() == "Metrics"


def test_the_administration_works_under_the_policy(visit: Callable[..., Visit]) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/admin/")
    assert page.locator("h1").first.inner_text() == "Site administration"
    assert page.evaluate("getComputedStyle(document.querySelector('#header')).display") == "flex"
    page.get_by_role("link", name="Corpora", exact=True).first.click()
    page.wait_for_load_state("networkidle")
    assert "demo" in page.locator("#result_list").inner_text()
