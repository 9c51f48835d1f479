"""Metric × metric as a table of shaded numbers: it needs no drawing library, and a screen reader
can walk it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from common.estimates import Estimate
from common.tables.numerals import MINUS, written, written_interval, written_p

STEPS = 8
"""Shades, from none (0) to the deepest (7)."""
SIGNIFICANT = ((0.001, 7), (0.01, 5), (0.05, 3))
"""(p below this, shade)."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """``kind``: ``self`` (the diagonal), ``value``, ``quiet`` (a value that is not significant),
    ``empty`` (nothing to say) or ``undefined``. ``words`` say all of it, for the pointer."""

    text: str
    kind: str = "value"
    step: int = 0
    negative: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class HeatTable:
    """``rows``: (name, cells in the order of ``names``)."""

    id: str
    caption: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    legend: tuple[tuple[int, str], ...]
    """(shade, what it means)"""

    def rows_html(self, plots_url: str = "") -> str:
        """The rows as HTML, all texts in it escaped: forty metrics make 1,600 cells, too many for a
        template. ``plots_url``: the address of a metric's plots, to which its name is added."""
        return "".join(
            f"<tr>{_row_head(name, plots_url)}{''.join(map(_cell_html, cells))}</tr>"
            for name, cells in self.rows
        )


def _row_head(name: str, plots_url: str) -> str:
    words = escape(name)
    href = escape(f"{plots_url}&metric={quote(name, safe='')}")
    name_of_row = f'<a href="{href}">{words}</a>' if plots_url else f"<span>{words}</span>"
    return f'<th scope="row" title="{words}">{name_of_row}</th>'


def _cell_html(cell: HeatCell) -> str:
    shade = (
        f"shade-{cell.step}{' negative' if cell.negative else ''}"
        if cell.kind == "value"
        else cell.kind
    )
    title = f' title="{escape(cell.words)}"' if cell.words else ""
    return f'<td class="{shade}"{title}>{escape(cell.text)}</td>'


Pairs = Mapping[tuple[int, int], Any]


def correlation_heat(
    names: Mapping[int, str],
    order: Sequence[int],
    pairs: Mapping[tuple[int, int], tuple[Estimate, int]],
    *,
    heat_id: str,
    coefficient: str,
    caption: str,
) -> HeatTable:
    """``pairs``: (estimate, n) by metric numbers; the shade is the size of the coefficient, its
    sign is written."""

    either_way = {pair: _correlation_cell(coefficient, *found) for pair, found in pairs.items()}

    def cell(row: int, column: int) -> HeatCell:
        if row == column:
            return HeatCell("", "self", words=names[row])
        found = either_way.get((row, column)) or either_way[(column, row)]
        words = f"{names[row]} and {names[column]}: {found.words}"
        return HeatCell(found.text, found.kind, found.step, found.negative, words)

    rows = tuple((names[row], tuple(cell(row, column) for column in order)) for row in order)
    legend = tuple((step, f"from {written(step / STEPS, 2)}") for step in range(STEPS))
    return HeatTable(heat_id, caption, tuple(names[one] for one in order), rows, legend)


def _correlation_cell(coefficient: str, estimate: Estimate, n: int) -> HeatCell:
    """What a pair's cell says whichever of the two its row is."""
    if estimate.value is None:
        return HeatCell("–", "undefined", words=f"undefined, {estimate.reason}")
    interval = f" [{written_interval(estimate.ci, 2)}]" if estimate.ci else ""
    return HeatCell(
        hundredths(estimate.value),
        step=min(int(abs(estimate.value) * STEPS), STEPS - 1),
        negative=estimate.value < 0,
        words=f"{coefficient} = {written(estimate.value, 2)}{interval}, n = {written(n, 0)}",
    )


def significance_heat(
    names: Sequence[str],
    order: Sequence[int],
    pairs: Mapping[tuple[int, int], tuple[float, float]],
    *,
    heat_id: str,
    coefficient: str,
    caption: str,
    undefined: Mapping[str, str],
) -> HeatTable:
    """Whether the metric of the row follows people better than that of the column. ``pairs``:
    (difference first − second, corrected p) by numbers, first < second; ``undefined``: reasons by
    name."""

    def cell(row: int, column: int) -> HeatCell:
        if row == column:
            return HeatCell("", "self", words=names[row])
        found = pairs.get((min(row, column), max(row, column)))
        if found is None:
            reason = undefined.get(names[row]) or undefined.get(names[column]) or "not tested"
            return HeatCell("–", "undefined", words=f"{names[row]} and {names[column]}: {reason}")
        difference, p = found
        lead = difference if row < column else -difference
        if lead <= 0:
            return HeatCell("", "empty", words=f"{names[row]} does not lead {names[column]}")
        step = next((shade for below, shade in SIGNIFICANT if p < below), 0)
        return HeatCell(
            _short_p(p),
            "value" if step else "quiet",
            step,
            words=f"{names[row]} leads {names[column]} by {written(lead, 3)} in {coefficient}, "
            f"{written_p(p)}",
        )

    rows = tuple((names[row], tuple(cell(row, column) for column in order)) for row in order)
    legend = (
        (0, "not significant"),
        *((step, f"p < {below:g}") for below, step in reversed(SIGNIFICANT)),
    )
    return HeatTable(heat_id, caption, tuple(names[one] for one in order), rows, legend)


def hundredths(value: float) -> str:
    """A coefficient in the width of a small cell: ".53", "−.07", "1.0"."""
    text = f"{abs(value):.2f}"
    text = "1.0" if text == "1.00" else text.removeprefix("0")
    return f"{MINUS}{text}" if value < 0 and text != ".00" else text


def _short_p(p: float) -> str:
    return (
        "<.001"
        if p < 0.001
        else f"{p:.3f}".removeprefix("0")
        if p < 0.1
        else f"{p:.2f}".removeprefix("0")
    )
