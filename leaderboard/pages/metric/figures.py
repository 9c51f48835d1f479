"""Figures of a metric's page: precision against recall of whole systems, one line a system, from
(0, 1) at the left to (1, 0) at the right; and how scores are spread, a histogram of responses or,
of a metric of whole systems, a dot a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import (
    ROWS_DRAWN,
    chart_layout,
    dot_and_whisker,
    escape_latex,
    highest,
    list_layout,
    sample_text,
    upright,
)
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


HistogramBin = tuple[float, float, int]
"""(low, high, count): scores from low up to high."""


def score_histogram(
    bins: Sequence[HistogramBin],
    *,
    figure_id: str,
    metric: str,
    corpus: str,
    mean: float | None = None,
    median: float | None = None,
    signature: str = "",
) -> Figure:
    """Responses by score, with the mean as a labelled line. The data beneath are the bins."""
    total = sum(count for _, _, count in bins)
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Scores of {metric} on {corpus}, by bins",
        columns=(
            Column("from", "from"),
            Column("to", "up to"),
            Column("responses", "responses", "number", decimals=0),
            Column("share", "share", "number", decimals=3),
        ),
        rows=tuple(
            Row(
                f"bin-{index}",
                {
                    "from": Cell(f"{low:.6g}"),
                    "to": Cell(f"{high:.6g}"),
                    "responses": Cell(count),
                    "share": Cell(count / total if total else None),
                },
            )
            for index, (low, high, count) in enumerate(bins)
        ),
        signature=signature,
    )
    if not total:
        reason = f"No response has a score of {metric} on {corpus}."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    layout = chart_layout(metric, "responses")
    layout["height"] = 300
    layout["bargap"] = 0.04
    middle = ""
    if mean is not None:
        layout["shapes"] = [upright(mean)]
        layout["annotations"] = [_label(mean, f"mean {written(mean, 3)}", _leans_left(mean, bins))]
        middle = f" Mean {written(mean, 3)}" + (
            f", median {written(median, 3)}." if median is not None else "."
        )
    low, high = bins[0][0], bins[-1][1]
    fullest = max(bins, key=lambda one: one[2])
    return Figure(
        id=figure_id,
        caption=f"Scores of {metric} on {corpus}, n = {written(total, 0)} responses.{middle}",
        alternative=f"Histogram of {written(total, 0)} scores from {low:.6g} to {high:.6g}; most, "
        f"{written(fullest[2], 0)}, lie between {fullest[0]:.6g} and {fullest[1]:.6g}.{middle}",
        points=table,
        data=[_bars(bins)],
        layout=layout,
        signature=signature,
    )


def _bars(bins: Sequence[HistogramBin]) -> dict[str, Any]:
    widths = [high - low for low, high, _ in bins]
    return {
        "type": "bar",
        "x": [(low + high) / 2 for low, high, _ in bins],
        "y": [count for _, _, count in bins],
        **({"width": widths} if all(widths) else {}),
        "marker": {"color": colour(0)},
        "opacity": 0.7,
        "meta": {"series": colour_number(0)},
        "hovertext": [
            f"{low:.6g} to {high:.6g}<br>{written(count, 0)} responses" for low, high, count in bins
        ],
        "hoverinfo": "text",
    }


def _label(value: float, text: str, leans_left: bool) -> dict[str, Any]:
    return {
        "x": value,
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "text": text,
        "showarrow": False,
        "xanchor": "right" if leans_left else "left",
        "yanchor": "bottom",
    }


def _leans_left(value: float, bins: Sequence[HistogramBin]) -> bool:
    return value > (bins[0][0] + bins[-1][1]) / 2


def system_scores(
    scores: Sequence[tuple[str, int, float | None]],
    *,
    figure_id: str,
    metric: str,
    corpus: str,
    higher_is_better: bool,
    signature: str = "",
) -> Figure:
    """One dot a system, the best on top: of a metric that scores nothing finer. ``scores``:
    (system, number, score)."""
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Scores of {metric} on {corpus}, by system",
        columns=(
            Column("system", "system"),
            Column("score", metric, "number", higher_is_better=higher_is_better),
        ),
        rows=tuple(
            Row(
                name,
                {
                    "system": Cell(name),
                    "score": Cell(score, reason="the metric has no score for this system"),
                },
            )
            for name, _, score in scores
        ),
        sort=("score", higher_is_better),
        signature=signature,
    )
    defined = [(name, number, score) for name, number, score in scores if score is not None]
    if not defined:
        reason = f"No system has a score of {metric} on {corpus}."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined.sort(key=lambda one: one[2] if higher_is_better else -one[2])
    drawn = highest(defined)
    names = [escape_latex(name) for name, _, _ in drawn]
    best, worst = defined[-1], defined[0]
    direction = "higher" if higher_is_better else "lower"
    cut = sample_text(len(defined), f"{ROWS_DRAWN} best")
    return Figure(
        id=figure_id,
        caption=(
            f"Scores of {metric} on {corpus}, n = {len(defined)} systems, the best on "
            f"top; {direction} is better. {cut}"
        ).rstrip(),
        alternative=(
            f"Dot plot of {len(defined)} systems. Best: {best[0]}, "
            f"{written(best[2], 3)}; worst: {worst[0]}, {written(worst[2], 3)}. {cut}"
        ).rstrip(),
        points=table,
        data=[
            dot_and_whisker(name, number, Estimate(score))
            for name, (_, number, score) in zip(names, drawn, strict=True)
        ],
        layout=list_layout(metric, names),
        signature=signature,
    )
