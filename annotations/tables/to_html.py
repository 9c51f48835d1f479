"""The ``<table>`` element of a table. Written by hand rather than in a template: a leaderboard has thousands of
cells, and a template would spend on each what this spends on a row. All text passes through ``html.escape``.
No attribute is a style: the site's content security policy refuses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from annotations.tables.arrange import column_scale, first_direction
from annotations.tables.markers import swatch_svg
from annotations.tables.numerals import DASH, band_letter, written, written_interval, written_p, written_p_number
from annotations.tables.table import Cell, Column, Row, Table

WHISKER_WIDTH = 48
WHISKER_MARGIN = 3
BAR_WIDTH = 8
BAR_HEIGHT = 20


@dataclass
class _Drawing:
    """What the cells of one table share while it is drawn."""

    table: Table
    columns: tuple[Column, ...]
    """Those that show; the first names the row."""
    scales: Mapping[str, tuple[float, float] | None]
    popovers: dict[str, str] = field(default_factory=dict)
    """Text of every explanation and the id of its popover: equal reasons share one."""
    openings: dict[tuple[str, bool], tuple[str, str]] = field(default_factory=dict)
    """What stands before and after the sort value in the tag of a column's cell, plain or best: one for all rows."""

    def popover(self, text: str) -> str:
        return self.popovers.setdefault(text, f"why-{self.table.id}-{len(self.popovers)}")

    def opening(self, column: Column, best: bool) -> tuple[str, str]:
        found = self.openings.get((column.key, best))
        if found is None:
            label = escape(f"{column.group} {column.label}".strip())
            classes = ("figure" if column.is_figure else "words") + (" best" if best else "")
            classes += " detail" if column.detail else ""
            found = f'<td class="{classes}" data-v="', f'" data-label="{label}">'
            self.openings[column.key, best] = found
        return found


def table_to_html(
    table: Table, shown: frozenset[str] | None = None, sort_links: Mapping[str, str] | None = None
) -> str:
    """The table with a header, its rows, and after it the explanations that its cells and headers open.

    ``shown`` are the column keys that show, all where it is None; the first column always does. The others are not
    written: a board of fifty columns would be a megabyte. ``sort_links`` maps a column key to the address that sorts by
    it.
    """
    columns = tuple(one for place, one in enumerate(table.columns) if place == 0 or shown is None or one.key in shown)
    drawing = _Drawing(table, columns, {column.key: column_scale(table, column.key) for column in columns})
    parts = ['<table class="figures">', _head(drawing, sort_links or {}), "<tbody>"]
    parts.extend(_row(row, drawing) for row in table.rows)
    parts.append("</tbody></table>")
    parts.extend(
        f'<div popover="" class="tip" id="{escape(popover)}">{escape(text)}</div>'
        for text, popover in drawing.popovers.items()
    )
    return "".join(parts)


def _head(drawing: _Drawing, sort_links: Mapping[str, str]) -> str:
    columns = drawing.columns
    names = "".join(_header_cell(column, drawing, sort_links.get(column.key, "")) for column in columns)
    if not any(column.group for column in columns):
        return f"<thead><tr>{names}</tr></thead>"
    groups = "".join(
        _group_cell(group, len(list(members))) for group, members in groupby(columns, key=lambda one: one.group)
    )
    return f'<thead><tr class="groups">{groups}</tr><tr>{names}</tr></thead>'


def _group_cell(group: str, members: int) -> str:
    span = f'colspan="{members}"'
    return f'<th scope="colgroup" {span}>{escape(group)}</th>' if group else f"<td {span}></td>"


def _header_cell(column: Column, drawing: _Drawing, sort_link: str) -> str:
    label = escape(column.label)
    if sort_link:
        first = "descending" if first_direction(column) else "ascending"
        label = f'<a href="{escape(sort_link)}" data-sort="{escape(column.key)}" data-first="{first}">{label}</a>'
    help_button = _help_button(column, drawing) if column.help else ""
    kind = "figure" if column.is_figure else "words"
    order = _order(column, drawing.table)
    return f'<th scope="col" class="{kind}"{order}>{label}{help_button}</th>'


def _help_button(column: Column, drawing: _Drawing) -> str:
    popover = drawing.popover(column.help)
    name = escape(f"What is {column.label}?")
    return f'<button type="button" class="why" popovertarget="{popover}" aria-label="{name}">?</button>'


def _order(column: Column, table: Table) -> str:
    if table.sort is None or table.sort[0] != column.key:
        return ""
    return f' aria-sort="{"descending" if table.sort[1] else "ascending"}"'


def _row(row: Row, drawing: _Drawing) -> str:
    first, *others = drawing.columns
    bands = [cell.band for cell in row.cells.values() if cell.band is not None]
    band = f' class="band-{bands[0] % 2}"' if bands else ""
    cells = "".join(_data_cell(column, row.cell(column.key), drawing) for column in others)
    return f'<tr{band} data-id="{escape(row.id)}">{_name_cell(first, row, drawing)}{cells}</tr>'


