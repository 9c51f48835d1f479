"""Figures as stored answers: what a chart shows, without the thousands of points that only its
download needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from common.tables import Cell, Column, Row, Table
from leaderboard.answers.figures import StoredFigures
from leaderboard.figures import Figure

FIGURE_DIGITS, ALL_DIGITS = 9, 17
"""Of a number; seventeen name every double."""


def document_of(figure: Figure) -> dict[str, Any]:
    """JSON form of the figure with its summary in place of its points."""
    return asdict(replace(figure, points=figure.summary, summary_table=None))


def figure_of(document: Mapping[str, Any]) -> Figure:
    legend = tuple((name, swatch) for name, swatch in document["legend"])
    return Figure(**{**document, "points": _table_of(document["points"]), "legend": legend})


def long_points(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """JSON form of the points of the figures whose documents have only a summary of them, with all
    their digits."""
    return [packed(one.points, ALL_DIGITS) for one in figures if one.summary_table is not None]


def table_for_file(answer: StoredFigures, table_id: str) -> Table | None:
    """The points of the figure whose table has this name, every one; None where no figure's has."""
    for points in answer.points:
        if points["id"] == table_id:
            return unpacked(points)
    tables = (figure["points"] for figure in answer.figures)
    return next((_table_of(table) for table in tables if table["id"] == table_id), None)


def packed(points: Table, digits: int = FIGURE_DIGITS) -> dict[str, Any]:
    """JSON form of a table of plain values, with intervals, without notes and links, whose rows are
    named by their first cell and number: for the thousands of points of a drawing. Words are stored
    once each."""
    cells = {}
    for column in points.columns:
        found = [row.cell(column.key) for row in points.rows]
        cells[column.key] = _packed([cell.value for cell in found], digits)
        if any(cell.ci for cell in found):
            cells[column.key]["ci"] = [cell.ci for cell in found]
    return {
        "id": points.id,
        "caption": points.caption,
        "signature": points.signature,
        "columns": [asdict(column) for column in points.columns],
        "swatches": [row.swatch for row in points.rows],
        "cells": cells,
    }


def _packed(values: list[Any], digits: int) -> dict[str, Any]:
    if all(isinstance(value, (int, float)) for value in values):
        return {
            "numbers": [
                value if isinstance(value, int) else float(f"{value:.{digits}g}")
                for value in values
            ]
        }
    words = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"words": list(words), "at": [words[value] for value in values]}


def unpacked(document: Mapping[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in document["columns"])
    cells = {key: _unpacked(values) for key, values in document["cells"].items()}
    names = cells[columns[0].key]
    rows = tuple(
        Row(
            f"{names[number].value}-{number}",
            {key: found[number] for key, found in cells.items()},
            swatch=swatch,
        )
        for number, swatch in enumerate(document["swatches"])
    )
    return Table(
        document["id"], document["caption"], columns, rows, signature=document["signature"]
    )


def _unpacked(column: Mapping[str, Any]) -> list[Cell]:
    if "ci" in column:
        values = (
            column["numbers"]
            if "numbers" in column
            else [column["words"][place] for place in column["at"]]
        )
        return [
            Cell(value, ci=tuple(ci) if ci else None)
            for value, ci in zip(values, column["ci"], strict=True)
        ]
    if "numbers" in column:
        return [Cell(value) for value in column["numbers"]]
    cells = [Cell(word) for word in column["words"]]  # nobody changes one: each word has its own
    return [cells[place] for place in column["at"]]


def _table_of(document: Mapping[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in document["columns"])
    rows = tuple(_row_of(row) for row in document["rows"])
    sort = tuple(document["sort"]) if document["sort"] else None
    return Table(
        **{
            **document,
            "columns": columns,
            "rows": rows,
            "sort": sort,
            "notes": tuple(document["notes"]),
        }
    )


def _row_of(document: Mapping[str, Any]) -> Row:
    cells = {key: _cell_of(cell) for key, cell in document["cells"].items()}
    return Row(**{**document, "cells": cells, "badges": tuple(document["badges"])})


def _cell_of(document: Mapping[str, Any]) -> Cell:
    ci = tuple(document["ci"]) if document["ci"] else None
    return Cell(**{**document, "ci": ci, "bars": tuple(document["bars"])})
