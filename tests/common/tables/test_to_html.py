from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from common.tables import Cell, Column, Row, Table, mark_best, sort_table, to_html
from common.tables.arrange import order_of, parse_sort
from common.tables.markers import COLOURS, SHAPES, colour_number, shape
from common.tables.numerals import letter, written, written_p
from common.tables.to_html import TableWriter, table_to_html
from tests.common.tables.example import TABLE


def tree(table: Table, shown: frozenset[str] | None = None) -> ElementTree.Element:
    """Parsed as XML, which also proves that every element is closed and every text escaped."""
    html = table_to_html(
        table, shown, {column.key: f"?sort={column.key}&x=1" for column in table.columns}
    )
    return ElementTree.fromstring(f"<div>{html}</div>")


def rows(element: ElementTree.Element) -> list[ElementTree.Element]:
    return element.findall(".//tbody/tr")


def words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def test_figures_of_a_column_have_its_decimals_and_a_true_minus() -> None:
    assert [words(row[1]).split("95")[0] for row in rows(tree(TABLE))] == ["0.250", "–", "−0.500"]


def test_the_interval_is_printed_behind_its_value() -> None:
    assert "95 % interval [0.100, 0.400]; p < 0.001" in words(rows(tree(TABLE))[0][1])


def test_whiskers_share_the_scale_of_their_column() -> None:
    # The scale is -0.6 to 0.4 on 3..45 of 48 px: 42 px for 1.0. 0.1 → 3 + 0.7 · 42 = 32.4; 0.4 →
    # 45; 0.25 → 38.7.
    whisker = rows(tree(TABLE))[0][1].find("svg")
    assert whisker is not None
    zero, line, dot = list(whisker)
    assert (zero.get("d"), line.get("d"), dot.get("cx")) == ("M28.2 0V12", "M32.4 6H45", "38.7")


def test_undefined_is_a_dash_whose_reason_a_button_opens() -> None:
    page = tree(TABLE)
    button = rows(page)[1][1].find("button")
    assert button is not None
    assert (button.text, button.get("aria-label")) == ("–", "undefined: no turn level")
    tips = {tip.get("id"): tip.text for tip in page.findall("div")}
    assert tips[button.get("popovertarget")] == "no turn level"


def test_equal_reasons_share_one_explanation() -> None:
    many = tuple(Row(str(number), {"a": Cell(reason="same")}) for number in range(50))
    assert (
        table_to_html(Table("t", "", (Column("a", "a", "number"),), many)).count('popover=""') == 1
    )


def test_the_best_is_bold_and_said() -> None:
    cell = rows(tree(mark_best(TABLE)))[0][1]
    assert (words(cell.find("b")), "best" in words(cell)) == ("0.250", True)  # type: ignore[arg-type]


def test_the_sorted_column_says_so() -> None:
    page = tree(sort_table(TABLE, "-r"))
    assert [th.get("aria-sort") for th in page.findall(".//thead/tr")[1]] == [
        None,
        "descending",
        None,
        None,
    ]


def test_the_group_spans_its_shown_columns() -> None:
    page = tree(TABLE, frozenset({"metric", "r", "loss"}))
    groups = page.findall(".//thead/tr")[0]
    assert [(group.text, group.get("colspan")) for group in groups] == [
        (None, "1"),
        ("turn", "1"),
        ("system", "1"),
    ]


def test_a_column_not_chosen_is_not_written() -> None:
    page = tree(TABLE, frozenset({"metric", "r"}))
    assert [words(head) for head in page.findall(".//thead/tr")[1]] == ["metric", "r?"]
    assert [len(row) for row in rows(page)] == [2, 2, 2]
    assert "system" not in words(page.findall(".//thead/tr")[0]), (
        "a group without a column has no name"
    )


def test_the_name_of_the_row_is_written_whatever_was_chosen() -> None:
    assert [words(head) for head in tree(TABLE, frozenset({"loss"})).findall(".//thead/tr")[1]] == [
        "metric",
        "loss",
    ]


def test_the_range_of_a_rank_stands_beside_it() -> None:
    assert words(rows(tree(TABLE))[2][3]) == "2 (1–3)"


def test_rows_that_are_not_significantly_different_share_a_letter() -> None:
    column = Column("rank", "rank", "rank")
    systems = [("one", "a"), ("two", "ab"), ("three", "b")]
    ranked = tuple(
        Row(name, {"s": Cell(name), "rank": Cell(1, letters=letters)}) for name, letters in systems
    )
    table = Table("t", "", (Column("s", "s"), column), ranked)
    drawn = rows(tree(table))
    assert [words(row[1]) for row in drawn] == ["1 group a", "1 group ab", "1 group b"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '" onclick="x', "a & b", "it's"])
def test_text_is_escaped_wherever_it_stands(text: str) -> None:
    table = Table(
        "t",
        text,
        (Column("a", text, help=text, group=text), Column("b", text, "number", group=text)),
        (
            Row(
                text,
                {"a": Cell(text, href=text, note=text), "b": Cell(reason=text)},
                badges=(text,),
            ),
        ),
    )
    page = tree(table)
    assert page.find(".//script") is None
    assert not page.findall(".//*[@onclick]")
    assert rows(page)[0].get("data-id") == text


def test_no_element_has_a_style_attribute() -> None:
    assert not re.search(r"\sstyle=", table_to_html(mark_best(TABLE)))


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (-0.1234, 3, "−0.123"),
        (10395, 0, "10,395"),
        (-0.0001, 3, "0.000"),
        (0.5, 1, "0.5"),
        (-0.6, 0, "−1"),
    ],
)
def test_numbers_as_written(number: float, decimals: int, text: str) -> None:
    assert written(number, decimals) == text


