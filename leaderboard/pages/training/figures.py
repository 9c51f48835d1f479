"""How a training went: its losses, or its figures on the validation data, over the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import chart_layout, escape_latex
from leaderboard.figures.figure import Figure

LEAST = 2


def training_curve(
    points: Sequence[Mapping[str, Any]], *, figure_id: str, what: str, up: str
) -> Figure:
    """A line for each name but "step", in the order of the last point. ``what`` begins the caption:
    "Losses in training"."""
    names = [name for name in (points[-1] if points else {}) if name != "step"]
    table = Table(
        id=f"{figure_id}-data",
        caption=f"{what}, by step",
        columns=(
            Column("step", "step", "number", decimals=0),
            *(Column(name, name, "number", 4) for name in names),
        ),
        rows=tuple(
            Row(
                f"step-{point['step']}",
                {"step": Cell(point["step"]), **{name: Cell(point.get(name)) for name in names}},
            )
            for point in points
        ),
    )
    if len(points) < LEAST or not names:
        reason = f"{what}: too few steps yet."
        return Figure(figure_id, reason, reason, table, empty_reason=reason)
    layout = chart_layout("step", up)
    layout["height"] = 280
    layout["showlegend"] = len(names) > 1
    first, last = points[0], points[-1]
    went = [
        f"{name} from {written(first[name], 3)} to {written(last[name], 3)}"
        for name in names
        if name in first
    ]
    return Figure(
        id=figure_id,
        caption=f"{what}, {len(points)} points up to step {last['step']}.",
        alternative=f"{what}: {'; '.join(went)}.",
        points=table,
        data=[_line(points, name, index) for index, name in enumerate(names)],
        layout=layout,
    )


def _line(points: Sequence[Mapping[str, Any]], name: str, index: int) -> dict[str, Any]:
    there = [point for point in points if point.get(name) is not None]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape_latex(name),
        "x": [point["step"] for point in there],
        "y": [point[name] for point in there],
        "line": {"color": colour(index), "width": 1.5},
        "marker": {"color": colour(index), "symbol": shape(index), "size": 5},
        "meta": {"series": colour_number(index)},
        "hovertext": [
            f"{escape_latex(name)}<br>step {point['step']}: {written(point[name], 4)}"
            for point in there
        ],
        "hoverinfo": "text",
    }
