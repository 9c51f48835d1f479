"""Every metric's correlation with people, beside the human ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotations.estimates import Estimate
from annotations.tables.numerals import written
from annotations.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import GREY, dot_and_whisker, escaped_words, list_layout
from leaderboard.figures.figure import CorrelationName, Figure, Level


def metric_correlations(
    correlations: Sequence[tuple[str, Estimate]],
    *,
    figure_id: str,
    level: Level,
    correlation_name: CorrelationName = "Pearson r",
    human_ceiling: Estimate | None = None,
    signature: str = "",
) -> Figure:
    """Every metric's correlation with people as dot and whisker, best on top, the human ceiling as a labelled line."""
    table = Table(
        id=f"{figure_id}-data",
        caption=f"{correlation_name} of every metric with human scores, {level} level",
        columns=(
            Column("metric", "metric"),
            Column("correlation", correlation_name, "estimate", higher_is_better=True),
        ),
        rows=tuple(
            Row(metric, {"metric": Cell(metric), "correlation": estimate_cell(estimate)})
            for metric, estimate in correlations
        ),
        sort=("correlation", True),
        signature=signature,
    )
    defined = [(metric, estimate, estimate.value) for metric, estimate in correlations if estimate.value is not None]
    if not defined:
        reason = f"No metric has a correlation at {level} level yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined.sort(key=lambda row: row[2])
    names = [escaped_words(metric) for metric, _, _ in defined]
    traces = [dot_and_whisker(name, 0, estimate) for (_, estimate, _), name in zip(defined, names, strict=True)]
    layout = list_layout(f"{correlation_name}, {level} level", names)
    ceiling_words = ""
    if human_ceiling is not None and human_ceiling.value is not None:
        layout["shapes"] = [_ceiling_shape(human_ceiling.value)]
        layout["annotations"] = [_ceiling_label(human_ceiling.value)]
        ceiling_words = f" Human ceiling (leave-one-out): {written(human_ceiling.value, 2)}."
    elif human_ceiling is not None:
        ceiling_words = f" No human ceiling: {human_ceiling.reason}."
    best = defined[-1]
    return Figure(
        id=figure_id,
        caption=f"{correlation_name} with human scores, {level} level, with 95 % interval, n = {len(defined)} metrics."
        + ceiling_words,
        alternative=f"Dot plot of {len(defined)} metrics. Highest: {best[0]}, {written(best[2], 2)}; lowest: "
        f"{defined[0][0]}, {written(defined[0][2], 2)}.{ceiling_words}",
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
    )


def _ceiling_shape(value: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": value,
        "x1": value,
        "y0": 0,
        "y1": 1,
        "line": {"color": GREY, "width": 1.5, "dash": "dash"},
    }


def _ceiling_label(value: float) -> dict[str, Any]:
    return {
        "x": value,
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "text": f"human ceiling {written(value, 2)}",
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "bottom",
    }
