"""People's order of the systems beside a metric's: where the metric misleads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.tables.markers import colour, colour_number, shape
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import escape_latex, rows_layout, step_of_ranks
from leaderboard.figures.figure import Figure

ROW_HEIGHT = 34
ROWS_DRAWN = 30
PEOPLE_AT, METRIC_AT = 0.06, -0.26
"""Where in its row people's marker stands, and the metric's; names may stand above."""

Places = tuple[int, int, int]
"""Place by mean, best and worst place that the interval leaves open."""


@dataclass(frozen=True, slots=True)
class RankDifference:
    """``beyond``: by how many places the two ranges miss each other; above 0 the metric ranks the
    system too low, below 0 too high, 0 where the ranges meet."""

    name: str
    swatch: int
    human: Places
    metric: Places
    beyond: int

    @property
    def difference(self) -> int:
        return self.metric[0] - self.human[0]

    @property
    def words(self) -> str:
        """ "" where it does not mislead."""
        if not self.beyond:
            return ""
        return f"{abs(self.beyond)} too {'low' if self.beyond > 0 else 'high'}"


def rank_differences(
    rows: Sequence[RankDifference],
    *,
    figure_id: str,
    metric: str,
    aspect: str = "overall",
    signature: str = "",
) -> Figure:
    """One row a system, what misleads most on top: people's place and the metric's, each with its
    range."""
    table = _table(rows, figure_id, metric, aspect, signature)
    if len(rows) < 2:
        reason = (
            f"Fewer than two systems have human scores and a score of {metric}: there is no order "
            "to compare."
        )
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    ordered = sorted(rows, key=lambda row: (-abs(row.beyond), -abs(row.difference), row.human[0]))
    shown = ordered[:ROWS_DRAWN][::-1]
    most = max(max(row.human[2], row.metric[2], row.human[0], row.metric[0]) for row in rows)
    layout = rows_layout("rank, 1 is best", [row.name for row in shown], ROW_HEIGHT)
    layout["xaxis"] |= {
        "range": [0.5, most + 0.5],
        "tick0": 1,
        "dtick": step_of_ranks(most),
        "tickformat": "d",
    }
    layout["annotations"] = [
        _label(number, row.words) for number, row in enumerate(shown) if row.words
    ]
    if layout["annotations"]:
        layout["margin"]["r"] = 84
    misled = [row for row in ordered if row.beyond]
    left_out = (
        f" Drawn: the {len(shown)} where the two orders differ most; the data have all."
        if len(shown) < len(rows)
        else ""
    )
    return Figure(
        id=figure_id,
        caption=f"{len(rows)} systems as people rank them ({aspect}; the system's own marker) and "
        f"as {metric} ranks them (×, beneath). Bars: the places that the 95 % intervals leave "
        "open. A system is ranked too low or too high where its two bars do not "
        f"meet.{left_out}",
        alternative=_alternative(rows, misled, metric),
        points=table,
        data=[_trace(row, number, metric) for number, row in enumerate(shown)],
        layout=layout,
        signature=signature,
    )


def _alternative(
    rows: Sequence[RankDifference], misled: Sequence[RankDifference], metric: str
) -> str:
    if not misled:
        return f"{len(rows)} systems; {metric} puts none where people's order cannot have it."
    differences = "; ".join(
        f"{row.name}: people {_range(row.human)}, {metric} {_range(row.metric)}, {row.words}"
        for row in misled[:3]
    )
    return f"{len(rows)} systems; {metric} misleads on {len(misled)}: {differences}."


def _range(places: Places) -> str:
    return str(places[0]) if places[1] == places[2] else f"{places[0]} ({places[1]} to {places[2]})"


def _trace(row: RankDifference, number: int, metric: str) -> dict[str, Any]:
    ends = (row.human, row.metric)
    hover = [
        f"{escape_latex(row.name)}<br>{escape_latex(who)}: place {_range(ranks)}"
        + (f"<br>ranked {row.words}" if row.words else "")
        for who, ranks in zip(("people", metric), ends, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape_latex(row.name),
        "x": [row.human[0], row.metric[0]],
        "y": [number + PEOPLE_AT, number + METRIC_AT],
        "marker": {"color": colour(row.swatch), "symbol": [shape(row.swatch), "x"], "size": 9},
        "line": {
            "color": colour(row.swatch),
            "width": 2.5 if row.beyond else 1,
            "dash": "solid" if row.beyond else "dot",
        },
        "meta": {"series": colour_number(row.swatch)},
        "hovertext": hover,
        "hoverinfo": "text",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(ranks[2] - ranks[0], 0) for ranks in ends],
            "arrayminus": [max(ranks[0] - ranks[1], 0) for ranks in ends],
            "thickness": 2,
            "width": 3,
        },
    }


def _label(number: int, words: str) -> dict[str, Any]:
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 8,
        "y": number,
        "yref": "y",
        "text": words,
        "showarrow": False,
    }


def _table(
    rows: Sequence[RankDifference], figure_id: str, metric: str, aspect: str, signature: str
) -> Table:
    return Table(
        id=f"{figure_id}-data",
        caption=f"Ranks by people ({aspect}) and by {metric}",
        columns=(
            Column("system", "system"),
            Column("human", "people's rank", "rank", decimals=0),
            Column("metric", "the metric's rank", "rank", decimals=0),
            Column(
                "difference",
                "difference",
                "number",
                decimals=0,
                help="The metric's place minus people's.",
            ),
            Column(
                "beyond",
                "beyond the ranges",
                "number",
                decimals=0,
                help="Places between the two ranges: above 0 ranked too low by the metric, below 0 "
                "too high.",
            ),
        ),
        rows=tuple(
            Row(
                row.name,
                {
                    "system": Cell(row.name),
                    "human": Cell(row.human[0], ci=(row.human[1], row.human[2])),
                    "metric": Cell(row.metric[0], ci=(row.metric[1], row.metric[2])),
                    "difference": Cell(row.difference),
                    "beyond": Cell(row.beyond),
                },
                swatch=row.swatch,
            )
            for row in rows
        ),
        sort=("human", False),
        signature=signature,
    )
