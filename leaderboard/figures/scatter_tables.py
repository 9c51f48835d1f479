"""The data beneath a scatter: every point or, where those are too many for a page, one row a
system."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.figure import Level, Point

ROWS_BENEATH = 200
"""A longer list is in the download; the page then shows one row a system."""


def points_table(
    points: Sequence[Point], figure_id: str, level: Level, metric: str, aspect: str, signature: str
) -> Table:
    named = any(point.item for point in points)
    texts = any(point.hover for point in points)
    columns = [Column("system", "system")]
    columns += [Column("item", "item")] if named else []
    columns += [
        Column("human", f"human ({aspect})", "estimate", decimals=2, higher_is_better=None),
        Column("metric", metric, "estimate"),
    ]
    columns += [Column("text", "text")] if texts else []
    rows = tuple(
        Row(
            id=f"{point.system}-{number}",
            cells={
                "system": Cell(point.system),
                "item": Cell(point.item),
                "human": Cell(point.human, ci=point.human_ci),
                "metric": Cell(point.metric, ci=point.metric_ci),
                "text": Cell(point.hover),
            },
            swatch=point.swatch,
        )
        for number, point in enumerate(points)
    )
    caption = f"{metric} and human scores, {level} level"
    return Table(f"{figure_id}-data", caption, tuple(columns), rows, signature=signature)


def means_by_system(points: Sequence[Point], table: Table) -> Table:
    """One row a system, for a list of points that is too long to stand on a page."""
    by_system: dict[tuple[int, str], list[Point]] = {}
    for point in points:
        by_system.setdefault((point.swatch, point.system), []).append(point)
    rows = tuple(
        Row(
            id=system,
            cells={
                "system": Cell(system),
                "n": Cell(len(members)),
                "human": Cell(fmean(point.human for point in members)),
                "metric": Cell(fmean(point.metric for point in members)),
            },
            swatch=swatch,
        )
        for (swatch, system), members in sorted(by_system.items())
    )
    columns = (
        Column("system", "system"),
        Column("n", "points", "number", decimals=0),
        Column("human", "mean human score", "number", decimals=2),
        Column("metric", "mean metric score", "number"),
    )
    note = f"All {written(len(points), 0)} points are in the download."
    return Table(table.id, f"{table.caption}: means by system", columns, rows, notes=(note,))
