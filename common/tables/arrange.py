"""Order rows, choose columns, mark the best: what a reader asks of a table in the URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from common.tables.table import Cell, Column, Row, Table

CARD_COLUMNS = 6


def parse_sort(requested: str, table: Table) -> tuple[str, bool] | None:
    """Parse the sort order in a URL.

    Args:
        requested: ``"key"`` for ascending, ``"-key"`` for descending.
        table: whose columns the keys are.

    Returns:
        (column key, descending). For an unknown key the table's own order, None where it has none.
    """
    key, descending = (requested[1:], True) if requested.startswith("-") else (requested, False)
    if table.column(key):
        return key, descending
    return table.sort if table.sort and table.column(table.sort[0]) else None


def sort_table(table: Table, requested: str = "") -> Table:
    """Sort the rows of a table, undefined values last in both directions.

    Rows that are equal keep the order they had.

    Args:
        table: to be sorted.
        requested: ``"key"`` or ``"-key"``, as in ``parse_sort``; "" for ``table.sort``.

    Returns:
        The table with its rows in that order, which is its ``sort``.
    """
    sort = parse_sort(requested, table)
    return replace(
        table, rows=tuple(table.rows[place] for place in order_of(table, sort)), sort=sort
    )


def order_of(table: Table, sort: tuple[str, bool] | None) -> list[int]:
    """Indices of a table's rows in a sort order, as in ``sort_table``.

    Args:
        table: whose rows are ordered. It is not changed.
        sort: (column key, descending); None for the rows as they are.

    Returns:
        Every row's index, once. Ascending, numbers come before text; undefined values are always
        last.
    """
    places = list(range(len(table.rows)))
    if sort is None:
        return places
    key, descending = sort
    cells = [row.cell(key) for row in table.rows]
    defined = [place for place in places if cells[place].is_defined]
    undefined = [place for place in places if not cells[place].is_defined]
    defined.sort(key=lambda place: _sort_value(cells[place]), reverse=descending)
    return defined + undefined


def _sort_value(cell: Cell) -> tuple[int, float, str]:
    """Numbers come before text, so that a column with both still has one order."""
    if cell.number is not None:
        return (0, cell.number, "")
    return (1, 0.0, str(cell.value).casefold())


def with_details(table: Table) -> Table:
    """Let the cards of a phone show a table's first ``CARD_COLUMNS`` columns only.

    Args:
        table: any table.

    Returns:
        The table with the other columns as details; unchanged where it has detail columns already.
    """
    if any(column.detail for column in table.columns):
        return table
    columns = tuple(
        replace(column, detail=number >= CARD_COLUMNS)
        for number, column in enumerate(table.columns)
    )
    return replace(table, columns=columns)


def first_direction(column: Column) -> bool:
    """Whether the first click on a header sorts descending.

    Args:
        column: whose header is clicked.

    Returns:
        True for figures, so that the best are on top; False for text, which begins with A, ranks,
        and figures where lower is better.
    """
    return column.is_figure and column.kind != "rank" and column.higher_is_better is not False


def parse_columns(requested: str | Iterable[str], table: Table) -> frozenset[str]:
    """Parse the choice of columns in a URL.

    The first column, which names the row, always shows.

    Args:
        requested: keys separated by commas (``"a,b"``), or several such.
        table: whose columns the keys are.

    Returns:
        Keys of the columns to show. All of them where ``requested`` names no column of the table: a
        link to a column that is gone still shows a table.
    """
    parts = [requested] if isinstance(requested, str) else list(requested)
    wanted = {key.strip() for part in parts for key in part.split(",")}
    known = {column.key for column in table.columns}
    if not wanted & known:
        return frozenset(known)
    return frozenset(wanted & known | {table.columns[0].key})


def choose_columns(table: Table, requested: str | Iterable[str]) -> Table:
    """Leave out the columns of a table that are not requested.

    Args:
        table: any table.
        requested: keys, as in ``parse_columns``.

    Returns:
        The table with the requested columns and the first one, in the table's order.
    """
    shown = parse_columns(requested, table)
    return replace(table, columns=tuple(column for column in table.columns if column.key in shown))


def mark_best(table: Table, exclude: Iterable[str] = ()) -> Table:
    """Mark the best defined cell of every column that has a direction; ties are all best.

    Args:
        table: any table; marks that it has are renewed.
        exclude: ids of rows that do not compete, such as the ceiling of a perfect metric.

    Returns:
        The table with ``Cell.best`` set. A column where fewer than two rows compete, or where all
        that do are printed with one number, has no best.
    """
    excluded = frozenset(exclude)
    best = {column.key: _best_value(table.rows, column, excluded) for column in table.columns}
    return replace(table, rows=tuple(_marked(row, best, excluded) for row in table.rows))


def _best_value(rows: Iterable[Row], column: Column, excluded: frozenset[str]) -> float | None:
    if column.higher_is_better is None:
        return None
    numbers = [row.cell(column.key).number for row in rows if row.id not in excluded]
    defined = [number for number in numbers if number is not None]
    if len({round(number, column.decimals) for number in defined}) < 2:
        return None
    return max(defined) if column.higher_is_better else min(defined)


def _marked(row: Row, best: dict[str, float | None], excluded: frozenset[str]) -> Row:
    """Only cells that change are made anew: a board has thousands, and a best one in each
    column."""
    competes = row.id not in excluded
    changed = {}
    for key, cell in row.cells.items():
        wanted = best.get(key) if competes else None
        is_best = wanted is not None and cell.number == wanted
        if cell.best != is_best:
            changed[key] = replace(cell, best=is_best)
    return replace(row, cells={**row.cells, **changed}) if changed else row


def column_scale(table: Table, key: str) -> tuple[float, float] | None:
    """The range of a column's values and intervals: the scale that its whiskers share.

    Args:
        table: any table.
        key: key of the column.

    Returns:
        (low, high), over all rows; None where no cell has an interval.
    """
    cells = [row.cell(key) for row in table.rows]
    ends = [end for cell in cells if cell.ci is not None for end in cell.ci]
    if not ends:
        return None
    values = [cell.number for cell in cells if cell.number is not None]
    return min(ends + values), max(ends + values)