def test_small_p_values_are_bounded_not_rounded_to_zero() -> None:
    assert (written_p(0.0004), written_p(0.0314)) == ("p < 0.001", "p = 0.031")


@pytest.mark.parametrize(
    ("number", "written_as"), [(0, "a"), (25, "z"), (26, "aa"), (51, "az"), (52, "ba")]
)
def test_groups_count_in_letters(number: int, written_as: str) -> None:
    assert letter(number) == written_as


def test_the_first_48_systems_look_different() -> None:
    assert (
        len({(colour_number(swatch), shape(swatch)) for swatch in range(48)})
        == 48
        == len(COLOURS) * len(SHAPES)
    )


def test_shares_are_drawn_as_bars_and_said_in_words() -> None:
    """Of 20 px one is the floor's: ½ is the largest and 19 px high, ¼ is 9.5 px, 0 has no bar."""
    cell = Cell("1: 50 %, 2: 25 %, 3: 0 %", bars=(0.5, 0.25, 0.0))
    table = Table(
        "t",
        "T",
        (Column("a", "A"), Column("use", "Use")),
        (Row("r", {"a": Cell("x"), "use": cell}),),
    )
    (row,) = rows(tree(table))
    assert [bar.get("height") for bar in row.iter("rect")] == ["19.0", "9.5"]
    assert words(row[1]) == "1: 50 %, 2: 25 %, 3: 0 %"


def test_bars_of_nothing_are_a_floor() -> None:
    table = Table("t", "T", (Column("a", "A"),), (Row("r", {"a": Cell("none", bars=(0.0, 0.0))}),))
    assert list(rows(tree(table))[0].iter("rect")) == []


def test_a_p_is_never_written_as_nought() -> None:
    table = Table(
        "t",
        "T",
        (Column("name", "Name"), Column("p", "p", "p")),
        tuple(Row(str(p), {"name": Cell("a"), "p": Cell(p)}) for p in (3e-9, 0.001, 0.0314, 1.0)),
    )
    assert [words(row[1]) for row in rows(tree(table))] == ["< 0.001", "0.001", "0.031", "1.000"]
    assert rows(tree(table))[0][1].get("data-v") == "3e-09", "sorted by the number itself"


@pytest.mark.parametrize("params", ["", "r", "-r", "rank", "-loss", "metric"])
@pytest.mark.parametrize("shown", [None, frozenset({"r"}), frozenset({"rank", "loss"})])
def test_a_writer_puts_every_arrangement_together_as_if_it_were_written_anew(
    params: str, shown: frozenset[str] | None
) -> None:
    writer = TableWriter(TABLE)
    writer.html(None, TABLE.sort, frozenset({"r"}))
    sort = parse_sort(params, TABLE)
    assert writer.html(order_of(TABLE, sort), sort, shown) == table_to_html(
        sort_table(TABLE, params), shown
    )


@pytest.fixture
def cells_written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The cells that were written: their column, and the place of their row."""
    cells: list[tuple[str, int]] = []
    write = to_html._RenderedCell.write
    monkeypatch.setattr(
        to_html._RenderedCell,
        "write",
        lambda one, place: (cells.append((one.column.key, place)), write(one, place))[1],
    )
    return cells


def test_a_cell_is_written_when_it_first_shows_and_not_again(
    cells_written: list[tuple[str, int]],
) -> None:
    writer = TableWriter(TABLE)
    for order, shown in (([1], {"r"}), ([1, 0], {"r"}), ([0, 1], {"r", "loss"})):
        writer.html(order, None, frozenset(shown))
    assert sorted(cells_written) == [
        (key, place) for key in ("loss", "metric", "r") for place in (0, 1)
    ]


def test_rows_that_do_not_show_are_neither_written_nor_explained() -> None:
    rows_ = tuple(
        Row(f"r{n}", {"a": Cell(f"name {n}"), "b": Cell(reason=f"reason {n}")}) for n in range(3)
    )
    html = TableWriter(Table("t", "T", (Column("a", "A"), Column("b", "B", "number")), rows_)).html(
        [2, 0]
    )
    assert re.findall(r'data-id="(\w+)"', html) == ["r2", "r0"]
    assert re.findall(r'class="tip"[^>]*>([^<]*)<', html) == ["reason 2", "reason 0"]


def test_of_a_long_table_only_some_cells_are_kept(
    monkeypatch: pytest.MonkeyPatch, cells_written: list[tuple[str, int]]
) -> None:
    """Two may be kept: all three rows are written each time, and of one after the other the first
    is gone again."""
    monkeypatch.setattr(to_html, "MOST_WRITTEN", 2)
    writer = TableWriter(TABLE)
    whole = [writer.html(None, None, frozenset({"metric"})) for _ in range(2)]
    assert (whole[0] == whole[1], len(cells_written)) == (True, 6)
    for place in (0, 1, 2, 0):
        writer.html([place], None, frozenset({"metric"}))
    assert cells_written[6:] == [("metric", place) for place in (0, 1, 2, 0)]


def test_a_column_put_in_leaves_the_others_as_they_were_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = TableWriter(TABLE)
    before = writer.html()
    wider = writer.with_column(
        Column("more", "more", "number", 0, "m"), [Cell(n) for n in (7, 8, 9)], after="r"
    )
    page = ElementTree.fromstring(f"<div>{wider.html()}</div>")
    assert [words(head) for head in page.findall(".//thead/tr")[1]] == [
        "metric",
        "r?",
        "more?",
        "loss",
        "rank",
    ]
    assert [words(row[2]) for row in rows(page)] == ["7", "8", "9"]
    monkeypatch.setattr(
        to_html._RenderedCell, "write", lambda *_: pytest.fail("it was written before")
    )
    assert writer.html() == before
    assert "more" in wider.html(None, None, frozenset({"more"}))
