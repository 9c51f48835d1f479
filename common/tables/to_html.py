"""The ``<table>`` element of a table. Written by hand rather than in a template: a leaderboard has
thousands of cells, and a template would spend on each what this spends on a row. All text passes
through ``html.escape``. No attribute is a style: the site's content security policy refuses them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from itertools import groupby

from common.tables.arrange import column_scale, first_direction
from common.tables.lane import Lane
from common.tables.markers import swatch_svg
from common.tables.numerals import DASH, bracketed, written, written_p, written_p_number
from common.tables.table import Cell, Column, Row, Table

WHISKER_WIDTH = 48
WHISKER_MARGIN = 3
BAR_WIDTH = 8
BAR_HEIGHT = 20
BYTES_A_CELL, BYTES_WRITTEN = 200, 500
"""Of memory, roughly: a cell, and its HTML."""
MOST_WRITTEN = 200
"""Cells of one column whose HTML is kept. Who wants to see all rows of a longer table waits for
them to be written."""


class _RenderedCell(dict[int, str]):
    """One column as it is drawn: the cells by the places of their rows, each written when it first
    shows."""

    def __init__(self, table: Table, column: Column, lane: Lane | None = None) -> None:
        super().__init__()
        self.table = table
        self.column = column
        self.lane = lane if lane is not None and lane.column == column.key else None
        # Small whiskers beside a large one would say the same again
        self.scale = None if lane is not None else column_scale(table, column.key)
        self.slots = 0 if self.lane is None else _slots(table, column)
        drawn = " drawn" if self.lane is not None else ""
        self._plain = _cell_opening(column, drawn)
        self._best = _cell_opening(column, f"{drawn} best")

    def __missing__(self, place: int) -> str:
        if len(self) >= MOST_WRITTEN:
            self.clear()
        html = self[place] = self.write(place)
        return html

    def write(self, place: int) -> str:
        row = self.table.rows[place]
        if self.column is self.table.columns[0]:
            return _name_cell(row, self)
        cell = row.cell(self.column.key)
        before, after = self._best if cell.best else self._plain
        html = f"{before}{_sort_value(cell)}{after}{_content(cell, self)}</td>"
        return html if self.lane is None else html + _lane_cells(row, cell, self)

    def at(self, places: Sequence[int]) -> Iterable[str]:
        return map(self.__getitem__ if len(places) <= MOST_WRITTEN else self.write, places)

    def explained(self, places: Iterable[int]) -> dict[str, str]:
        """The explanations that these cells open, by their ids."""
        cells = (self.table.rows[place].cell(self.column.key) for place in places)
        return {
            tip_id(self.table, text): text
            for text in dict.fromkeys(map(_explanation, cells))
            if text
        }


def tip_id(table: Table, text: str) -> str:
    """Id of the element that holds an explanation.

    It follows from the text: equal explanations share one, and a cell refers to the same one
    wherever it stands.

    Args:
        table: the table with the explanation.
        text: the explanation.

    Returns:
        An id that is unique on the page, not yet escaped for HTML.
    """
    return (
        f"why-{table.id}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    )


class TableWriter:
    """A table as HTML, in any order of its rows and with any choice of its columns.

    A cell is written when it first shows; every arrangement after that only puts cells together.
    """

    def __init__(
        self, table: Table, without: TableWriter | None = None, lane: Lane | None = None
    ) -> None:
        """Prepare to write a table; nothing is written yet.

        Args:
            table: to be written.
            lane: the chart beside one of its columns; None for a table without one.
            without: the writer of the same rows with one column less, which has written, or will
                write, the cells of all others; None to write every cell here.
        """
        self.table = table
        self.lane = lane
        self._without = without
        self._drawn: dict[str, _RenderedCell] = {}

    @property
    def weight(self) -> int:
        """Bytes that it may come to hold, roughly."""
        rows = len(self.table.rows)
        return len(self.table.columns) * (
            rows * BYTES_A_CELL + min(rows, MOST_WRITTEN) * BYTES_WRITTEN
        )

    @property
    def folds_columns(self) -> bool:
        """Whether the cards of a phone leave columns out at first."""
        return any(column.detail for column in self.table.columns)

    @cached_property
    def folds_intervals(self) -> bool:
        """Whether they leave out intervals, or p-values, in words; the range of a rank always
        stands there."""
        kinds = {column.key: column.kind for column in self.table.columns}
        return any(
            cell.value is not None
            and kinds.get(key) != "rank"
            and (cell.ci is not None or cell.p is not None)
            for row in self.table.rows
            for key, cell in row.cells.items()
        )

    def with_column(self, column: Column, cells: Sequence[Cell], after: str) -> TableWriter:
        """A writer of the same rows with one column more, which shares the cells of all others.

        Args:
            column: to be added.
            cells: of the column, one per row, in the order of the rows.
            after: key of the column before it.

        Returns:
            A new writer. This one is unchanged.

        Raises:
            ValueError: there is not one cell per row, or the table has a column with that key.
        """
        columns: list[Column] = []
        for one in self.table.columns:
            columns += [one, column] if one.key == after else [one]
        rows = (
            replace(row, cells={**row.cells, column.key: cell})
            for row, cell in zip(self.table.rows, cells, strict=True)
        )
        return TableWriter(
            replace(self.table, columns=tuple(columns), rows=tuple(rows)),
            without=self,
            lane=self.lane,
        )

    def html(
        self,
        order: Sequence[int] | None = None,
        sort: tuple[str, bool] | None = None,
        shown: frozenset[str] | None = None,
        sort_links: Mapping[str, str] | None = None,
    ) -> str:
        """Write the table, and after it the explanations that its cells and headers open.

        What does not show is not written: a board of fifty columns would be a megabyte.

        Args:
            order: indices in the table of the rows to show, in order; None for all rows as they
                are.
            sort: (column key, descending) that the rows are sorted by, for the header; None for
                none.
            shown: keys of the columns to show, None for all. The first column always shows.
            sort_links: addresses that sort by a column, by its key; a header without one is no
                link.

        Returns:
            A ``<table>`` element with a header, and the explanations, with all text escaped.
        """
        table = self.table
        columns = [
            one
            for place, one in enumerate(table.columns)
            if place == 0 or shown is None or one.key in shown
        ]
        drawn = [self._column(column) for column in columns]
        places = range(len(table.rows)) if order is None else order
        parts = [
            f'<table class="figures{" board" if self.lane else ""}">',
            _head(table, drawn, sort, sort_links or {}),
            "<tbody>",
        ]
        for place, *cells in zip(places, *(one.at(places) for one in drawn), strict=True):
            parts += (_opening(table.rows[place], self.lane), *cells, "</tr>")
        parts.append("</tbody></table>")
        parts += _tips(table, columns, drawn, places)
        return "".join(parts)

    def _column(self, column: Column) -> _RenderedCell:
        if self._without is not None and self._without.table.column(column.key) is column:
            return self._without._column(column)
        found = self._drawn.get(column.key)
        if found is None:
            found = self._drawn[column.key] = _RenderedCell(self.table, column, self.lane)
        return found


def table_to_html(
    table: Table, shown: frozenset[str] | None = None, sort_links: Mapping[str, str] | None = None
) -> str:
    """A table as HTML, with its rows as they are.

    Args:
        table: any table; the header says that it is sorted by its ``sort``.
        shown: keys of the columns to show, None for all. The first column always shows.
        sort_links: addresses that sort by a column, by its key; a header without one is no link.

    Returns:
        A ``<table>`` element with a header, and the explanations, with all text escaped.
    """
    return TableWriter(table).html(None, table.sort, shown, sort_links)


def _tips(
    table: Table, columns: Sequence[Column], drawn: Iterable[_RenderedCell], places: Sequence[int]
) -> list[str]:
    tips = {tip_id(table, column.help): column.help for column in columns if column.help}
    for one in drawn:
        tips |= one.explained(places)
    return [
        f'<div popover="" class="tip" id="{escape(place)}">{escape(text)}</div>'
        for place, text in tips.items()
    ]


def _cell_opening(column: Column, more: str) -> tuple[str, str]:
    """What stands before and after the sort value in the tag of a column's cell: one for all
    rows."""
    label = escape(f"{column.group} {column.label}".strip())
    classes = (
        f"{'figure' if column.is_figure else 'words'}{more}{' detail' if column.detail else ''}"
    )
    return f'<td class="{classes}" data-v="', f'" data-label="{label}">'


def _opening(row: Row, lane: Lane | None) -> str:
    kind = lane.kinds.get(row.id) if lane is not None else None
    row_class = f' class="{kind}"' if kind else ""
    return f'<tr data-id="{escape(row.id)}"{row_class}>'


def _slots(table: Table, column: Column) -> int:
    """In how many slots the letters of a column stand; 0 where it has none."""
    letters = "".join(row.cell(column.key).letters for row in table.rows)
    return ord(max(letters)) - ord("a") + 1 if letters else 0


def _lane_cells(row: Row, cell: Cell, drawn: _RenderedCell) -> str:
    """The row's drawing, which leads where its name leads, and its letters in fixed slots: a letter
    that rows share is an upright line to the eye."""
    assert drawn.lane is not None
    drawing = drawn.lane.row_svg(row.id, cell)
    if href := row.cell(drawn.table.columns[0].key).href:
        drawing = f'<a href="{escape(href)}" tabindex="-1" aria-hidden="true">{drawing}</a>'
    html = f'<td class="lane">{drawing}</td>'
    if not drawn.slots:
        return html
    letters = "".join(
        f"<i>{letter}</i>" if letter in cell.letters else "<i></i>"
        for letter in map(chr, range(ord("a"), ord("a") + drawn.slots))
    )
    shown = (
        f'<span class="letters"><span class="sr">group {cell.letters}</span>'
        f'<span class="slots" aria-hidden="true">{letters}</span></span>'
        if cell.letters
        else ""
    )
    return f'{html}<td class="cld">{shown}</td>'


def _head(
    table: Table,
    drawn: Sequence[_RenderedCell],
    sort: tuple[str, bool] | None,
    sort_links: Mapping[str, str],
) -> str:
    names = "".join(
        _header_cell(table, one.column, sort, sort_links.get(one.column.key, ""))
        + _lane_header(one)
        for one in drawn
    )
    if not any(one.column.group for one in drawn):
        return f"<thead><tr>{names}</tr></thead>"
    groups = "".join(
        _group_cell(group, sum(_width(one) for one in members))
        for group, members in groupby(drawn, key=lambda one: one.column.group)
    )
    return f'<thead><tr class="groups">{groups}</tr><tr>{names}</tr></thead>'


def _lane_header(drawn: _RenderedCell) -> str:
    """No ``<th>``: what these two columns show stands in words in the cell before them."""
    if drawn.lane is None:
        return ""
    letters = '<td class="cld">Groups</td>' if drawn.slots else ""
    return f'<td class="lane">{drawn.lane.header_svg()}</td>{letters}'


def _width(drawn: _RenderedCell) -> int:
    """How many cells of a row a column takes."""
    return 1 if drawn.lane is None else 3 if drawn.slots else 2


def _group_cell(group: str, members: int) -> str:
    span = f'colspan="{members}"'
    return f'<th scope="colgroup" {span}>{escape(group)}</th>' if group else f"<td {span}></td>"


def _header_cell(
    table: Table, column: Column, sort: tuple[str, bool] | None, sort_link: str
) -> str:
    label = escape(column.label)
    if sort_link:
        first = "descending" if first_direction(column) else "ascending"
        label = (
            f'<a href="{escape(sort_link)}" data-sort="{escape(column.key)}" '
            f'data-first="{first}">{label}</a>'
        )
    help_button = _help_button(table, column) if column.help else ""
    kind = "figure" if column.is_figure else "words"
    order = _order(column, sort)
    return f'<th scope="col" class="{kind}"{order}>{label}{help_button}</th>'


def _help_button(table: Table, column: Column) -> str:
    name = escape(f"What is {column.label}?")
    target = escape(tip_id(table, column.help))
    return (
        f'<button type="button" class="why" popovertarget="{target}" aria-label="{name}">?</button>'
    )


def _order(column: Column, sort: tuple[str, bool] | None) -> str:
    if sort is None or sort[0] != column.key:
        return ""
    return f' aria-sort="{"descending" if sort[1] else "ascending"}"'


def _name_cell(row: Row, drawn: _RenderedCell) -> str:
    swatch = "" if row.swatch is None else swatch_svg(row.swatch)
    badges = "".join(
        f' <span class="badge {_class_name(badge)}">{escape(badge)}</span>' for badge in row.badges
    )
    cell = row.cell(drawn.column.key)
    content = _pick(row, cell, drawn.table) + swatch + _content(cell, drawn)
    return (
        f'<th scope="row" data-v="{_sort_value(cell)}"><span '
        f'class="name">{content}</span>{badges}</th>'
    )


def _pick(row: Row, name: Cell, table: Table) -> str:
    if not row.pick or not table.pick_form:
        return ""
    label = f"Compare {name.value}"
    form = f'form="{escape(table.pick_form)}" aria-label="{escape(label)}"'
    return (
        f'<input type="checkbox" class="pick" name="pick" value="{escape(row.pick)}" {form} '
        'autocomplete="off">'
    )


def _class_name(word: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in word.lower())


def _sort_value(cell: Cell) -> str:
    value = cell.value
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) else str(value)


def _content(cell: Cell, drawn: _RenderedCell) -> str:
    if cell.value is None:
        return _undefined(cell, drawn) + _whisker(cell, drawn)
    words = _value(drawn.column, cell.value)
    if cell.bars:
        words = f'<span class="sr">{words}</span>{bars_svg(cell.bars)}'
    if cell.href:
        words = f'<a href="{escape(cell.href)}">{words}</a>'
    if cell.best:
        words = f'<b>{words}</b><span class="sr"> best</span>'
    if cell.letters and drawn.lane is None:
        words += f' <span class="letters"><span class="sr">group </span>{cell.letters}</span>'
    scope = (
        f'<span class="scope">{escape(cell.generalises_to)}</span>' if cell.generalises_to else ""
    )
    return words + _whisker(cell, drawn) + _remark(cell, drawn) + _interval(cell, drawn) + scope


def _value(column: Column, value: str | float | int) -> str:
    if isinstance(value, str):
        return escape(value)
    if column.kind == "p":
        return escape(written_p_number(value))
    return written(value, 0 if column.kind == "rank" else column.decimals)


def _explanation(cell: Cell) -> str:
    """What a cell says when one asks: why it is undefined, or the remark on its value."""
    return cell.note if cell.value is not None else cell.reason or "not available"


def _undefined(cell: Cell, drawn: _RenderedCell) -> str:
    name = escape(f"undefined: {_explanation(cell)}")
    target = escape(tip_id(drawn.table, _explanation(cell)))
    return (
        f'<button type="button" class="why none" popovertarget="{target}" '
        f'aria-label="{name}">{DASH}</button>'
    )


def _remark(cell: Cell, drawn: _RenderedCell) -> str:
    if not cell.note:
        return ""
    target = escape(tip_id(drawn.table, cell.note))
    name = escape(f"note: {cell.note}")
    return (
        f'<button type="button" class="why" popovertarget="{target}" aria-label="{name}">*</button>'
    )


def _interval(cell: Cell, drawn: _RenderedCell) -> str:
    """The interval, printed, or a rank's range. The p is for screen readers and unfolded cards."""
    p = f'<span class="p">; {escape(written_p(cell.p))}</span>' if cell.p is not None else ""
    if cell.ci is None:
        return f'<span class="interval">{p}</span>' if p else ""
    if drawn.column.kind == "rank":
        low, high = (written(end, 0) for end in cell.ci)
        return "" if low == high else f' <span class="range">({low}{DASH}{high})</span>'
    return (
        '<span class="interval"><span class="sr">95 % interval </span>'
        f"{bracketed(cell.ci, drawn.column.decimals)}{p}</span>"
    )


