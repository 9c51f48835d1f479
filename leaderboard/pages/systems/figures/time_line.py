"""Submissions over time, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import GREY, chart_layout, escape_latex, whiskers
from leaderboard.figures.figure import Figure

LEAST = 2


@dataclass(frozen=True, slots=True)
class Submitted:
    name: str
    swatch: int
    at: datetime
    mean: Estimate


def time_line(
    submissions: Sequence[Submitted],
    *,
    figure_id: str,
    measure: str,
    higher_is_better: bool = True,
    signature: str = "",
) -> Figure:
    """One marker a submission, at the time it came; the stepped line is the best mean up to
    then."""
    ordered = sorted(submissions, key=lambda one: one.at)
    table = _table(ordered, figure_id, measure, signature)
    known = [(one, one.mean.value) for one in ordered if one.mean.value is not None]
    if len(known) < LEAST:
        reason = f"Fewer than two submissions have {measure}."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    best = _best_so_far(known, higher_is_better)
    layout = chart_layout("submitted (UTC)", measure)
    layout["xaxis"] |= {"type": "date"}
    layout["height"] = 320
    leads = [
        one for index, (one, _) in enumerate(known) if index == 0 or best[index] != best[index - 1]
    ]
    last = leads[-1]
    return Figure(
        id=figure_id,
        caption=f"{len(known)} submissions by the time they came, with {measure} and its 95 % "
        "interval where it has one. Line: the best up to then; it says nothing of whether "
        "the next step is more than chance.",
        alternative=f"{len(known)} submissions from {_day(known[0][0].at)} to "
        f"{_day(known[-1][0].at)}. The best went from {written(known[0][1], 2)} to "
        f"{written(best[-1], 2)}, by {last.name} on {_day(last.at)}.",
        points=table,
        data=[
            {
                "type": "scatter",
                "mode": "lines",
                "name": "best so far",
                "x": [_written_time(one.at) for one, _ in known],
                "y": best,
                "line": {"shape": "hv", "color": GREY, "width": 1.5},
                "meta": {"role": "best"},
                "hoverinfo": "skip",
            },
            *(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": escape_latex(one.name),
                    "x": [_written_time(one.at)],
                    "y": [value],
                    "marker": {"color": colour(one.swatch), "symbol": shape(one.swatch), "size": 9},
                    "meta": {"series": colour_number(one.swatch)},
                    "hovertext": [
                        f"{escape_latex(one.name)}<br>{_day(one.at)}<br>{_mean_text(one.mean)}"
                    ],
                    "hoverinfo": "text",
                }
                | whiskers("error_y", [(value, one.mean.ci)])
                for one, value in known
            ),
        ],
        layout=layout,
        signature=signature,
        legend=tuple((one.name, one.swatch) for one in leads),
    )


def _best_so_far(known: Sequence[tuple[Submitted, float]], higher_is_better: bool) -> list[float]:
    best: list[float] = []
    for _, value in known:
        better = max if higher_is_better else min
        best.append(better(best[-1], value) if best else value)
    return best


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _written_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _mean_text(mean: Estimate) -> str:
    assert mean.value is not None
    return written(mean.value, 2) + (f" [{written_interval(mean.ci, 2)}]" if mean.ci else "")


def _table(ordered: Sequence[Submitted], figure_id: str, measure: str, signature: str) -> Table:
    return Table(
        id=f"{figure_id}-data",
        caption=f"Submissions by the time they came, {measure}",
        columns=(
            Column("system", "system"),
            Column("at", "submitted (UTC)"),
            Column("mean", measure, "estimate", decimals=2),
        ),
        rows=tuple(
            Row(
                f"system-{one.swatch}",
                {
                    "system": Cell(one.name),
                    "at": Cell(_written_time(one.at)),
                    "mean": estimate_cell(one.mean),
                },
                swatch=one.swatch,
            )
            for one in ordered
        ),
        signature=signature,
    )
