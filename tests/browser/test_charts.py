"""What plotly has drawn, read from its drawing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from leaderboard.figures import MAX_POINTS
from tests.browser.visit import Visit


def chart(page: Page, level: str) -> Locator:
    return page.locator(f"#chart-scatter-{level}")


def rows_of_download(page: Page, figure: Locator) -> list[dict[str, str]]:
    address = figure.locator(".chart-links a").get_attribute("href")
    return list(
        csv.DictReader(io.StringIO(page.request.get(str(address)).body().decode("utf-8-sig")))
    )


@pytest.mark.slow
def test_scatter_plots_draw_as_many_points_as_the_data_say(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/")
    visitor.see_everything()
    for level in ("turn", "dialogue", "system"):
        figure = chart(page, level)
        said = rows_of_download(page, figure)
        assert (
            figure.locator(".scatterlayer .points path.point").count()
            == min(len(said), MAX_POINTS)
            > 0
        )
        assert f"n = {len(said)}" in figure.locator("> figcaption").inner_text()


@pytest.mark.slow
def test_there_are_as_many_points_as_responses_that_people_rated(
    visit: Callable[..., Visit],
) -> None:
    """The demo has 7 systems beside the reference responses, and all answer 8 dialogues of 7 turns:
    392, 56 and 7."""
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/plots/")
    assert [
        len(rows_of_download(page, chart(page, level))) for level in ("turn", "dialogue", "system")
    ] == [392, 56, 7]


@pytest.mark.slow
def test_a_points_hover_text_is_the_response(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/plots/")
    visitor.see_everything()
    figure = chart(page, "turn")
    point = figure.locator(".points path.point").last
    box = point.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = figure.locator(".hoverlayer .hovertext")
    label.wait_for()
    shown = "".join("".join(label.all_text_contents()).split())
    responses = ["".join(row["text"].split()) for row in rows_of_download(page, figure)]
    assert any(response[:40] in shown for response in responses)


@pytest.mark.slow
def test_a_response_that_is_markup_is_text_in_the_hover(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/hostile/metrics/plots/?systems=all")
    visitor.see_everything()
    document = json.loads(page.locator("#chart-data-scatter-turn").text_content() or "")
    hovers = [text for trace in document["data"] for text in trace.get("hovertext", [])]
    assert any("&lt;script&gt;" in text for text in hovers)
    assert not any("<script" in text or "<img" in text for text in hovers)


@pytest.mark.slow
def test_systems_keep_their_colour_from_chart_to_table(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/plots/?systems=all")
    visitor.see_everything()
    drawn = page.evaluate(
        """() => Object.fromEntries(document.querySelector('#chart-scatter-turn .js-plotly-plot').data
            .filter((trace) => trace.mode.includes('markers')).map((trace) => [trace.name, trace.marker.color]))"""
    )
    visitor.go("/corpora/demo/systems/")
    in_table = page.locator("#table-system-leaderboard tbody tr").evaluate_all(
        """rows => Object.fromEntries(rows.map((row) =>
            [row.cells[0].dataset.v, getComputedStyle(row.querySelector('.swatch')).fill]))"""
    )
    assert len(drawn) == 8
    assert drawn == in_table


@pytest.mark.slow
def test_charts_are_drawn_again_in_the_other_theme(visit: Callable[..., Visit]) -> None:
    visitor = visit(scheme="light")
    page = visitor.go("/corpora/demo/systems/")
    visitor.see_everything()
    label = page.locator("#chart-human-means .ytick text").first
    light = label.evaluate("text => getComputedStyle(text).fill")
    page.get_by_label("Theme").select_option("dark")
    expect(label).not_to_have_css("fill", light)


def test_whiskers_stand_at_both_sides_of_a_system(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/demo/metrics/plots/?systems=all")
    visitor.see_everything()
    system = chart(page, "system")
    assert system.locator(".xerror").count() == 8
    # The gold answers get 1 in all eight dialogues: no interval
    assert system.locator(".yerror").count() == 7


def test_a_chart_that_is_not_drawn_is_on_paper_as_its_data(visit: Callable[..., Visit]) -> None:
    """As without JavaScript, or before its drawing program has come."""
    page = visit(script=False).go("/corpora/demo/metrics/plots/")
    figures = page.locator("[data-chart]:has([data-chart-canvas])").all()
    assert figures
    assert not any(figure.locator(".chart-data tbody tr").first.is_visible() for figure in figures)
    page.emulate_media(media="print")
    for figure in figures:
        rows = figure.locator(".chart-data tbody tr")
        assert rows.count() == rows.filter(visible=True).count() > 0
        assert (
            figure.locator("[data-chart-state], .chart-data > summary").filter(visible=True).count()
            == 0
        )
        assert figure.locator(".chart-area").evaluate("area => area.offsetHeight") == 0


ON_PAPER = """() => matchMedia("print").addEventListener("change", (paper) => {
  if (!paper.matches) return;
  window.printed = [...document.querySelectorAll("[data-chart-canvas] .svg-container")].map((drawing) =>
    [getComputedStyle(drawing.querySelector(".main-svg")).backgroundColor,
     drawing.querySelectorAll("path.point").length]);
})"""
"""What stands there when the page is laid out for the sheet."""


@pytest.mark.slow
def test_charts_of_a_dark_page_are_on_paper_in_its_colours(visit: Callable[..., Visit]) -> None:
    visitor = visit(scheme="dark")
    page = visitor.go("/corpora/demo/metrics/")
    visitor.see_everything()
    page.evaluate(ON_PAPER)
    page.pdf()
    printed = page.evaluate("window.printed")
    assert len(printed) == page.locator("[data-chart-canvas]").count() > 0
    assert all(ground == "rgb(255, 255, 255)" and points for ground, points in printed), printed
    page.emulate_media(media="print")
    assert all(
        chart.is_visible() for chart in page.locator("[data-chart-canvas] .svg-container").all()
    )
