"""A table of 40 columns and 99 rows: what names a cell stays in sight, and what lies beyond an edge
is announced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template import engines
from django.test import RequestFactory
from playwright.sync_api import Browser, Locator, Page, expect

from common.tables import Cell, Column, Row, Table
from tests.browser.gallery import gallery
from tests.browser.visit import NARROW, WIDE, Visit, visitors

COLUMNS, ROWS = 40, 99
TEMPLATE = """{% extends "base.html" %}{% load dialeval %}{% block title %}Wide · dialeval{% endblock %}
{% block header %}{% endblock %}{% block heading %}Wide{% endblock %}
{% block content %}{% data_table table %}{% endblock %}"""


def wide_table() -> Table:
    """Cell (row i, column j) holds i + j / 100, so that a figure says where it stands. Ten columns
    a group."""
    columns = [Column("system", "System", "text")]
    columns += [
        Column(f"c{j}", f"metric {j}", "number", group=f"level {j // 10}") for j in range(COLUMNS)
    ]
    rows = [
        Row(
            f"r{i}",
            {"system": Cell(f"system {i}"), **{f"c{j}": Cell(i + j / 100) for j in range(COLUMNS)}},
        )
        for i in range(ROWS)
    ]
    return Table("wide", "Forty columns", tuple(columns), tuple(rows))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    request = RequestFactory().get("/wide/")
    request.user = AnonymousUser()
    page = str(engines["django"].from_string(TEMPLATE).render({"table": wide_table()}, request))
    with gallery({"/wide/": page}) as found:
        yield found


@pytest.fixture
def wide(chromium: Browser, address: str) -> Iterator[Callable[..., Page]]:
    with visitors(chromium, address) as begin:

        def at(width: int) -> Page:
            visitor: Visit = begin(width=width)
            return visitor.go("/wide/")

        yield at


def place(one: Locator) -> tuple[int, int]:
    box = one.bounding_box()
    assert box is not None
    return round(box["x"]), round(box["y"])


def test_headers_groups_and_names_stay_where_they_are_while_the_table_scrolls(
    wide: Callable[..., Page],
) -> None:
    page = wide(WIDE)
    scroll = page.locator(".table-scroll")
    name, header = page.locator("tbody th").nth(50), page.locator('th:has([data-sort="c30"])')
    group, corner = (
        page.locator("thead .groups > *").nth(4),
        page.locator("thead tr:last-child > :first-child"),
    )
    left, top, group_top, corner_at = (
        place(name)[0],
        place(header)[1],
        place(group)[1],
        place(corner),
    )
    scroll.evaluate("one => one.scrollTo(1200, 900)")
    assert scroll.evaluate("one => [one.scrollLeft, one.scrollTop]") == [1200, 900]
    assert place(name)[0] == left
    assert place(header)[1] == top
    assert place(group)[1] == group_top
    assert place(corner) == corner_at


def test_an_edge_with_more_beyond_it_is_shaded_and_one_without_is_not(
    wide: Callable[..., Page],
) -> None:
    page = wide(WIDE)
    scroll = page.locator(".table-scroll")
    shade = "one => getComputedStyle(one, '::after').opacity"
    page.emulate_media(reduced_motion="reduce")
    for at, more, shaded in ((0, "right", "1"), (500, "left right", "1"), (100_000, "left", "0")):
        scroll.evaluate("(one, at) => one.scrollTo(at, 0)", at)
        expect(scroll).to_have_attribute("data-more", more)
        assert page.locator(".table-frame").evaluate(shade) == shaded


def test_the_page_itself_never_scrolls_sideways_and_columns_are_chosen_by_group(
    wide: Callable[..., Page],
) -> None:
    page = wide(WIDE)
    assert page.evaluate("document.documentElement.scrollWidth") == WIDE
    page.get_by_text("Columns", exact=True).click()
    assert page.locator(".column-choice .choice-group").all_inner_texts() == [
        f"level {n}" for n in range(4)
    ]
    assert page.locator(".column-choice input[type=checkbox]").count() == COLUMNS
    page.keyboard.press("Escape")
    assert not page.locator(".column-choice form").is_visible()


def test_a_phone_shows_a_card_for_each_row(wide: Callable[..., Page]) -> None:
    page = wide(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW
    cards = page.locator("tbody tr")
    assert cards.count() == ROWS
    first = cards.nth(7)
    assert first.locator("td:visible").count() == 5  # the first 6 columns, of which one is the name
    assert first.locator("td").nth(2).inner_text() == "7.020"
    assert not page.locator("thead").is_visible()


def test_paper_holds_every_row_and_column_and_the_header_on_each_sheet(
    wide: Callable[..., Page],
) -> None:
    page = wide(WIDE)
    page.emulate_media(media="print")
    assert page.locator("tbody tr").filter(visible=True).count() == ROWS
    assert (
        page.locator("thead").evaluate("one => getComputedStyle(one).display")
        == "table-header-group"
    )
    assert (
        page.locator(".table-scroll").evaluate("one => getComputedStyle(one).overflow") == "visible"
    )
