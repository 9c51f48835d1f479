"""Every kind of figure: what plotly draws is what the data say, and the files that one takes away
hold it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator

from common.estimates import Estimate
from leaderboard.figures import ForestRow, Point, SystemMean, forest, metric_vs_human_scatter
from leaderboard.pages.maps.heat_figure import correlation_heat
from leaderboard.pages.maps.map_figure import MapPoint, response_map
from leaderboard.pages.metrics.figures import scores_by_human
from leaderboard.pages.systems.figures.rank_intervals import RankRow, rank_intervals
from leaderboard.pages.systems.figures.system_means import system_means
from leaderboard.statistics.distribution import ScoresAt
from tests.browser.drawn import drawn, upright_lines
from tests.browser.gallery import gallery, heat_page, page_of
from tests.browser.visit import Visit, visitors

METRICS = [
    ForestRow("bleu_4", Estimate(-0.1, ci=(-0.25, 0.0)), "b"),
    ForestRow(
        "bertscore_f1[model=a/model-with-a-long-name,layer=40]", Estimate(0.5, ci=(0.4, 0.625)), "a"
    ),
    ForestRow("<b>submitted</b> & hostile", Estimate(0.3), "ab"),
]
SYSTEMS = [
    RankRow("low", 0, 3, 3, Estimate(1.0, ci=(0.5, 1.5)), band=2),
    RankRow("high", 1, 1, 2, Estimate(4.0, ci=(3.5, 4.5)), band=1),
    RankRow("middle", 2, 1, 2, Estimate(3.75, ci=(3.25, 4.25)), band=1),
]
POINTS = [
    Point(
        "one",
        1.0 + n % 4,
        (n * 7 % 13) / 13,
        0,
        dialogue=n % 6,
        item=f"turn {n}",
        hover="<i>Hello.</i>",
    )
    for n in range(9)
]
BOXES = [
    ScoresAt(2.0, 40, 0.5, 0.1, 0.3, 0.45, 0.7, 0.9),
    ScoresAt(3.0, 3, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
]
TEXTS = [
    MapPoint("bot", 1, "turn 0", "Hello <b>you</b>.", 0.0, 1.0),
    MapPoint("other", 2, "turn 0", "Hi.", 1.0, 2.0),
    MapPoint(None, None, "turn 0", "Hey.", 2.0, 3.0),
]
NAMES = {number: f"metric_number_{number}" for number in range(40)}
PAIRS = {
    (first, second): (Estimate((first * 40 + second) % 200 / 100 - 1), 300)
    for first in range(40)
    for second in range(first + 1, 40)
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    figures = [
        forest(
            METRICS,
            figure_id="forest",
            title="Pearson r",
            across="r",
            ceilings=[("one rater", 0.7), ("both", 0.8)],
        ),
        rank_intervals(SYSTEMS, figure_id="ranks"),
        metric_vs_human_scatter(
            POINTS, figure_id="scatter", level="turn", metric="bleu", correlation=Estimate(0.3)
        ),
        scores_by_human(BOXES, figure_id="boxes", metric="bleu", aspect="overall", level="turn"),
        response_map(TEXTS, figure_id="map", method="pca", shown=["bot"], explained=(0.1, 0.05)),
        system_means(
            [
                SystemMean("low", 0, Estimate(2.0, ci=(1.5, 2.25))),
                SystemMean("high", 1, Estimate(4.0)),
            ],
            figure_id="means",
        ),
    ]
    heat = correlation_heat(
        NAMES, range(40), PAIRS, heat_id="heat", coefficient="Pearson's r", caption="Forty metrics."
    )
    with gallery({"/": page_of(figures, "/"), "/heat/": heat_page(heat)}) as found:
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


@pytest.fixture(scope="module")
def seen(chromium: Browser, address: str) -> Iterator[Visit]:
    """For tests that only read."""
    with visitors(chromium, address) as begin:
        visitor = begin()
        visitor.go("/")
        visitor.see_everything()
        yield visitor


def chart(visitor: Visit, name: str) -> Locator:
    return visitor.page.locator(f"#chart-{name}")


def near(values: Sequence[Any]) -> Any:
    if values and isinstance(values[0], list):
        return [near(one) for one in values]
    return pytest.approx(values, abs=0.005)


def test_dots_whiskers_and_ceilings_of_a_forest_stand_where_the_data_say(seen: Visit) -> None:
    figure = chart(seen, "forest")
    traces = drawn(figure)
    assert [trace["points"][0] for trace in traces] == [
        near([-0.1, 0]),
        near([0.3, 1]),
        near([0.5, 2]),
    ]
    ends = [[end for whisker in trace["whiskers"] for end in whisker["x"]] for trace in traces]
    assert ends == [near([-0.25, 0.0]), [], near([0.4, 0.625])]
    assert upright_lines(figure) == near([0.7, 0.8])


def test_bars_of_ranks_reach_over_the_places_left_open(seen: Visit) -> None:
    traces = drawn(chart(seen, "ranks"))
    assert [trace["points"][0] for trace in traces] == [near([3, 0]), near([2, 1]), near([1, 2])]
    assert [trace["whiskers"][0]["x"] for trace in traces[1:]] == [near([1, 2]), near([1, 2])]


def test_a_scatter_has_every_point_its_line_and_the_band_around_it(seen: Visit) -> None:
    figure = chart(seen, "scatter")
    points, band, fit = drawn(figure)
    found = sorted(points["points"], key=lambda point: (round(point[0]), point[1]))
    assert found == near(sorted([one.human, one.metric] for one in POINTS))
    data = {
        trace["name"]: trace
        for trace in figure.evaluate("figure => figure.querySelector('.js-plotly-plot').data")
    }
    assert band["areas"][0][:50] == near(
        [list(pair) for pair in zip(data["band"]["x"], data["band"]["y"], strict=True)][:50]
    )
    assert fit["lines"][0] == near(
        [list(pair) for pair in zip(data["fit"]["x"], data["fit"]["y"], strict=True)]
    )


def test_a_box_has_its_corners_its_median_its_mean_and_its_whiskers(seen: Visit) -> None:
    whiskers, box, median, mean = drawn(chart(seen, "boxes"))
    assert [whisker["y"] for whisker in whiskers["whiskers"]] == [near([0.1, 0.9])]
    assert box["lines"][0] == near([[1.7, 0.3], [2.3, 0.3], [2.3, 0.7], [1.7, 0.7], [1.7, 0.3]])
    assert median["lines"][0] == near([[1.7, 0.45], [2.3, 0.45]])
    assert mean["points"] == [near([2.0, 0.5]), near([3.0, 0.8])]


def test_texts_stand_on_the_map_where_the_data_say_and_say_what_they_are(seen: Visit) -> None:
    figure = chart(seen, "map")
    assert [trace["points"] for trace in drawn(figure)] == [
        [near([1, 2])],
        [near([0, 1])],
        [near([2, 3])],
    ]
    figure.scroll_into_view_if_needed()
    place = figure.locator(".trace path.point").nth(1).bounding_box()
    assert place is not None
    seen.page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    label = figure.locator(".hoverlayer .hovertext")
    label.wait_for()
    assert "Hello <b>you</b>." in "".join(label.all_text_contents())


def test_means_of_systems_stand_with_their_whiskers(seen: Visit) -> None:
    traces = drawn(chart(seen, "means"))
    assert [trace["points"][0] for trace in traces] == [near([2.0, 0]), near([4.0, 1])]
    assert traces[0]["whiskers"][0]["x"] == near([1.5, 2.25])


CONTRASTS = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const rgb = colour => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); return pen.getImageData(0, 0, 1, 1).data; };
  const light = colour => {
    const [r, g, b] = [...rgb(colour)].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  return [...document.querySelectorAll('.heat tbody td[class^=shade]')].map(cell => {
    const style = getComputedStyle(cell);
    const [low, high] = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
    return [cell.className.match(/shade-\\d/)[0], (high + .05) / (low + .05), light(style.backgroundColor)];
  });
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_can_be_read_on_every_shade_and_shades_go_one_way(
    look: Callable[..., Visit], scheme: str
) -> None:
    visitor = look(scheme=scheme)
    visitor.go("/heat/")
    cells = visitor.page.evaluate(CONTRASTS)
    assert min(contrast for _, contrast, _ in cells) >= 4.5
    by_shade = dict(sorted((shade, light) for shade, _, light in cells))
    lights = list(by_shade.values())
    assert len(lights) == 8
    assert lights == sorted(lights, reverse=scheme == "light")


@pytest.mark.parametrize("width", [1440, 390])
def test_forty_metrics_scroll_in_their_box_and_names_stay_in_sight(
    look: Callable[..., Visit], width: int
) -> None:
    visitor = look(width=width)
    page = visitor.go("/heat/")
    box = page.locator(".heat .table-scroll")
    box.evaluate("box => box.scrollTo(box.scrollWidth, box.scrollHeight)")
    edges = box.bounding_box()
    last_row = page.locator(".heat tbody tr").last.locator("th").bounding_box()
    last_column = page.locator(".heat thead th").last.bounding_box()
    assert edges is not None
    assert last_row is not None
    assert last_column is not None
    assert last_row["x"] == pytest.approx(edges["x"], abs=1)
    assert last_column["y"] == pytest.approx(edges["y"], abs=2)
    assert visitor.scroll_width() == width


def test_names_that_are_markup_are_text_beside_their_rows(seen: Visit) -> None:
    names = chart(seen, "forest").locator(".ytick text").all_text_contents()
    assert names == [
        "bleu_4",
        "<b>submitted</b> & hostile",
        "bertscore_f1[model=a/model-with-a-long-name…",
    ]


def test_in_a_narrow_window_names_stand_above_their_rows_and_nothing_is_cut_off(
    look: Callable[..., Visit],
) -> None:
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


def test_without_script_there_is_the_data_and_no_button_that_does_nothing(
    look: Callable[..., Visit],
) -> None:
    figure = chart(look(script=False), "forest")
    assert figure.get_by_role("button", name="SVG").count() == 0
    assert figure.get_by_role("link", name="Download the data (CSV)").is_visible()


ABOVE_ANOTHER = "all => all.map(drawing => getComputedStyle(drawing).backgroundColor)"


def test_a_dark_page_is_printed_in_the_light_colours(look: Callable[..., Visit]) -> None:
    """As wide as a sheet, and nothing that lies upon the drawing covers it."""
    visitor = look(scheme="dark")
    page, forest = visitor.page, chart(visitor, "forest")
    dot, drawing = forest.locator(".trace path.point").first, forest.locator(".main-svg").first
    fill, width = "point => getComputedStyle(point).fill", "drawing => drawing.width.baseVal.value"
    assert dot.evaluate(fill) == "rgb(43, 143, 208)"
    wide = drawing.evaluate(width)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert dot.evaluate(fill) == "rgb(0, 114, 178)"
    assert drawing.evaluate(width) == 680 < wide  # A4 less two margins of 14 mm is 688 px
    assert set(forest.locator(".main-svg ~ .main-svg").evaluate_all(ABOVE_ANOTHER)) == {
        "rgba(0, 0, 0, 0)"
    }
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert dot.evaluate(fill) == "rgb(43, 143, 208)"
    assert drawing.evaluate(width) == wide
