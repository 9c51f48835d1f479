"""How a metric's scores are spread: a histogram of responses or, of a metric of whole systems, a
dot a system."""

from __future__ import annotations

from collections.abc import Sequence
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
