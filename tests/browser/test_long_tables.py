"""A long table shows its first hundred rows, and the others to who asks: with the real script and
the real server's HTML, on a page that is made here, since no corpus of the stage has two hundred
systems."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from django.template import Context, engines
from django.test import RequestFactory
from playwright.sync_api import Page, Route, expect

from common.tables import Cell, Column, Row, Table
from tests.browser.visit import Visit

ROWS = 250
ADDRESS = "/made-for-this-test/"
PAGE = (
    '<!doctype html><html lang="en"><title>Long</title><link rel="icon" href="data:,"><link '
    'rel="stylesheet" href="/static/dialeval/tokens.css"><link rel="stylesheet" '
    'href="/static/dialeval/base.css"><link rel="stylesheet" '
    'href="/static/dialeval/tables.css">{% load dialeval %}{% data_table table %}<form '
    'id="compare" method="get"><button>Compare</button></form><script '
    'src="/static/dialeval/tables.js"></script></html>'
)


def table() -> Table:
    """The score of the system n is n · 7 modulo 250: the order by score is none of the others."""
    rows = (
        Row(
            f"n{n}",
            {
                "name": Cell(f"system {n:03}"),
                "score": Cell(n * 7 % ROWS),
                "more": Cell(n),
                "kind": Cell("agent"),
            },
            pick=f"system {n:03}",
        )
        for n in range(ROWS)
    )
    columns = (
        Column("name", "Name"),
        Column("score", "Score", "number", 0, higher_is_better=True),
        Column("more", "More", "number", 0),
        Column("kind", "Kind"),
    )
    return Table(
        "long", "A long table", columns, tuple(rows), sort=("name", False), pick_form="compare"
    )


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Page:
    template = engines["django"].from_string(PAGE).template

    def answer(route: Route) -> None:
        parts = urlsplit(route.request.url)
        request = RequestFactory().get(f"{parts.path}?{parts.query}")
        body = template.render(Context({"request": request, "table": table()}))
        route.fulfill(body=body, content_type="text/html; charset=utf-8")

    page = visit().page
    page.route(f"**{ADDRESS}**", answer)
    page.goto(ADDRESS)
    return page


def names(page: Page) -> list[str]:
    return [str(name) for name in page.locator("tbody tr th").all_inner_texts()]


def by_score() -> list[str]:
    return [f"system {n:03}" for n in sorted(range(ROWS), key=lambda n: -(n * 7 % ROWS))]


def test_a_click_on_a_header_brings_the_first_rows_of_that_order(page: Page) -> None:
    assert names(page) == [f"system {n:03}" for n in range(100)]
    page.locator('[data-sort="score"]').click()
    expect(page.locator("tbody tr th").first).to_have_text(by_score()[0])
    assert names(page) == by_score()[:100]
    expect(page.locator("[data-table-status]")).to_have_text("Sorted by Score, descending")
    assert "sort=-score" in page.url


def test_all_rows_come_by_key_and_go_again_and_the_focus_stays(page: Page) -> None:
    page.get_by_role("link", name="Show all 250").focus()
    page.keyboard.press("Enter")
    fewer = page.get_by_role("link", name="Show the first 100")
    expect(fewer).to_be_focused()
    assert (len(names(page)), "rows=all" in page.url) == (ROWS, True)
    expect(page.locator("[data-table-status]")).to_have_text("All 250 rows.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Show all 250")).to_be_focused()
    assert (len(names(page)), "rows" in page.url) == (100, False)


def test_where_all_rows_are_there_the_page_sorts_them_itself(page: Page) -> None:
    page.get_by_role("link", name="Show all 250").click()
    expect(page.locator("tbody tr")).to_have_count(ROWS)
    page.unroute(f"**{ADDRESS}**")
    page.locator('[data-sort="score"]').click()
    expect(page.locator("tbody tr th").first).to_have_text(by_score()[0])
    assert names(page) == by_score()


def test_columns_are_chosen_among_the_first_rows_and_among_all(page: Page) -> None:
    for expected in (100, ROWS):
        page.locator("summary", has_text="Columns").click()
        page.get_by_role("checkbox", name="More").click()
        expect(page.locator("thead th")).to_have_count(3 if expected == 100 else 4)
        assert len(names(page)) == expected
        page.locator("summary", has_text="Columns").click()
        if expected == 100:
            page.get_by_role("link", name="Show all 250").click()
            expect(page.locator("tbody tr")).to_have_count(ROWS)


def test_a_tick_is_sent_while_its_row_is_not_shown_and_can_be_taken_back(page: Page) -> None:
    """System 001 scores 7, and is not among the first hundred by score."""
    for name in ("system 001", "system 035"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    page.locator('[data-sort="score"]').click()
    expect(page.locator("tbody tr th").first).to_have_text(by_score()[0])
    expect(page.get_by_role("checkbox", name="Compare system 035")).to_be_checked()
    kept = page.locator("[data-picked]").get_by_role("checkbox", name="system 001")
    expect(kept).to_be_checked()
    assert sent(page) == ["system 035", "system 001"]
    kept.uncheck()
    assert sent(page) == ["system 035"]


def test_a_kept_tick_is_its_row_s_again_when_it_shows(page: Page) -> None:
    page.get_by_role("checkbox", name="Compare system 001").check()
    page.locator('[data-sort="score"]').click()
    expect(page.locator("[data-picked]")).to_be_visible()
    page.locator('[data-sort="name"]').click()
    expect(page.locator("tbody tr th").first).to_have_text("system 000")
    expect(page.get_by_role("checkbox", name="Compare system 001")).to_be_checked()
    expect(page.locator("[data-picked]")).to_be_hidden()
    assert sent(page) == ["system 001"]


def sent(page: Page) -> list[str]:
    """What the form beside the table would send."""
    picked = page.evaluate("new FormData(document.getElementById('compare')).getAll('pick')")
    return [str(one) for one in picked]
