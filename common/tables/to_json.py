"""A table as one JSON document, with everything the page shows."""

from __future__ import annotations

import json
from typing import Any

from common.tables.table import Cell, Column, Row, Table


def table_document(table: Table) -> dict[str, Any]:
    """A table as a JSON document.

    Args:
        table: any table; all its columns and rows are in it, in order.

    Returns:
        ``{"id", "caption", "signature", "updated", "notes", "columns": [...], "rows": [{"id",
        "badges", "cells", "signature"?}]}``; ``updated`` is ISO 8601 or None. A column is ``{"key",
        "label", "kind", "group"?, "help"?, "higher_is_better"?}``. ``cells`` are by column key: a
        defined cell is ``{"value", "ci"?, "p"?, "p_reason"?, "note"?, "generalises_to"?,
        "letters"?}``, an undefined one ``{"value": null, "reason"}``.
    """
    return {
        "id": table.id,
        "caption": table.caption,
        "signature": table.signature,
        "updated": table.updated.isoformat() if table.updated else None,
        "notes": list(table.notes),
        "columns": [_column_document(column) for column in table.columns],
        "rows": [_row_document(row, table) for row in table.rows],
    }


def table_to_json(table: Table) -> str:
    """A table as JSON text.

    Args:
        table: any table.

    Returns:
        The document of ``table_document``, indented, with characters beyond ASCII as they are.
    """
    return json.dumps(table_document(table), ensure_ascii=False, allow_nan=False, indent=1)


def _column_document(column: Column) -> dict[str, Any]:
    document: dict[str, Any] = {"key": column.key, "label": column.label, "kind": column.kind}
    if column.group:
        document["group"] = column.group
    if column.help:
        document["help"] = column.help
    if column.higher_is_better is not None:
        document["higher_is_better"] = column.higher_is_better
    return document


def _row_document(row: Row, table: Table) -> dict[str, Any]:
    cells = {column.key: _cell_document(row.cell(column.key)) for column in table.columns}
    document = {"id": row.id, "badges": list(row.badges), "cells": cells}
    return document | ({"signature": row.signature} if row.signature else {})


def _cell_document(cell: Cell) -> dict[str, Any]:
    if not cell.is_defined:
        return {"value": None, "reason": cell.reason}
    document: dict[str, Any] = {"value": cell.value}
    if cell.ci is not None:
        document["ci"] = list(cell.ci)
    if cell.p is not None:
        document["p"] = cell.p
    elif cell.p_reason:
        document |= {"p": None, "p_reason": cell.p_reason}
    if cell.note:
        document["note"] = cell.note
    if cell.generalises_to:
        document["generalises_to"] = cell.generalises_to
    if cell.letters:
        document["letters"] = cell.letters
    return document
