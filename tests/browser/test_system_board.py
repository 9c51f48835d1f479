"""The system leaderboard and two systems side by side in the browser: what is drawn is what the
data say."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.visit import NARROW, WIDE, Visit

BOARD, COMPARE = "/corpora/demo/systems/", "/corpora/demo/systems/compare/"
SAMPLED = """figure => figure.querySelector('.js-plotly-plot').data.map(trace => [trace.name, trace.x, trace.y])"""


def rows_of(page: Page, figure: Locator) -> list[dict[str, str]]:
    address = figure.locator(".chart-links a").first.get_attribute("href")
    return list(
        csv.DictReader(io.StringIO(page.request.get(str(address)).body().decode("utf-8-sig")))
    )


def centres(figure: Locator) -> list[tuple[float, float]]:
    """Where the markers stand on the screen."""
    boxes = [
        point.bounding_box() for point in figure.locator(".scatterlayer .points path.point").all()
    ]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]


@pytest.mark.slow
def test_rank_differences_are_drawn_where_the_data_say(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go(f"{BOARD}?metric=word_f1")
    visitor.see_everything()
    figure = page.locator("#chart-rank-differences")
    said = {row["system"]: (int(row["human"]), int(row["metric"])) for row in rows_of(page, figure)}
    figure.scroll_into_view_if_needed()  # again, where the page came once more
    figure.and_(page.locator("[data-drawn]")).wait_for()
    drawn = {name: tuple(x) for name, x, _ in figure.evaluate(SAMPLED)}
    assert drawn == said
    # Two markers a row, people's above the metric's; the farther right, the greater the place.
    points = centres(figure)
    places = [place for _, x, _ in figure.evaluate(SAMPLED) for place in x]
    assert len(points) == len(places) == 2 * len(said)
    steps = [
        (places[n] - places[0], points[n][0] - points[0][0])
        for n in range(len(points))
        if places[n] != places[0]
    ]
    widths = [across / step for step, across in steps]
    assert max(widths) - min(widths) < 1.0
    assert all(points[n][1] < points[n + 1][1] for n in range(0, len(points), 2))


@pytest.mark.slow
def test_the_pictures_of_the_board_have_a_point_for_every_system(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit()
    page = visitor.go(BOARD)
    visitor.see_everything()
    for name in ("human-means", "ranks"):
        figure = page.locator(f"#chart-{name}")
        assert (
            figure.locator(".scatterlayer .points path.point").count()
            == len(rows_of(page, figure))
            == 8
        )


def test_the_headline_names_the_system_on_top_of_the_table(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    first = page.locator("#table-system-leaderboard tbody tr th").first.get_attribute("data-v")
    assert page.locator(".finding .say").inner_text().startswith(f"{first} is best (")


@pytest.mark.slow
def test_two_ticked_systems_are_compared(visit: Callable[..., Visit]) -> None:
    page = visit().go(BOARD)
    names = [box.get_attribute("value") for box in page.locator(".pick").all()[:2]]
    for box in page.locator(".pick").all()[:2]:
        box.check()
    page.get_by_role("button", name="Compare the two").click()
    page.wait_for_url("**/compare/?*first=*")
    expect(page.locator("select[name=first]")).to_have_value(str(names[0]))
    expect(page.locator("select[name=second]")).to_have_value(str(names[1]))


def test_every_difference_of_two_systems_is_drawn(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go(COMPARE)
    visitor.see_everything()
    figure = page.locator("#chart-pair-differences")
    said = sorted((float(row["difference"]) for row in rows_of(page, figure)), reverse=True)
    drawn = [y for _, _, ys in figure.evaluate(SAMPLED) for y in ys]
    assert drawn == pytest.approx(said)
    points = centres(figure)
    assert len(points) == len(said)
    heights = [up for _, up in points]
    assert heights == sorted(heights)  # from the greatest win of the first, on top, down
    # The first item's height, by the axis that two others span.
    low, high = said[-1], said[0]
    middle = len(said) // 4
    share = (high - said[middle]) / (high - low)
    assert (heights[middle] - heights[0]) / (heights[-1] - heights[0]) == pytest.approx(
        share, abs=0.01
    )


def test_items_are_filtered_by_form_and_stay_in_the_address(visit: Callable[..., Visit]) -> None:
    page = visit().go(COMPARE)
    page.locator("select[name=only]").select_option("B better")
    page.locator("#items").get_by_role("button", name="Show").click()
    page.wait_for_url("**only=second**")
    differences = page.locator(".pair-difference").all_inner_texts()
    assert differences
    assert all(words.startswith("B better by") for words in differences)
    page.reload()
    assert page.locator(".pair-difference").all_inner_texts() == differences


def test_the_comparison_works_without_script(visit: Callable[..., Visit]) -> None:
    visitor = visit(script=False)
    page = visitor.go(BOARD)
    for box in page.locator(".pick").all()[1:3]:
        box.check()
    page.get_by_role("button", name="Compare the two").click()
    visitor.see_numbers()
    assert page.locator(".pairs > li").count() == 10
    page.get_by_role("link", name="Next").click()
    visitor.see_numbers()
    assert page.locator(".pairs > li").count() == 10


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_both_pages_fit_and_obey_no_text(
    visit: Callable[..., Visit], width: int, scheme: str
) -> None:
    """The demo's are looked at with all other pages (``test_every_page.py``)."""
    one = visit(width=width, scheme=scheme)
    for place in ("/corpora/hostile/systems/", "/corpora/hostile/systems/compare/"):
        page = one.go(place)
        one.see_everything()
        assert page.title() != "taken over"
        assert one.scroll_width() <= width, place
