"""Precision against recall of whole systems: one line a system, from (0, 1) at the left to (1, 0)
at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.tables.markers import colour, colour_number
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import chart_layout, escape_latex
from leaderboard.figures.figure import Figure

MAX_CURVES = 8
"""More lines cannot be told apart, by colour or by dashes."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


@dataclass(frozen=True, slots=True)
class Curve:
    system: str
    swatch: int
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    score: float | None
    spread: float | None
    """Standard deviation of the score between seeds."""
    spread_from: str


def precision_recall_figure(
    curves: Sequence[Curve], *, figure_id: str, metric: str, corpus: str, signature: str = ""
) -> Figure:
    """The curves of the systems with the best scores; all are in the data, the scores and their
    spread beneath."""
    points = Table(
        f"{figure_id}-data",
        f"Precision and recall of {metric} on {corpus}",
        (
            Column("system", "system"),
            Column("recall", "recall", "number"),
            Column("precision", "precision", "number"),
        ),
        tuple(
            Row(
                f"{curve.swatch}-{index}",
                {
                    "system": Cell(curve.system),
                    "recall": Cell(recall),
                    "precision": Cell(precision),
                },
                swatch=curve.swatch,
            )
            for curve in curves
            for index, (recall, precision) in enumerate(
                zip(curve.recall, curve.precision, strict=True)
            )
        ),
        signature=signature,
    )
    ranked = sorted(
        (curve for curve in curves if curve.recall), key=lambda one: -(one.score or 0.0)
    )
    if not ranked:
        reason = f"No system has a curve of {metric} on {corpus}."
        return Figure(figure_id, reason, reason, points, signature=signature, empty_reason=reason)
    drawn = ranked[:MAX_CURVES]
    layout = chart_layout("recall: how much of people's answers the system covers", "precision")
    layout["xaxis"] |= {"range": [0, 1.02]}
    layout["yaxis"] |= {"range": [0, 1.02]}
    left_out = (
        f" The best {len(drawn)} of {len(ranked)} are drawn." if len(drawn) < len(ranked) else ""
    )
    return Figure(
        id=figure_id,
        caption=f"Precision against recall of {metric} on {corpus}, {len(ranked)} "
        f"systems.{left_out}",
        alternative=f"Curves of {len(drawn)} systems. The best, {drawn[0].system}, has the score "
        f"{_score_text(drawn[0])}; the last drawn, {drawn[-1].system}, {_score_text(drawn[-1])}.",
        points=points,
        data=[_line(curve) for curve in drawn],
        layout=layout,
        signature=signature,
        summary_table=_spread_table(curves, points, metric),
        legend=tuple((curve.system, curve.swatch) for curve in drawn),
    )


def _score_text(curve: Curve) -> str:
    return "none" if curve.score is None else written(curve.score, 3)


def _line(curve: Curve) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape_latex(curve.system),
        "x": list(curve.recall),
        "y": list(curve.precision),
        "line": {
            "color": colour(curve.swatch),
            "width": 2,
            "dash": _DASHES[curve.swatch % len(_DASHES)],
        },
        "meta": {"series": colour_number(curve.swatch)},
        "hovertext": f"{escape_latex(curve.system)}<br>{_score_text(curve)}",
        "hoverinfo": "text",
    }


def _spread_table(curves: Sequence[Curve], points: Table, metric: str) -> Table:
    rows = tuple(
        Row(
            f"curve-{curve.swatch}",
            {
                "system": Cell(curve.system),
                "score": Cell(curve.score, reason="the metric has no score for this system"),
                "spread": Cell(curve.spread, reason="not recorded"),
                "from": Cell(curve.spread_from or None, reason="not recorded"),
            },
            swatch=curve.swatch,
        )
        for curve in curves
    )
    columns = (
        Column("system", "system"),
        Column("score", metric, "number", decimals=4, higher_is_better=True),
        Column("spread", "sd between seeds", "number", decimals=4),
        Column("from", "estimated from"),
    )
    note = (
        "A difference between two systems that is not well above the sd between seeds may be the "
        "seed's."
    )
    return Table(
        points.id,
        f"Scores of {metric} and their spread",
        columns,
        rows,
        sort=("score", True),
        notes=(note,),
    )
