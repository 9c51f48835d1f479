"""A table for a README, an issue or a model card: GitHub's pipe tables. Best is bold; undefined is
a dash."""

from __future__ import annotations

import re

from common.tables.latex_text import one_line
from common.tables.numerals import DASH, written, written_p_number
from common.tables.table import Cell, Column, Row, Table

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def table_to_markdown(table: Table) -> str:
    """A table as Markdown: GitHub's pipe tables.

    Args:
        table: with the rows and columns to be written, in order.

    Returns:
        The caption, the table, then notes and the signature. Best is bold; undefined is a dash.
    """
    heads = [
        _escaped(": ".join(filter(None, (column.group, column.label)))) for column in table.columns
    ]
    lines = [
        f"**{_escaped(table.caption)}**",
        "",
        _line(heads),
        _line(["---:" if column.is_figure else "---" for column in table.columns]),
        *(
            _line([_written(row, column, place == 0) for place, column in enumerate(table.columns)])
            for row in table.rows
        ),
    ]
    if table.notes:
        lines += ["", *(_escaped(note) + "  " for note in table.notes)]
    if table.signature:
        lines += ["", _code(table.signature)]
    return "\n".join(lines) + "\n"


def _row(row: Row, table: Table) -> str:
    return _line([_written(row, column, place == 0) for place, column in enumerate(table.columns)])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _written(row: Row, column: Column, names_the_row: bool) -> str:
    cell = row.cell(column.key)
    if cell.value is None:
        return DASH
    if isinstance(cell.value, str):
        text = _escaped(cell.value)
    elif column.kind == "p":
        text = _escaped(written_p_number(cell.value))
    else:
        text = written(cell.value, column.decimals)
    if names_the_row and row.badges:
        text = f"{text} ({_escaped(', '.join(row.badges))})"
    if cell.best:
        text = f"**{text}**"
    return text + _interval(cell, column) + (f" {cell.letters}" if cell.letters else "")


def _interval(cell: Cell, column: Column) -> str:
    if cell.ci is None:
        return ""
    low, high = (written(end, 0 if column.kind == "rank" else column.decimals) for end in cell.ci)
    if column.kind == "rank":
        return f" ({low} to {high})"
    scope = f" ({_escaped(cell.generalises_to)})" if cell.generalises_to else ""
    return f" \\[{low}, {high}\\]{scope}"


def _escaped(text: str) -> str:
    """Nothing in it is read as a mark-up, a link, HTML or the end of a cell."""
    return _MARKS.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    """Between more backticks than it holds."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence} {one_line(text)} {fence}" if "`" in text else f"`{one_line(text)}`"
