"""Two metrics against each other: do they say the same of the same responses?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import chart_layout, escape_latex, format_estimate, places
from leaderboard.figures.figure import Figure, Level
from leaderboard.figures.scatter_points import MAX_POINTS
from leaderboard.figures.series import series_of

SYSTEMS_IN_LEGEND = 16


@dataclass(frozen=True, slots=True)
class TwoScores:
    """One response, dialogue of a system, or system, as both metrics and people score it."""

    system: str
    swatch: int
    first: float
    second: float
    human: float
    item: str = ""


def two_metrics_scatter(
    points: Sequence[TwoScores],
    *,
    figure_id: str,
    level: Level,
    metrics: tuple[str, str],
    between: Estimate,
    signature: str = "",
) -> Figure:
    """The first metric across, the second up, one marker a point, coloured by system. ``between``:
    their Pearson r.

    Of more than ``MAX_POINTS`` points an even sample is drawn: every k-th, in the order given.
    """
    first, second = metrics
    table = _table(points, figure_id, level, metrics, signature)
    if not points:
        reason = f"No {level} has a score of both metrics and of people."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    drawn = _evenly(points)
    systems = sorted({(point.swatch, point.system) for point in drawn})
    agreement = format_estimate("Pearson r between them", between)
    sampled = f" {len(drawn):,} of the points are drawn." if len(drawn) < len(points) else ""
    large = level == "system"
    return Figure(
        id=figure_id,
        caption=f"{second} against {first}, {level} level, n = {written(len(points), 0)}; "
        f"{agreement}.{sampled}",
        alternative=f"Scatter plot of {written(len(points), 0)} points: {first} from "
        f"{_range([point.first for point in points])} across, {second} from "
        f"{_range([point.second for point in points])} up. {agreement}.",
        points=table,
        data=[
            {
                "type": "scatter",
                "mode": "markers",
                "name": escape_latex(series.name),
                "x": places(point.first for point in series.markers),
                "y": places(point.second for point in series.markers),
                "marker": {
                    "color": colour(series.swatch),
                    "symbol": shape(series.swatch),
                    "size": 9 if large else 6,
                },
                "opacity": 1.0 if large else 0.6,
                "meta": {"series": colour_number(series.swatch)},
                "hovertext": [_hover(point, first, second) for point in series.markers],
                "hoverinfo": "text",
            }
            for series in series_of(drawn)
        ],
        layout=chart_layout(first, second),
        signature=signature,
        summary_table=table if len(points) <= SYSTEMS_IN_LEGEND else _extremes(table, points),
        legend=tuple((system, swatch) for swatch, system in systems)
        if 1 < len(systems) <= SYSTEMS_IN_LEGEND
        else (),
    )


def _evenly(points: Sequence[TwoScores]) -> Sequence[TwoScores]:
    if len(points) <= MAX_POINTS:
        return points
    return [
        points[round(index * (len(points) - 1) / (MAX_POINTS - 1))] for index in range(MAX_POINTS)
    ]


def _range(scores: Sequence[float]) -> str:
    return f"{written(min(scores), 3)} to {written(max(scores), 3)}"


def _hover(point: TwoScores, first: str, second: str) -> str:
    lines = [
        f"{point.system}, {point.item}" if point.item else point.system,
        f"{first} {written(point.first, 3)}",
        f"{second} {written(point.second, 3)}",
        f"people {written(point.human, 2)}",
    ]
    return "<br>".join(map(escape_latex, lines))


def _table(
    points: Sequence[TwoScores],
    figure_id: str,
    level: str,
    metrics: tuple[str, str],
    signature: str,
) -> Table:
    named = any(point.item for point in points)
    columns = [Column("system", "system"), *([Column("item", "item")] if named else [])]
    columns += [Column("first", metrics[0], "number"), Column("second", metrics[1], "number")]
    columns.append(Column("human", "people", "number", decimals=2))
    rows = tuple(
        Row(
            f"{point.system}-{number}",
            {
                "system": Cell(point.system),
                "item": Cell(point.item),
                "first": Cell(point.first),
                "second": Cell(point.second),
                "human": Cell(point.human),
            },
            swatch=point.swatch,
        )
        for number, point in enumerate(points)
    )
    caption = f"{metrics[1]} against {metrics[0]}, {level} level"
    return Table(f"{figure_id}-data", caption, tuple(columns), rows, signature=signature)


def _extremes(table: Table, points: Sequence[TwoScores]) -> Table:
    """Beneath a chart of many points: the first few; the download has all."""
    note = (
        f"The first {SYSTEMS_IN_LEGEND} of {written(len(points), 0)} points; all are in the "
        "download."
    )
    return Table(
        table.id, table.caption, table.columns, table.rows[:SYSTEMS_IN_LEGEND], notes=(note,)
    )
