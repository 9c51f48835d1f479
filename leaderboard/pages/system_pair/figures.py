"""Two systems item by item: every difference in order of size, so that one sees how often and by
how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import GREY, chart_layout, escape_latex
from leaderboard.figures.figure import Figure

MAX_DRAWN = 1000
"""Of more items evenly spaced ones are drawn: the line they make is the same."""


@dataclass(frozen=True, slots=True)
class ItemDifference:
    """``difference``: above 0 where the first system is better."""

    item: str
    difference: float
    hover: str = ""


def pair_differences(
    items: Sequence[ItemDifference],
    first: tuple[str, int],
    second: tuple[str, int],
    mean: Estimate,
    *,
    figure_id: str,
    measure: str,
    signature: str = "",
) -> Figure:
    """``first``, ``second``: (name, swatch). ``mean``: of the differences. One marker an item, from
    the first system's greatest win to the second's."""
    table = _table(items, first[0], second[0], figure_id, measure, signature)
    if not items:
        reason = f"No item has {measure} of both systems."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    ordered = sorted(items, key=lambda one: -one.difference)
    wins = sum(one.difference > 0 for one in ordered)
    losses = sum(one.difference < 0 for one in ordered)
    ties = len(ordered) - wins - losses
    indices = np.unique(
        np.linspace(0, len(ordered) - 1, min(MAX_DRAWN, len(ordered))).round().astype(int)
    ).tolist()
    sides = [
        (
            f"{first[0]} better",
            first[1],
            [index for index in indices if ordered[index].difference > 0],
        ),
        ("tie", None, [index for index in indices if ordered[index].difference == 0]),
        (
            f"{second[0]} better",
            second[1],
            [index for index in indices if ordered[index].difference < 0],
        ),
    ]
    layout = chart_layout("items in order of their difference", f"difference, {measure}")
    layout["height"] = 300
    layout["xaxis"] |= {
        "range": [0.5 - len(ordered) * 0.01, len(ordered) + 0.5 + len(ordered) * 0.01],
        "showgrid": False,
    }
    layout["yaxis"] |= {"zeroline": True}
    layout["shapes"] = _mean_shapes(mean)
    drawn = (
        f" Drawn: {len(indices):,} of them, evenly spaced." if len(indices) < len(ordered) else ""
    )
    words = (
        f"{first[0]} is better on {wins:,}, {second[0]} on {losses:,}, {ties:,} tie, of "
        f"{len(ordered):,} items by {measure}."
    )
    return Figure(
        id=figure_id,
        caption=f"{words} Above 0: {first[0]} is better. Dashed: the mean difference"
        + (", with its 95 % interval." if mean.ci else ".")
        + drawn,
        alternative=f"{words} Greatest differences: {written(ordered[0].difference, 2)} and "
        f"{written(ordered[-1].difference, 2)}; mean {_mean_text(mean)}.",
        points=table,
        data=[_trace(name, swatch, shown, ordered) for name, swatch, shown in sides if shown],
        layout=layout,
        signature=signature,
    )


def _trace(
    name: str, swatch: int | None, indices: Sequence[int], ordered: Sequence[ItemDifference]
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(name),
        "x": [index + 1 for index in indices],
        "y": [ordered[index].difference for index in indices],
        "marker": {
            "color": GREY if swatch is None else colour(swatch),
            "symbol": "circle-open"
            if swatch is None
            else shape(swatch),  # a dash would lie hidden on the line at 0
            "size": 6,
        },
        **({} if swatch is None else {"meta": {"series": colour_number(swatch)}}),
        "hovertext": [
            f"{escape_latex(ordered[index].item)}<br>{written(ordered[index].difference, 2)}"
            + (f"<br>{escape_latex(ordered[index].hover)}" if ordered[index].hover else "")
            for index in indices
        ],
        "hoverinfo": "text",
    }


def _mean_shapes(mean: Estimate) -> list[dict[str, Any]]:
    if mean.value is None:
        return []
    lines = [(mean.value, "dash", 1.5)] + [(end, "dot", 1) for end in mean.ci or ()]
    return [
        {
            "type": "line",
            "xref": "paper",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": at,
            "y1": at,
            "line": {"color": GREY, "width": width, "dash": dash},
        }
        for at, dash, width in lines
    ]


def _mean_text(mean: Estimate) -> str:
    if mean.value is None:
        return "undefined"
    return written(mean.value, 2) + (f" ({written_interval(mean.ci, 2)})" if mean.ci else "")


def _table(
    items: Sequence[ItemDifference],
    first: str,
    second: str,
    figure_id: str,
    measure: str,
    signature: str,
) -> Table:
    return Table(
        id=f"{figure_id}-data",
        caption=f"{first} minus {second}, {measure}",
        columns=(Column("item", "item"), Column("difference", "difference", "number", decimals=2)),
        rows=tuple(
            Row(one.item, {"item": Cell(one.item), "difference": Cell(one.difference)})
            for one in items
        ),
        sort=("difference", True),
        signature=signature,
    )
