"""A table as CSV: full precision, intervals in columns of their own."""

from __future__ import annotations

from collections.abc import Callable

from common.tables.csv_text import csv_heading, csv_line
from common.tables.table import Cell, Column, Row, Table


def table_to_csv(table: Table) -> str:
    """A table as CSV, in full precision.

    Args:
        table: any table; all its columns and rows are written, in order.

    Returns:
        A heading line of keys behind a byte order mark, then one line per row, each ending in CR
        LF. A column ``k`` is followed by ``k_low``, ``k_high``, ``k_generalises_to``, ``k_p``,
        ``k_p_reason``, ``k_reason`` where any row has one of them; ``badges`` and ``signature``
        come last where the table has any.
    """
    fields = [field for column in table.columns for field in _fields_of(column, table)]
    if any(row.badges for row in table.rows):
        fields.append(("badges", lambda row: "; ".join(row.badges)))
    if table.signature:
        fields.append(("signature", lambda row: row.signature or table.signature))
    header = csv_heading(name for name, _ in fields)
    return header + "".join(csv_line(read(row) for _, read in fields) for row in table.rows)


Field = tuple[str, Callable[[Row], str | float | int | None]]


def _fields_of(column: Column, table: Table) -> list[Field]:
    key = column.key
    cells = [row.cell(key) for row in table.rows]

    def field(suffix: str, read: Callable[[Cell], str | float | int | None]) -> Field:
        return key + suffix, lambda row: read(row.cell(key))

    fields = [field("", lambda cell: cell.value)]
    if any(cell.ci is not None for cell in cells):
        fields.append(field("_low", lambda cell: cell.ci[0] if cell.ci else None))
        fields.append(field("_high", lambda cell: cell.ci[1] if cell.ci else None))
    if any(cell.generalises_to for cell in cells):
        fields.append(field("_generalises_to", lambda cell: cell.generalises_to or None))
    if any(cell.p is not None for cell in cells):
        fields.append(field("_p", lambda cell: cell.p))
    if any(cell.p_reason for cell in cells):
        fields.append(field("_p_reason", lambda cell: cell.p_reason or None))
    if any(cell.reason and not cell.is_defined for cell in cells):
        fields.append(field("_reason", lambda cell: None if cell.is_defined else cell.reason))
    return fields
