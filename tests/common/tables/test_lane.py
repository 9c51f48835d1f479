"""The chart in a table: where dots, whiskers and lines stand, and what a table with one holds."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from common.tables import Cell, Column, Row, Table
from common.tables.lane import Lane, Mark, ticks
from common.tables.to_html import TableWriter

LANE = Lane(
    "r",
    (-1.0, 1.0),
    marks=(Mark("ceiling <0.50>", 0.5, "people"),),
    kinds={"length": "baseline"},
    hollow=frozenset({"weak"}),
)
TABLE = Table(
    "t",
    "T",
    (Column("name", "Name", "link"), Column("r", "r", "estimate"), Column("n", "n", "number", 0)),
    (
        Row("best", {"name": Cell("a", href="?metric=a&x"), "r": Cell(0.5, ci=(0.0, 1.0), letters="a")}),
        Row("weak", {"name": Cell("b"), "r": Cell(-0.5, letters="ac")}),
        Row("length", {"name": Cell("c"), "r": Cell(reason="all responses have 3 tokens")}),
    ),
)  # fmt: skip


def tree(lane: Lane | None = LANE, **choice: frozenset[str]) -> ElementTree.Element:
    html = TableWriter(TABLE, lane=lane).html(None, None, choice.get("shown"))
    return ElementTree.fromstring(f"<div>{html}</div>")


def lanes(page: ElementTree.Element) -> list[ElementTree.Element]:
    return page.findall(".//tbody/tr/td[@class='lane']")


def test_a_dot_and_its_whisker_stand_on_the_scale_of_the_lane() -> None:
    """−1 to 1 on 4 % to 96 %: 46 % for 1. 0 → 50 %, 0.5 → 73 %, 1 → 96 %."""
    drawing = lanes(tree())[0].find(".//svg")
    assert drawing is not None
    dot, whisker = drawing.find("circle"), drawing.find("line[@class='whisker-line']")
    assert dot is not None
    assert whisker is not None
    assert (dot.get("cx"), whisker.get("x1"), whisker.get("x2")) == ("73.00%", "50.00%", "96.00%")


def test_a_mark_is_a_line_through_every_row_and_a_label_in_the_header() -> None:
    page = tree()
    for lane in lanes(page):
        line = lane.find(".//line[@class='people']")
        assert line is not None
        assert line.get("x1") == "73.00%"
    label = page.find(".//thead//text[@class='people']")
    assert label is not None
    assert label.text == "ceiling <0.50>"


def test_an_undefined_value_has_neither_dot_nor_whisker() -> None:
    drawing = lanes(tree())[2].find("svg")
    assert drawing is not None
    assert drawing.find("circle") is None
    assert drawing.find("line[@class='whisker-line']") is None


def test_a_row_that_is_significantly_different_is_hollow_and_a_baseline_is_of_its_kind() -> None:
    page = tree()
    classes = [drawing.get("class") for drawing in page.findall(".//tbody//svg")]
    assert classes == ["of-computed", "of-computed hollow", "of-baseline"]
    assert [row.get("class") for row in page.findall(".//tbody/tr")] == [None, None, "baseline"]


def test_a_dot_leads_where_its_row_s_name_leads() -> None:
    links = [lane.find("a") for lane in lanes(tree())]
    assert [None if link is None else link.get("href") for link in links] == [
        "?metric=a&x",
        None,
        None,
    ]


def test_letters_stand_in_fixed_slots() -> None:
    cells = tree().findall(".//tbody/tr/td[@class='cld']")
    slots = [[slot.text or "-" for slot in cell.findall(".//i")] for cell in cells]
    assert slots == [["a", "-", "-"], ["a", "-", "c"], []]


def test_every_row_has_as_many_cells_as_the_header() -> None:
    for shown in (frozenset({"r", "n"}), frozenset({"n"})):
        page = tree(shown=shown)
        widths = {len(row) for row in page.iter("tr")}
        assert len(widths) == 1
        assert bool(lanes(page)) == ("r" in shown)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ((0.0, 1.0), [(0.0, 1), (0.2, 1), (0.4, 1), (0.6, 1), (0.8, 1), (1.0, 1)]),
        ((-0.28, 0.76), [(-0.2, 1), (0.0, 1), (0.2, 1), (0.4, 1), (0.6, 1)]),
        ((1.0, 5.0), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]),
        ((0.02, 0.07), [(0.02, 2), (0.03, 2), (0.04, 2), (0.05, 2), (0.06, 2), (0.07, 2)]),
        ((0.5, 0.5), []),
    ],
)
def test_the_axis_has_round_numbers(
    scale: tuple[float, float], expected: list[tuple[float, int]]
) -> None:
    found = ticks(scale)
    assert [number for number, _ in found] == pytest.approx([number for number, _ in expected])
    assert [decimals for _, decimals in found] == [decimals for _, decimals in expected]