def _name_cell(column: Column, row: Row, drawing: _Drawing) -> str:
    swatch = "" if row.swatch is None else swatch_svg(row.swatch)
    badges = "".join(f' <span class="badge {_class_name(badge)}">{escape(badge)}</span>' for badge in row.badges)
    cell = row.cell(column.key)
    content = _pick(row, cell, drawing.table) + swatch + _content(column, cell, drawing)
    return f'<th scope="row" data-v="{_sort_value(cell)}"><span class="name">{content}</span>{badges}</th>'


def _pick(row: Row, name: Cell, table: Table) -> str:
    if not row.pick or not table.pick_form:
        return ""
    label = f"Compare {name.value}"
    form = f'form="{escape(table.pick_form)}" aria-label="{escape(label)}"'
    return f'<input type="checkbox" class="pick" name="pick" value="{escape(row.pick)}" {form} autocomplete="off">'


def _class_name(word: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in word.lower())


def _data_cell(column: Column, cell: Cell, drawing: _Drawing) -> str:
    before, after = drawing.opening(column, cell.best)
    return f"{before}{_sort_value(cell)}{after}{_content(column, cell, drawing)}</td>"


def _sort_value(cell: Cell) -> str:
    value = cell.value
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) else str(value)


def _content(column: Column, cell: Cell, drawing: _Drawing) -> str:
    if cell.value is None:
        return _undefined(cell, drawing) + _room_for_whisker(column, drawing)
    words = _value(column, cell.value)
    if cell.bars:
        words = f'<span class="sr">{words}</span>{bars_svg(cell.bars)}'
    if cell.href:
        words = f'<a href="{escape(cell.href)}">{words}</a>'
    if cell.best:
        words = f'<b>{words}</b><span class="sr"> best</span>'
    if cell.band is not None:
        words += f' <span class="band"><span class="sr">group </span>{band_letter(cell.band)}</span>'
    return words + _interval(column, cell, drawing) + _remark(cell, drawing)


def _value(column: Column, value: str | float | int) -> str:
    if isinstance(value, str):
        return escape(value)
    if column.kind == "p":
        return escape(written_p_number(value))
    return written(value, 0 if column.kind == "rank" else column.decimals)


def _undefined(cell: Cell, drawing: _Drawing) -> str:
    reason = cell.reason or "not available"
    name = escape(f"undefined: {reason}")
    target = drawing.popover(reason)
    return f'<button type="button" class="why none" popovertarget="{target}" aria-label="{name}">{DASH}</button>'


def _remark(cell: Cell, drawing: _Drawing) -> str:
    if not cell.note:
        return ""
    target = drawing.popover(cell.note)
    name = escape(f"note: {cell.note}")
    return f'<button type="button" class="why" popovertarget="{target}" aria-label="{name}">*</button>'


def _interval(column: Column, cell: Cell, drawing: _Drawing) -> str:
    """The interval in words (for screen readers, cards and the tip) and, beside a number, as dot and whisker."""
    p = f"; {escape(written_p(cell.p))}" if cell.p is not None else ""
    if cell.ci is None:
        return (f'<span class="interval">{p[2:]}</span>' if p else "") + _room_for_whisker(column, drawing)
    if column.kind == "rank":
        return f' <span class="range">({written(cell.ci[0], 0)}{DASH}{written(cell.ci[1], 0)})</span>'
    words = f'<span class="interval">95 % interval {written_interval(cell.ci, column.decimals)}{p}</span>'
    scale = drawing.scales[column.key]
    return words + (whisker_svg(cell, scale) if scale is not None else "")


def _room_for_whisker(column: Column, drawing: _Drawing) -> str:
    """Keeps a number (or dash) without an interval in line with those that have one."""
    if column.kind == "rank" or drawing.scales[column.key] is None:
        return ""
    return f'<svg class="whisker" width="{WHISKER_WIDTH}" height="12" aria-hidden="true" focusable="false"></svg>'


def bars_svg(shares: tuple[float, ...]) -> str:
    """A column per share, the largest as high as there is room; one that is not 0 can be seen. A hairline is the
    floor."""
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
    """Dot at the value, line over the interval, on the column's scale; a hairline marks zero where it lies within."""
    low, high = scale
    width = WHISKER_WIDTH - 2 * WHISKER_MARGIN

    def place(number: float) -> str:
        share = 0.5 if high <= low else (number - low) / (high - low)
        return f"{WHISKER_MARGIN + share * width:.1f}".removesuffix(".0")

    if cell.ci is None or cell.number is None:
        return ""
    zero = f'<path class="zero" d="M{place(0)} 0V12"/>' if low < 0 < high else ""
    return (
        f'<svg class="whisker" viewBox="0 0 {WHISKER_WIDTH} 12" width="{WHISKER_WIDTH}" height="12" '
        f'aria-hidden="true" focusable="false">{zero}<path d="M{place(cell.ci[0])} 6H{place(cell.ci[1])}"/>'
        f'<circle cx="{place(cell.number)}" cy="6" r="2.5"/></svg>'
    )
