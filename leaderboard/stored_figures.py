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
    *sorted((_HERE / "figures").glob("*.py")),
    _HERE / "metric_pair_plots.py",
    _HERE / "plots.py",
    _HERE / "scatter_plots.py",
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
