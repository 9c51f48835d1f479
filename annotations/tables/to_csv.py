"""A table as CSV: full precision, intervals in columns of their own, text that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from annotations.tables.table import Cell, Column, Row, Table

FULL_WIDTH = ("\uff1d", "\uff0b", "\uff0d", "\uff20")
"""=, +, - and @ as East Asian input methods write them; some spreadsheets take them for the narrow ones."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", *FULL_WIDTH)
"""A spreadsheet runs a cell that begins so (OWASP, "CSV injection"). An apostrophe before it makes it text."""


def safe_text(text: str) -> str:
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def safe_value(value: str | float | int | None) -> str | float | int:
    """Numbers stay numbers (csv writes floats with all their digits); undefined is an empty field."""
    if value is None:
        return ""
    return safe_text(value) if isinstance(value, str) else value


def table_to_csv(table: Table) -> str:
    """One header line of keys, one line a row.

    A column ``k`` is followed by ``k_low``, ``k_high``, ``k_p``, ``k_reason`` where any row has one of them; ``badges``
    and ``signature`` come last where the table has any.
    """
    fields = [field for column in table.columns for field in _fields_of(column, table)]
    if any(row.badges for row in table.rows):
        fields.append(("badges", lambda row: safe_text("; ".join(row.badges))))
    if table.signature:
        fields.append(("signature", lambda row: safe_text(row.signature or table.signature)))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([safe_text(name) for name, _ in fields])
    writer.writerows([read(row) for _, read in fields] for row in table.rows)
    return stream.getvalue()


Field = tuple[str, Callable[[Row], str | float | int]]


def _fields_of(column: Column, table: Table) -> list[Field]:
    key = column.key
    cells = [row.cell(key) for row in table.rows]

    def field(suffix: str, read: Callable[[Cell], str | float | int | None]) -> Field:
        return key + suffix, lambda row: safe_value(read(row.cell(key)))

    fields = [field("", lambda cell: cell.value)]
    if any(cell.ci is not None for cell in cells):
        fields.append(field("_low", lambda cell: cell.ci[0] if cell.ci else None))
        fields.append(field("_high", lambda cell: cell.ci[1] if cell.ci else None))
    if any(cell.p is not None for cell in cells):
        fields.append(field("_p", lambda cell: cell.p))
    if any(cell.reason and not cell.is_defined for cell in cells):
        fields.append(field("_reason", lambda cell: "" if cell.is_defined else cell.reason))
    return fields
