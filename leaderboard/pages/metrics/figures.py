"""How a metric's scores lie at each human score: boxes of quartiles, drawn as lines that any SVG
shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common.tables.markers import colour, colour_number
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import chart_layout, escape_latex
from leaderboard.figures.figure import Figure, Level
from leaderboard.statistics.distribution import ScoresAt

LEAST_FOR_A_BOX = 5
HALF_BOX = 0.3
"""Of the step between two human scores."""


def scores_by_human(
    groups: Sequence[ScoresAt],
    *,
    figure_id: str,
    metric: str,
    aspect: str,
    level: Level,
    step: float = 1.0,
    signature: str = "",
) -> Figure:
    """A box for each rounded human score: quartiles, the median as a line, the mean as a diamond,
    whiskers from the 5th to the 95th percentile. Fewer than 5 scores have no box."""
    table = _table(groups, figure_id, metric, aspect, level, signature)
    if not groups:
        reason = f"No {level} has both a human score and a score of {metric} yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    boxed = [one for one in groups if one.n >= LEAST_FOR_A_BOX]
    few = len(boxed) < len(groups)
    layout = chart_layout(f"human score ({aspect}), rounded", metric)
    layout["xaxis"] |= {
        "tickmode": "array",
        "tickvals": [one.human for one in groups],
        "ticktext": [f"{one.human:g}<br>n = {written(one.n, 0)}" for one in groups],
        "range": [groups[0].human - 0.6 * step, groups[-1].human + 0.6 * step],
        "showgrid": False,
    }
    total = written(sum(one.n for one in groups), 0)
    medians = ", ".join(f"{written(one.median, 3)} at {one.human:g}" for one in groups)
    rounding = "whole numbers" if step == 1 else f"steps of {step:g}"
    return Figure(
        id=figure_id,
        caption=(
            f"Scores of {metric} at each human score ({aspect}, rounded to {rounding}), {level} "
            f"level, n = {total}. Box: the middle half; line: median; diamond: mean; whiskers: "
            "5th to 95th percentile."
        )
        + (f" Fewer than {LEAST_FOR_A_BOX} scores have no box." if few else ""),
        alternative=f"Box plot of {metric} at {len(groups)} human scores. Medians: {medians}.",
        points=table,
        data=[*_boxes(boxed, step), _means(groups)],
        layout=layout,
        signature=signature,
    )


def _boxes(groups: Sequence[ScoresAt], step: float) -> list[dict[str, Any]]:
    if not groups:
        return []
    half = HALF_BOX * step
    corners_across: list[float | None] = []
    corners_up: list[float | None] = []
    lines_across: list[float | None] = []
    lines_up: list[float | None] = []
    for one in groups:
        left, right = one.human - half, one.human + half
        corners_across += [left, right, right, left, left, None]
        corners_up += (
            [one.lower_quartile] * 2 + [one.upper_quartile] * 2 + [one.lower_quartile, None]
        )
        lines_across += [left, right, None]
        lines_up += [one.median, one.median, None]
    series = {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "meta": {"series": colour_number(0)},
    }
    whiskers = {
        "type": "scatter",
        "mode": "markers",
        "name": "5th to 95th percentile",
        "x": [one.human for one in groups],
        "y": [one.median for one in groups],
        "marker": {"color": colour(0), "size": 1},
        "meta": {"series": colour_number(0)},
        "hoverinfo": "skip",
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.median for one in groups],
            "arrayminus": [one.median - one.low for one in groups],
            "thickness": 1,
            "width": 6,
        },
    }
    box = {
        **series,
        "name": "quartiles",
        "x": corners_across,
        "y": corners_up,
        "fill": "toself",
        "fillcolor": "rgba(0,114,178,0.25)",
        "line": {"color": colour(0), "width": 1},
    }
    line = {
        **series,
        "name": "median",
        "x": lines_across,
        "y": lines_up,
        "line": {"color": colour(0), "width": 2.5},
    }
    return [whiskers, box, line]


def _means(groups: Sequence[ScoresAt]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "mean",
        "x": [one.human for one in groups],
        "y": [one.mean for one in groups],
        "marker": {"color": colour(1), "symbol": "diamond", "size": 8},
        "meta": {"series": colour_number(1)},
        "hovertext": [
            escape_latex(
                f"human {one.human:g}: median {written(one.median, 3)}, mean "
                f"{written(one.mean, 3)}, n = {written(one.n, 0)}"
            )
            for one in groups
        ],
        "hoverinfo": "text",
    }


def _table(
    groups: Sequence[ScoresAt],
    figure_id: str,
    metric: str,
    aspect: str,
    level: Level,
    signature: str,
) -> Table:
    columns = (
        Column("human", f"human ({aspect}), rounded"),
        Column("n", "n", "number", 0),
        Column("mean", "mean", "number"),
        Column("low", "5 %", "number"),
        Column("lower_quartile", "25 %", "number"),
        Column("median", "median", "number"),
        Column("upper_quartile", "75 %", "number"),
        Column("high", "95 %", "number"),
    )
    rows = tuple(
        Row(
            f"at-{one.human:g}",
            {
                "human": Cell(f"{one.human:g}"),
                **{column.key: Cell(getattr(one, column.key)) for column in columns[1:]},
            },
        )
        for one in groups
    )
    return Table(
        f"{figure_id}-data",
        f"{metric} by human score, {level} level",
        columns,
        rows,
        signature=signature,
    )
