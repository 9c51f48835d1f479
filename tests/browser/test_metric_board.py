"""The metric leaderboard and the comparison of two metrics as a reader sees them: the drawing
against the table, and the way from two ticks to the comparison."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import NARROW, Visit

BOARD = "/corpora/demo/metrics/"


def rows_of(page: Page, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page.request.get(address).body().decode("utf-8-sig"))))


def drawn(page: Page, chart: str) -> dict[str, tuple[float, float, float]]:
    """name → (value, length of the whisker to the right, to the left), as plotly has drawn it."""
    traces = page.evaluate(
        """(id) => document.querySelector(`#${id} .js-plotly-plot`)._fullData.map((trace) => [
            trace.name, trace.x[0], (trace.error_x.array || [0])[0], (trace.error_x.arrayminus || [0])[0]])""",
        chart,
    )
    return {name: (value, right, left) for name, value, right, left in traces}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["turn", "system"])
def test_the_forest_s_points_and_whiskers_are_the_table_s(
    visit: Callable[..., Visit], level: str
) -> None:
    visitor = visit()
    page = visitor.go(f"{BOARD}?level={level}")
    visitor.see_everything()
    table = {
        row["metric"]: row
        for row in rows_of(page, f"{BOARD}?level={level}&download=metric-leaderboard.csv")
    }
    points = drawn(page, f"chart-forest-{level}")
    assert len(points) >= 3
    assert page.locator(f"#chart-forest-{level} .scatterlayer path.point").count() == len(points)
    for name, (value, right, left) in points.items():
        sign = -1 if name.endswith("(turned round)") else 1
        row = table[name.removesuffix(" (turned round)")]
        assert value == pytest.approx(sign * float(row[f"{level}-pearson"]), abs=1e-9), name
        if row[f"{level}-pearson_low"]:
            low, high = sorted(
                sign * float(row[f"{level}-pearson_{end}"]) for end in ("low", "high")
            )
            assert (value - left, value + right) == pytest.approx((low, high), abs=1e-9), name


def test_the_headline_names_the_metric_at_the_top_of_the_table(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    first = page.locator(
        "#table-metric-leaderboard tbody tr[data-id^=metric-] .name a"
    ).first.inner_text()
    expect(page.locator(".finding")).to_contain_text(
        f"{first} correlates best with human ratings at turn level: r = "
    )


@pytest.mark.slow
def test_two_ticks_lead_to_the_comparison(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go(BOARD)
    page.get_by_label("Compare word_f1", exact=True).check()
    page.get_by_label("Compare bleu_4", exact=True).check()
    page.get_by_role("button", name="Compare the two").click()
    page.wait_for_url("**/metrics/compare/?*first=*second=*")
    page.locator(".verdicts, .waiting").first.wait_for()
    # A worker computes it, and the page comes by itself
    page.locator(".verdicts").wait_for(timeout=240_000)
    # its plots are asked for only now, and the page comes once more with them
    visitor.see_numbers()
    expect(page.locator(".verdicts dt")).to_have_text(
        ["turn level", "dialogue level", "system level"]
    )
    visitor.see_everything()
    table = rows_of(page, page.url + "&download=metric-comparison.csv")
    differences = drawn(page, "chart-differences")
    for level in ("turn", "dialogue", "system"):
        row = next(one for one in table if one["level"] == level)
        assert differences[f"{level} level"][0] == pytest.approx(float(row["difference"]), abs=1e-9)
    assert page.locator(".gap-list .response").count() > 0


def test_without_script_ticks_and_filters_work_and_the_data_can_be_read(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit(script=False)
    page = visitor.go(BOARD)
    page.get_by_role("link", name="system", exact=True).click()
    page.get_by_role("link", name="τ", exact=True).first.click()
    page.get_by_label("Search metrics").fill("bleu")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".finding")).to_contain_text("at system level: τ = ")
    names = page.locator("#table-metric-leaderboard tr[data-id^=metric-] th").all_inner_texts()
    assert names
    assert all("bleu" in name for name in names)
    page.get_by_text("The same as a chart").click()
    page.locator("#chart-forest-system").get_by_text("Data of this chart").click()
    assert page.locator("#chart-forest-system tbody tr").count() >= 3


def test_a_filter_is_applied_at_once_and_the_page_stays(visit: Callable[..., Visit]) -> None:
    """The search keeps the focus, the address holds what was chosen."""
    page = visit().go(BOARD)
    page.evaluate("window.stillHere = true")
    page.get_by_label("Search metrics").press_sequentially("bleu")
    rows = page.locator("#table-metric-leaderboard tr[data-id^=metric-]")
    expect(rows.filter(has_not_text="bleu")).to_have_count(0)
    expect(page.get_by_label("Search metrics")).to_be_focused()
    page.get_by_role("link", name="system", exact=True).click()
    expect(page.locator(".finding")).to_contain_text("at system level")
    assert "q=bleu" in page.url
    assert page.evaluate("window.stillHere") is True


def test_a_filter_that_gets_no_answer_says_that_the_table_is_the_former(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit()
    page = visitor.go(BOARD)
    rows = page.locator("#board tbody tr").count()
    page.route(f"**{BOARD}?*", lambda route: route.abort())
    page.get_by_label("Search metrics").fill("bleu")
    expect(page.locator("#board-notice")).to_contain_text("could not be updated")
    assert page.locator("#board tbody tr").count() == rows
    page.unroute(f"**{BOARD}?*")
    page.get_by_label("Search metrics").fill("bleu_")
    expect(page.locator("#board-notice")).to_be_empty()
    visitor.complaints = [
        text for text in visitor.complaints if "ERR_FAILED" not in text and "htmx" not in text
    ]


def test_a_row_of_a_phone_is_a_name_a_value_and_its_lane(visit: Callable[..., Visit]) -> None:
    """24 metrics, without the plots below them, on less than 3,600 px; the board had 9,057."""
    page = visit(width=NARROW).go(BOARD)
    row = page.locator("#table-metric-leaderboard tr[data-id=metric-bleu_1]")
    assert row.locator("td").filter(visible=True).count() == 2
    assert row.evaluate("row => row.offsetHeight") <= 60
    without_plots = """document.documentElement.scrollHeight
        - document.getElementById("plots").offsetHeight"""
    assert page.evaluate(without_plots) <= 3600


def test_on_a_phone_nothing_scrolls_sideways(visit: Callable[..., Visit]) -> None:
    for path in (BOARD, f"{BOARD}compare/?first=word_f1&second=bleu_4"):
        one = visit(width=NARROW)
        one.go(path)
        assert one.scroll_width() <= NARROW
