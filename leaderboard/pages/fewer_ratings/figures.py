"""Intervals from ratings alone beside intervals with a metric, and how both narrow with more rated
dialogues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import (
    GREY,
    chart_layout,
    escape_latex,
    highest,
    rows_layout,
    sample_text,
    shortened,
    whiskers,
)
from leaderboard.figures.figure import Figure

APART = 0.16
SYSTEMS_DRAWN = 12


@dataclass(frozen=True, slots=True)
class TwoMeans:
    """A system's mean from its ratings alone and with the metric."""

    system: str
    swatch: int
    alone: Estimate
    powered: Estimate
    remark: str = ""


@dataclass(frozen=True, slots=True)
class WidthAt:
    """Mean widths of 95 % intervals with so many rated dialogues, in rating points; ``gain`` as a
    multiple of these."""

    dialogues: int
    alone: float
    powered: float
    gain: float


def two_intervals(
    rows: Sequence[TwoMeans],
    *,
    figure_id: str,
    metric: str,
    aspect: str = "overall",
    signature: str = "",
) -> Figure:
    """Two lines a system, the best on top: hollow and grey for the ratings alone, filled for
    ratings and metric. Of many systems the ``highest`` are drawn."""
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Mean human score ({aspect}) from the ratings alone and with {metric}",
        columns=(
            Column("system", "system"),
            Column("alone", "ratings alone", "estimate"),
            Column("powered", "ratings and metric", "estimate"),
            Column("remark", "remark"),
        ),
        rows=tuple(
            Row(
                row.system,
                {
                    "system": Cell(row.system),
                    "alone": estimate_cell(row.alone),
                    "powered": estimate_cell(row.powered),
                    "remark": Cell(row.remark),
                },
                swatch=row.swatch,
            )
            for row in rows
        ),
        sort=("powered", True),
        signature=signature,
    )
    defined = [(row, row.powered.value) for row in rows if row.powered.value is not None]
    if not defined:
        reason = "No system has both ratings and scores of this metric."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined.sort(key=lambda pair: pair[1])
    shown = [row for row, _ in highest(defined)]
    layout = rows_layout("mean human score", [row.system for row in shown], 32)
    traces = []
    for index, row in enumerate(shown):
        traces.append(_dot(row, row.alone, index + APART, "ratings alone", role=True))
        traces.append(_dot(row, row.powered, index - APART, f"ratings and {metric}", role=False))
    return Figure(
        id=figure_id,
        caption=(
            f"Mean human score ({aspect}) with 95 % interval, n = {len(defined)} "
            "systems. Upper, hollow: the ratings alone; lower, filled: the ratings and "
            f"{metric} on every response. {sample_text(len(defined))}"
        ).rstrip(),
        alternative=(
            f"Two intervals for each of {len(defined)} systems. "
            f"{_narrowest([row for row, _ in defined])} {sample_text(len(defined))}"
        ).rstrip(),
        points=table,
        data=[trace for trace in traces if trace],
        layout=layout,
        signature=signature,
    )


def _narrowest(rows: Sequence[TwoMeans]) -> str:
    ratios = [
        ((row.powered.ci[1] - row.powered.ci[0]) / (row.alone.ci[1] - row.alone.ci[0]), row.system)
        for row in rows
        if row.powered.ci and row.alone.ci and row.alone.ci[1] > row.alone.ci[0]
    ]
    if not ratios:
        return "None has an interval."
    ratio, system = min(ratios)
    if ratio > 0.9995:
        return "With the metric none is narrower."
    return f"The metric narrows {system}'s most, to {written(100 * ratio, 0)} % of its width."


def _dot(
    row: TwoMeans, estimate: Estimate, index: float, words: str, *, role: bool
) -> dict[str, Any]:
    if estimate.value is None:
        return {}
    interval = f" [{written_interval(estimate.ci, 3)}]" if estimate.ci else ""
    marker = {
        "color": GREY if role else colour(row.swatch),
        "symbol": "circle-open" if role else "circle",
        "size": 8,
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(f"{row.system}, {words}"),
        "x": [estimate.value],
        "y": [index],
        "marker": marker,
        "meta": {"role": "alone"} if role else {"series": colour_number(row.swatch)},
        "hovertext": [
            "<br>".join(
                map(escape_latex, (row.system, words, f"{written(estimate.value, 3)}{interval}"))
            )
        ],
        "hoverinfo": "text",
    } | whiskers("error_x", [(estimate.value, estimate.ci)])


