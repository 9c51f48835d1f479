"""Everything can be read, sorted, chosen, downloaded and started without JavaScript."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, expect

from tests.browser.visit import Visit


def names(table: Locator) -> Locator:
    return table.locator("tbody th .name")


def test_tables_are_sorted_and_columns_chosen_by_the_server(visit: Callable[..., Visit]) -> None:
    page = visit(script=False).go("/corpora/demo/systems/")
    table = page.locator("#table-system-leaderboard")
    best_first = names(table).all_inner_texts()
    table.get_by_role("link", name="Human mean").click()
    expect(names(table)).to_have_text(best_first[::-1])
    table.get_by_text("Columns", exact=True).click()
    table.get_by_role("checkbox", name="word_f1").uncheck()
    table.get_by_role("button", name="Show these columns").click()
    expect(table.locator('thead th:has([data-sort="metric-word_f1"])')).to_be_hidden()
    expect(names(table)).to_have_text(best_first[::-1])  # the order stays


def test_what_a_chart_shows_can_be_read_beneath_it(visit: Callable[..., Visit]) -> None:
    page = visit(script=False).go("/corpora/demo/systems/")
    page.get_by_text("Means and ranks as charts").click()
    chart = page.locator("#chart-human-means")
    assert "read the data beneath" in chart.inner_text()
    chart.get_by_text("Data of this chart").click()
    assert chart.locator("tbody tr").count() == 8


def test_scatter_plots_are_a_page_of_their_own(visit: Callable[..., Visit]) -> None:
    visitor = visit(script=False)
    page = visitor.go("/corpora/demo/metrics/?metric=bleu_4")
    page.get_by_role("link", name="Scatter plots of bleu_4 at each level").click()
    visitor.see_numbers()
    expect(page.locator("h1")).to_contain_text("bleu_4 and human ratings")


def test_one_walks_from_the_list_to_a_response(visit: Callable[..., Visit]) -> None:
    page = visit(script=False).go("/")
    page.locator("#table-corpora tbody a").filter(has_text="Demo").click()
    page.get_by_role("link", name="Dialogues").click()
    page.locator("#table-dialogues tbody a").first.click()
    page.get_by_role("navigation", name="Turns").get_by_role("link", name="3").click()
    expect(page.get_by_role("heading", name="Responses at turn 3")).to_be_visible()
    expect(page.locator(".response")).to_have_count(8)


def test_one_logs_in_and_finds_the_form_that_computes(visit: Callable[..., Visit]) -> None:
    page = visit(script=False, role="organiser").go("/corpora/demo/runs/")
    assert page.get_by_role("button", name="Compute for all systems").is_visible()