def _whisker(cell: Cell, drawn: _RenderedCell) -> str:
    """The interval as dot and whisker; an empty drawing keeps a number (or dash) without an
    interval in line with those that have one."""
    if drawn.column.kind == "rank" or drawn.scale is None:
        return ""
    return whisker_svg(cell, drawn.scale) or (
        f'<svg class="whisker" width="{WHISKER_WIDTH}" height="12" aria-hidden="true" '
        'focusable="false"></svg>'
    )


def bars_svg(shares: tuple[float, ...]) -> str:
    """A small bar chart of shares.

    Args:
        shares: from 0 to 1, one bar each, on a scale that ends at the largest.

    Returns:
        An ``<svg>`` element, hidden from screen readers. A share that is not 0 can be seen; a
        hairline is the floor.
    """
    largest = max(shares, default=0.0)
    step, height = BAR_WIDTH + 2, BAR_HEIGHT
    drawn = []
    for number, share in enumerate(shares):
        high = max(1.5, share / largest * (height - 1)) if share > 0 else 0
        if high:
            size = f'width="{BAR_WIDTH}" height="{high:.1f}"'
            drawn.append(f'<rect x="{number * step}" y="{height - 1 - high:.1f}" {size}/>')
    width = len(shares) * step - 2
    floor = f'<path d="M0 {height - 0.5}H{width}"/>'
    return (
        f'<svg class="bars" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'aria-hidden="true" focusable="false">{"".join(drawn)}{floor}</svg>'
    )


def whisker_svg(cell: Cell, scale: tuple[float, float]) -> str:
    """A dot at a cell's value and a line over its interval.

    Args:
        cell: with a number and an interval.
        scale: (low, high), which the column's cells share.

    Returns:
        An ``<svg>`` element, hidden from screen readers; a hairline marks zero where it lies within
        the scale. "" where the cell has no number or no interval.
    """
    low, high = scale
    width = WHISKER_WIDTH - 2 * WHISKER_MARGIN

    def place(number: float) -> str:
        share = 0.5 if high <= low else (number - low) / (high - low)
        return f"{WHISKER_MARGIN + share * width:.1f}".removesuffix(".0")

    if cell.ci is None or cell.number is None:
        return ""
    zero = f'<path class="zero" d="M{place(0)} 0V12"/>' if low < 0 < high else ""
    return (
        f'<svg class="whisker" viewBox="0 0 {WHISKER_WIDTH} 12" width="{WHISKER_WIDTH}" '
        f'height="12" aria-hidden="true" focusable="false">{zero}<path d="M{place(cell.ci[0])} '
        f'6H{place(cell.ci[1])}"/><circle cx="{place(cell.number)}" cy="6" r="2.5"/></svg>'
    )