def width_curve(
    points: Sequence[WidthAt], *, figure_id: str, metric: str, signature: str = ""
) -> Figure:
    """Width of the interval over rated dialogues: dashed for the ratings alone, solid with the
    metric."""
    table = Table(
        id=f"{figure_id}-data",
        caption="Mean width of the 95 % interval of a system's mean, by rated dialogues",
        columns=(
            Column("dialogues", "rated dialogues", "number", decimals=0),
            Column("alone", "ratings alone", "number"),
            Column("powered", f"ratings and {metric}", "number"),
            Column(
                "gain",
                "as many ratings",
                "number",
                decimals=2,
                help="(width alone / width with the metric)²",
            ),
        ),
        rows=tuple(
            Row(
                f"dialogues-{point.dialogues}",
                {
                    "dialogues": Cell(point.dialogues),
                    "alone": Cell(point.alone),
                    "powered": Cell(point.powered),
                    "gain": Cell(point.gain),
                },
            )
            for point in points
        ),
        signature=signature,
    )
    if not points:
        reason = "Too few dialogues are rated to leave some out: it takes at least 12."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    layout = chart_layout("rated dialogues", "width of the 95 % interval, rating points")
    layout["xaxis"] |= _whole([point.dialogues for point in points])
    layout["yaxis"] |= {"rangemode": "tozero"}
    middle = points[len(points) // 3]
    layout["annotations"] = [
        _label(middle, "ratings alone", above=True),
        _label(middle, metric, above=False),
    ]
    first = points[0]
    return Figure(
        id=figure_id,
        caption="Mean width of a system's 95 % interval if only so many dialogues had been rated. "
        f"Dashed: the ratings alone; solid: the ratings and {metric} on every response.",
        alternative=f"Two falling lines. With {first.dialogues} rated dialogues the interval is "
        f"{written(first.alone, 2)} points wide from the ratings alone and "
        f"{written(first.powered, 2)} with {metric}; with {points[-1].dialogues}, "
        f"{written(points[-1].alone, 2)} and {written(points[-1].powered, 2)}.",
        points=table,
        data=[
            _curve(points, [point.alone for point in points], "ratings alone", role=True),
            _curve(
                points, [point.powered for point in points], f"ratings and {metric}", role=False
            ),
        ],
        layout=layout,
        signature=signature,
    )


def _whole(counts: Sequence[int]) -> dict[str, Any]:
    """No half dialogues on an axis of few."""
    return (
        {"tickformat": ",d", "dtick": 1}
        if max(counts) - min(counts) <= 10
        else {"tickformat": ",d"}
    )


def _curve(
    points: Sequence[WidthAt], widths: Sequence[float], words: str, *, role: bool
) -> dict[str, Any]:
    shade = GREY if role else colour(0)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape_latex(words),
        "x": [point.dialogues for point in points],
        "y": list(widths),
        "line": {"color": shade, "width": 2, "dash": "dash" if role else "solid"},
        "marker": {"color": shade, "size": 6, "symbol": "circle-open" if role else "circle"},
        "meta": {"role": "alone"} if role else {"series": colour_number(0)},
        "hovertext": [
            f"{escape_latex(words)}<br>{point.dialogues} rated dialogues: {written(width, 3)} wide"
            for point, width in zip(points, widths, strict=True)
        ],
        "hoverinfo": "text",
    }


def _label(point: WidthAt, words: str, *, above: bool) -> dict[str, Any]:
    """Beside a line that falls: above it to the right, below it to the left."""
    return {
        "x": point.dialogues,
        "y": point.alone if above else point.powered,
        "text": escape_latex(shortened(words, 24)),
        "showarrow": False,
        "xanchor": "left" if above else "right",
        "yanchor": "bottom" if above else "top",
        "xshift": 4 if above else -4,
    }


def benefit_curve(
    systems: Sequence[tuple[str, int, Sequence[tuple[int, float]]]],
    *,
    figure_id: str,
    metric: str,
    signature: str = "",
) -> Figure:
    """A line a system: how many times the ratings would give its interval without the metric, over
    rated dialogues. ``systems``: (name, swatch, (dialogues, times the ratings) pairs)."""
    counts = sorted({count for _, _, points in systems for count, _ in points})
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Effective sample size with {metric}, by rated dialogues",
        columns=(
            Column("system", "system"),
            *(
                Column(f"dialogues-{count}", f"{count} dialogues", "number", decimals=2)
                for count in counts
            ),
        ),
        rows=tuple(
            Row(
                f"{name}-{number}",
                {
                    "system": Cell(name),
                    **{f"dialogues-{count}": Cell(times) for count, times in points},
                },
                swatch=swatch,
            )
            for number, (name, swatch, points) in enumerate(systems)
        ),
        signature=signature,
    )
    known = [(name, swatch, points) for name, swatch, points in systems if points]
    drawn = sorted(known, key=lambda one: -one[2][0][1])[:SYSTEMS_DRAWN]
    if not drawn:
        reason = "No system has enough rated dialogues to leave some out."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    layout = chart_layout("rated dialogues", "times as many ratings")
    layout["xaxis"] |= _whole([count for _, _, points in drawn for count, _ in points])
    layout["yaxis"] |= {"rangemode": "normal"}
    layout["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": 1,
            "y1": 1,
            "line": {"color": GREY},
        }
    ]
    first = {name: points[0] for name, _, points in drawn}
    best = max(first, key=lambda name: first[name][1])
    of = (
        f"the {len(drawn)} of {len(known)} systems with the most" if len(drawn) < len(known) else ""
    )
    return Figure(
        id=figure_id,
        caption=f"Effective sample size with {metric}: the ratings needed without it, as a "
        f"multiple of those given, {of or f'n = {len(drawn)} systems'}. 1: no gain.",
        alternative=f"A line for each of {len(drawn)} systems. With {first[best][0]} rated "
        f"dialogues {best} has the most: {written(first[best][1], 2)} times the ratings.",
        points=table,
        data=[_caveat_line(name, swatch, points) for name, swatch, points in drawn],
        layout=layout,
        signature=signature,
        legend=tuple((name, swatch) for name, swatch, _ in drawn),
    )


def _caveat_line(name: str, swatch: int, points: Sequence[tuple[int, float]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape_latex(name),
        "x": [count for count, _ in points],
        "y": [times for _, times in points],
        "line": {"color": colour(swatch), "width": 1.5},
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 7},
        "meta": {"series": colour_number(swatch)},
        "hovertext": [
            (
                f"{escape_latex(name)}<br>{count} rated dialogues: {written(times, 2)} "
                "times the ratings"
            )
            for count, times in points
        ],
        "hoverinfo": "text",
    }
