"""Sorting, choosing columns and downloading, as a reader does it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visit import NARROW, Visit

LEVELS = ("turn", "dialogue", "system")
COLUMNS = ",".join(
    f"{level}-{key}" for level in LEVELS for key in ("pearson", "spearman", "kendall", "n")
)
BOARD = f"/corpora/demo/metrics/?columns={COLUMNS}"
"""The board shows fewer at first."""


def board(page: Page) -> Locator:
    return page.locator("#table-metric-leaderboard")


def column(table: Locator, key: str) -> list[str]:
    """The values of a column, top to bottom, as the page sorts them; "" is undefined."""
    place = table.locator(f'thead th:has([data-sort="{key}"])').evaluate("cell => cell.cellIndex")
    return [
        str(row)
        for row in table.locator("tbody tr").evaluate_all(
            f"rows => rows.map(r => r.cells[{place}].dataset.v)"
        )
    ]


def numbers(values: list[str]) -> list[float]:
    return [float(value) for value in values if value]


def test_a_click_on_a_header_sorts_and_a_second_one_turns_the_order_round(
    visit: Callable[..., Visit],
) -> None:
    page = visit().go(BOARD)
    header = board(page).locator('[data-sort="turn-spearman"]')
    header.click()
    falling = numbers(column(board(page), "turn-spearman"))
    assert falling == sorted(falling, reverse=True)
    header.click()
    assert numbers(column(board(page), "turn-spearman")) == sorted(falling)
    assert "sort=turn-spearman" in page.url


def test_sorting_works_by_key_and_undefined_stays_last(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    header = board(page).locator('[data-sort="turn-n"]')
    for direction in ("descending", "ascending"):
        header.focus()
        page.keyboard.press("Enter")
        assert header.locator("xpath=ancestor::th").get_attribute("aria-sort") == direction
        turns = column(board(page), "turn-n")
        # Ceiling, reliability and one rater have no n; FBD and others score systems
        undefined = turns.count("")
        assert undefined >= 3
        assert all(turns[:-undefined])


@pytest.mark.slow
def test_the_order_of_the_address_is_the_order_of_a_click(visit: Callable[..., Visit]) -> None:
    """The server's order (a fresh page at the address) and the script's are one."""
    visitor = visit()
    page = visitor.go(BOARD)
    board(page).locator('[data-sort="system-kendall"]').click()
    clicked = column(board(page), "system-kendall")
    page.reload()
    assert column(board(page), "system-kendall") == clicked


def test_the_choice_of_columns_survives_a_reload(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    board(page).get_by_text("Columns", exact=True).click()
    board(page).locator('input[value="turn-kendall"]').uncheck()
    hidden = board(page).locator('thead th:has([data-sort="turn-kendall"])')
    expect(hidden).to_have_count(0)
    page.reload()
    expect(hidden).to_have_count(0)
    assert board(page).locator('thead th:has([data-sort="turn-pearson"])').is_visible()


def test_a_column_that_was_not_on_the_page_comes_when_it_is_chosen(
    visit: Callable[..., Visit],
) -> None:
    """What stays: the place on the page, the order, and what was ticked."""
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/?columns=turn-pearson&sort=turn-pearson")
    added = board(page).locator('thead th:has([data-sort="turn-kendall"])')
    expect(added).to_have_count(0)
    order = column(board(page), "turn-pearson")
    ticked = board(page).locator("tbody input.pick").nth(1)
    ticked.check()
    name = ticked.get_attribute("value")
    page.evaluate("window.stillHere = true")
    board(page).get_by_text("Columns", exact=True).click()
    board(page).locator('input[value="turn-kendall"]').check()
    expect(added).to_be_visible()
    assert page.evaluate("window.stillHere") is True
    assert "turn-kendall" in page.url
    assert column(board(page), "turn-pearson") == order
    assert board(page).locator("input.pick:checked").get_attribute("value") == name
    page.reload()
    expect(added).to_be_visible()


@pytest.mark.slow
def test_a_phone_sorts_by_a_column_that_does_not_show(visit: Callable[..., Visit]) -> None:
    page = visit(width=NARROW).go("/corpora/demo/metrics/?columns=turn-pearson")
    names = board(page).locator("tbody th .name")
    board(page).get_by_label("Sort by").select_option("turn-spearman")
    wanted = visit().go("/corpora/demo/metrics/?columns=turn-pearson&sort=turn-spearman")
    expect(names).to_have_text(board(wanted).locator("tbody th .name").all_text_contents())
    assert "sort=turn-spearman" in page.url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "table"),
    [(BOARD, "metric-leaderboard"), ("/corpora/demo/systems/", "system-leaderboard")],
)
def test_downloads_hold_what_the_table_shows(
    visit: Callable[..., Visit], path: str, table: str
) -> None:
    page = visit().go(path)
    figure = page.locator(f"#table-{table}")
    keys = [
        key or ""
        for key in figure.locator("thead [data-sort]").evaluate_all(
            "links => links.map(l => l.dataset.sort)"
        )
    ]
    shown = list(zip(*(column(figure, key) for key in keys), strict=True))
    sheet = list(csv.DictReader(io.StringIO(fetched(page, figure, "CSV"))))
    document = json.loads(fetched(page, figure, "JSON"))
    assert sorted(tuple(row[key] for key in keys) for row in sheet) == sorted(shown)
    assert sorted(
        tuple(as_shown(row[key]["value"]) for key in keys) for row in cells(document)
    ) == sorted(shown)


def fetched(page: Page, figure: Locator, form: str) -> str:
    with page.expect_download() as download:
        figure.get_by_role("link", name=f"Download this table as {form}").click()
    return download.value.path().read_text(encoding="utf-8-sig")


def cells(
    document: dict[str, list[dict[str, dict[str, dict[str, object]]]]],
) -> list[dict[str, dict[str, object]]]:
    return [row["cells"] for row in document["rows"]]


def as_shown(value: object) -> str:
    return "" if value is None else str(value)


def test_why_a_value_is_undefined_shows_on_focus(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    dash = board(page).locator("tbody button.none:visible").first
    reason = (dash.get_attribute("aria-label") or "").removeprefix("undefined: ")
    page.keyboard.press("Tab")  # focus by key, which is what shows the tip
    dash.focus()
    assert page.locator(".tip:popover-open").inner_text() == reason != ""


def test_a_phone_shows_cards_with_the_main_columns_and_all_on_demand(
    visit: Callable[..., Visit],
) -> None:
    page = visit(width=NARROW).go(BOARD)
    card = board(page).locator("tbody tr").first
    main, detail = (
        card.locator('[data-label="turn level r"]'),
        card.locator('[data-label="turn level τ"]'),
    )
    assert (main.is_visible(), detail.is_visible()) == (True, False)
    board(page).get_by_label("intervals and every column").check()
    assert detail.is_visible()
    assert re.search(r"\[−?0\.\d{3}, 0\.\d{3}\]", main.inner_text())


@pytest.mark.slow
def test_filtering_by_kind_leaves_only_that_kind(visit: Callable[..., Visit]) -> None:
    page = visit().go("/corpora/demo/systems/?columns=kind")
    page.get_by_role("link", name="baseline").click()
    expect(page.locator("#table-system-leaderboard tbody tr")).to_have_count(4)
    assert set(column(page.locator("#table-system-leaderboard"), "kind")) == {"baseline"}


def test_systems_in_one_band_share_a_letter_that_begins_with_a_and_stands_once_a_row(
    visit: Callable[..., Visit],
) -> None:
    page = visit().go("/corpora/demo/systems/")
    rows = page.locator("#table-system-leaderboard tbody tr")
    letters = [row.locator(".letters").all_inner_texts() for row in rows.all()]
    assert all(len(row) == 1 for row in letters)
    assert letters[0][0].split()[-1] == "a"


NEWS = """async () => {
  const part = document.querySelector("#run-outcomes").cloneNode(true);
  part.setAttribute("hx-swap-oob", "true");
  part.querySelectorAll("details").forEach(details => { details.open = false; });
  part.querySelector("figcaption").textContent = "as news brought it";
  htmx.swap(document.querySelector("#run-progress"), part.outerHTML, {swapStyle: "none"});
  await new Promise(resolve => setTimeout(resolve));
}"""


def test_news_leave_a_choice_unfolded_and_the_focus_where_it_is(
    visit: Callable[..., Visit],
) -> None:
    """Runs that end bring their tables anew, while somebody chooses columns."""
    page = visit(role="organiser").go("/corpora/demo/runs/")
    table = page.locator("#run-outcomes [data-table]").first
    table.get_by_text("Columns", exact=True).click()
    box = table.locator(".column-choice input[type=checkbox]").nth(2)
    box.focus()
    page.evaluate(NEWS)
    assert table.locator("figcaption").inner_text() == "as news brought it"
    assert box.is_visible()
    assert box.evaluate("box => box === document.activeElement")
    page.keyboard.press("Escape")
    assert not box.is_visible()
