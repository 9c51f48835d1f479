"""Figures as stored answers: what a chart shows, without the thousands of points that only its download needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from annotations.tables import Cell, Column, Row, Table
from leaderboard.figures import Figure

_HERE = Path(__file__).parent
_DRAWING_CODE = [
    _HERE.parent / "annotations" / "tables" / "table.py",
    *sorted((_HERE / "figures").glob("*.py")),
    _HERE / "metric_boards" / "scatter_plots.py",
    _HERE / "metric_pairs" / "plots.py",
    _HERE / "plots.py",
    _HERE / "stored_figures.py",
]
DRAWN_BY = hashlib.sha256(b"".join(file.read_bytes() for file in _DRAWING_CODE)).hexdigest()[:16]
"""A figure that older code drew is not shown by newer code: the drawing changes without any change of the data."""


def document_of(figure: Figure) -> dict[str, Any]:
    """JSON form of the figure with its summary in place of its points."""
    return asdict(replace(figure, points=figure.summary, summary_table=None))


def figure_of(document: Mapping[str, Any]) -> Figure:
    legend = tuple((name, swatch) for name, swatch in document["legend"])
    return Figure(**{**document, "points": _table_of(document["points"]), "legend": legend})


def packed(points: Table) -> dict[str, Any]:
    """JSON form of a table of plain values, without notes, intervals and links: for the thousands of points of a
    drawing. Numbers keep nine digits; words are stored once each."""
    cells = {column.key: _packed([row.cell(column.key).value for row in points.rows]) for column in points.columns}
    return {
        "id": points.id,
        "caption": points.caption,
        "signature": points.signature,
        "columns": [asdict(column) for column in points.columns],
        "swatches": [row.swatch for row in points.rows],
        "cells": cells,
    }


def _packed(values: list[Any]) -> dict[str, Any]:
    if all(isinstance(value, (int, float)) for value in values):
        return {"numbers": [float(f"{value:.9g}") for value in values]}
    words = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"words": list(words), "at": [words[value] for value in values]}


def unpacked(document: Mapping[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in document["columns"])
    cells = {key: _unpacked(values) for key, values in document["cells"].items()}
    rows = tuple(
        Row(str(number), {key: Cell(values[number]) for key, values in cells.items()}, swatch=swatch)
        for number, swatch in enumerate(document["swatches"])
    )
    return Table(document["id"], document["caption"], columns, rows, signature=document["signature"])


def _unpacked(values: Mapping[str, Any]) -> list[Any]:
    numbers: list[Any] = values.get("numbers", [])
    return numbers or [values["words"][place] for place in values.get("at", ())]


def _table_of(document: Mapping[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in document["columns"])
    rows = tuple(_row_of(row) for row in document["rows"])
    sort = tuple(document["sort"]) if document["sort"] else None
    return Table(**{**document, "columns": columns, "rows": rows, "sort": sort, "notes": tuple(document["notes"])})


def _row_of(document: Mapping[str, Any]) -> Row:
    cells = {key: _cell_of(cell) for key, cell in document["cells"].items()}
    return Row(**{**document, "cells": cells, "badges": tuple(document["badges"])})


def _cell_of(document: Mapping[str, Any]) -> Cell:
    ci = tuple(document["ci"]) if document["ci"] else None
    return Cell(**{**document, "ci": ci, "bars": tuple(document["bars"])})
