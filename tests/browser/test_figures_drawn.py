"""Every kind of figure: what plotly draws is what the data say, and the files that one takes away hold it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator

from annotations.estimates import Estimate
from leaderboard.figures import ForestRow, RankRow, forest, rank_intervals
from tests.browser.drawn import drawn, upright_lines
from tests.browser.gallery import gallery, page_of
from tests.browser.visit import Visit, visitors

METRICS = [
    ForestRow("bleu_4", Estimate(-0.1, ci=(-0.25, 0.0)), band=2),
    ForestRow("bertscore_f1[model=a/model-with-a-long-name,layer=40]", Estimate(0.5, ci=(0.4, 0.625)), band=1),
    ForestRow("<b>submitted</b> & hostile", Estimate(0.3), band=1),
]
SYSTEMS = [
    RankRow("low", 0, 3, 3, Estimate(1.0, ci=(0.5, 1.5)), band=2),
    RankRow("high", 1, 1, 2, Estimate(4.0, ci=(3.5, 4.5)), band=1),
    RankRow("middle", 2, 1, 2, Estimate(3.75, ci=(3.25, 4.25)), band=1),
]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    figures = [
        forest(
            METRICS, figure_id="forest", title="Pearson r", across="r", ceilings=[("one rater", 0.7), ("both", 0.8)]
        ),
        rank_intervals(SYSTEMS, figure_id="ranks"),
    ]
    with gallery({"/": page_of(figures, "/")}) as found:
        yield found


@pytest.fixture
def look(chromium: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    with visitors(chromium, address) as begin:

        def at_the_figures(**how: object) -> Visit:
            visitor = begin(**how)
            visitor.go("/")
            if visitor.script:
                visitor.see_everything()
            return visitor

        yield at_the_figures


def chart(visitor: Visit, name: str) -> Locator:
    return visitor.page.locator(f"#chart-{name}")


def near(values: object) -> object:
    return pytest.approx(values, abs=0.005)


def test_dots_whiskers_and_ceilings_of_a_forest_stand_where_the_data_say(look: Callable[..., Visit]) -> None:
    figure = chart(look(), "forest")
    traces = drawn(figure)
    assert [trace["points"][0] for trace in traces] == [near([-0.1, 0]), near([0.3, 1]), near([0.5, 2])]
    ends = [[end for whisker in trace["whiskers"] for end in whisker["x"]] for trace in traces]
    assert ends == [near([-0.25, 0.0]), [], near([0.4, 0.625])]
    assert upright_lines(figure) == near([0.7, 0.8])


def test_bars_of_ranks_reach_over_the_places_left_open(look: Callable[..., Visit]) -> None:
    traces = drawn(chart(look(), "ranks"))
    assert [trace["points"][0] for trace in traces] == [near([3, 0]), near([2, 1]), near([1, 2])]
    assert [trace["whiskers"][0]["x"] for trace in traces[1:]] == [near([1, 2]), near([1, 2])]


def test_names_that_are_markup_are_text_beside_their_rows(look: Callable[..., Visit]) -> None:
    names = chart(look(), "forest").locator(".ytick text").all_text_contents()
    assert names == ["bleu_4", "<b>submitted</b> & hostile", "bertscore_f1[model=a/model-with-a-long-name…"]


def test_in_a_narrow_window_names_stand_above_their_rows_and_nothing_is_cut_off(look: Callable[..., Visit]) -> None:
    visitor = look(width=390)
    figure = chart(visitor, "forest")
    assert figure.locator(".ytick text").count() == 0
    name = figure.locator(".annotation-text", has_text="bleu_4").bounding_box()
    dot = figure.locator(".trace path.point").first.bounding_box()
    assert name is not None
    assert dot is not None
    assert name["x"] < 60
    assert name["y"] + name["height"] <= dot["y"] + 2
    assert visitor.scroll_width() == 390


def test_the_svg_holds_the_points_in_the_light_colours_with_title_and_caption(
    look: Callable[..., Visit], tmp_path: Path
) -> None:
    visitor = look(scheme="dark")
    with visitor.page.expect_download() as waiting:
        chart(visitor, "forest").get_by_role("button", name="SVG").click()
    assert waiting.value.suggested_filename == "forest.svg"
    waiting.value.save_as(tmp_path / "forest.svg")
    root = ElementTree.parse(tmp_path / "forest.svg").getroot()
    points = [path for path in root.iter(f"{SVG}path") if path.get("class") == "point"]
    assert len(points) == 3
    assert all("fill: rgb(0, 114, 178)" in str(point.get("style")) for point in points)
    ground = root.find(f"{SVG}rect")
    assert ground is not None
    assert "fill: rgb(255, 255, 255)" in str(ground.get("style"))
    assert root.findtext(f"{SVG}title") == "Pearson r"
    assert "n = 3 metrics. One rater: 0.70. Both: 0.80." in str(root.findtext(f"{SVG}desc"))


def test_the_png_is_twice_the_size_and_white(look: Callable[..., Visit], tmp_path: Path) -> None:
    visitor = look(scheme="dark")
    with visitor.page.expect_download() as waiting:
        chart(visitor, "ranks").get_by_role("button", name="PNG").click()
    assert waiting.value.suggested_filename == "ranks.png"
    waiting.value.save_as(tmp_path / "ranks.png")
    content = (tmp_path / "ranks.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (2 * 960, 2 * (96 + 3 * 22))
    colours = visitor.page.evaluate(
        """async bytes => {
          const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)], {type: 'image/png'}));
          const canvas = new OffscreenCanvas(picture.width, picture.height);
          const pen = canvas.getContext('2d');
          pen.drawImage(picture, 0, 0);
          const {data} = pen.getImageData(0, 0, picture.width, picture.height);
          const seen = new Set();
          for (let n = 0; n < data.length; n += 4) seen.add(`${data[n]},${data[n + 1]},${data[n + 2]}`);
          return [`${data[0]},${data[1]},${data[2]}`, seen.has('0,114,178'), seen.has('213,94,0')];
        }""",
        list(content),
    )
    assert colours == ["255,255,255", True, True]


def test_without_script_there_is_the_data_and_no_button_that_does_nothing(look: Callable[..., Visit]) -> None:
    figure = chart(look(script=False), "forest")
    assert figure.get_by_role("button", name="SVG").count() == 0
    assert figure.get_by_role("link", name="Download the data (CSV)").is_visible()


def test_a_dark_page_is_printed_in_the_light_colours(look: Callable[..., Visit]) -> None:
    visitor = look(scheme="dark")
    dot = chart(visitor, "forest").locator(".trace path.point").first
    fill = "point => getComputedStyle(point).fill"
    assert dot.evaluate(fill) == "rgb(43, 143, 208)"
    visitor.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert dot.evaluate(fill) == "rgb(0, 114, 178)"
    visitor.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert dot.evaluate(fill) == "rgb(43, 143, 208)"
