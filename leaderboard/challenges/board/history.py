"""Each team's best score over time: which of its submissions improved it, and the chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import chart_layout, escape_latex
from leaderboard.figures.figure import Figure

SHORTEST_AXIS = timedelta(hours=1)
"""Less is drawn in the middle of more, so that an axis does not count tenths of a second."""
TEAMS_DRAWN = 12
"""More lines cannot be told from each other; the data have all."""


@dataclass(frozen=True, slots=True)
class TeamHistory:
    """``points``: (when it came, its score) of each submission that improved the team's best, the
    first included, in the order in which they came. ``swatch`` is that of the team's row."""

    team: str
    swatch: int
    points: tuple[tuple[datetime, float], ...]


def improvements(
    scores: Iterable[tuple[datetime, float]], higher_is_better: bool
) -> list[tuple[datetime, float]]:
    """Those scores that are better than all before.

    Args:
        scores: (when, score) in the order of time; NaN where a submission has none.
        higher_is_better: the metric's direction.

    Returns:
        The first score, and every later one that is better than the best until then.
    """
    found: list[tuple[datetime, float]] = []
    for at, score in scores:
        if score != score:  # NaN
            continue
        if not found or (score > found[-1][1] if higher_is_better else score < found[-1][1]):
            found.append((at, score))
    return found


def history_figure(
    teams: Sequence[TeamHistory],
    *,
    metric: str,
    until: datetime,
    baseline: float | None = None,
    signature: str = "",
) -> Figure:
    """A stepped line a team, in the order of ``teams``, the best first; ``baseline`` is a line
    across, ``until`` where lines end."""
    table = _table(teams, metric, signature)
    if not teams:
        reason = "No team has a score yet."
        return Figure("history", reason, reason, table, signature=signature, empty_reason=reason)
    drawn = teams[:TEAMS_DRAWN]
    layout = chart_layout("submitted (UTC)", metric)
    layout["xaxis"] |= {"type": "date"}
    begun = min(at for one in drawn for at, _ in one.points)
    if until - begun < SHORTEST_AXIS:
        ends = begun - SHORTEST_AXIS, until + SHORTEST_AXIS
        layout["xaxis"]["range"] = [_written_time(end) for end in ends]
    if baseline is not None:
        layout["shapes"] = [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": baseline,
                "y1": baseline,
                "line": {"width": 1, "dash": "dot"},
            }
        ]
    rest = len(teams) - len(drawn)
    across = f"; dotted: best baseline, {written(baseline, 3)}" if baseline is not None else ""
    more = f" Drawn: the best {TEAMS_DRAWN}; the data have all." if rest > 0 else ""
    leader = teams[0]
    return Figure(
        id="history",
        caption=f"Each mark is a submission that improved its team's {metric}{across}.{more}",
        alternative=f"Best {metric} of {len(teams)} teams over time. {leader.team} is now at "
        f"{written(leader.points[-1][1], 3)}.",
        points=table,
        data=[_line(one, until) for one in drawn],
        layout=layout,
        signature=signature,
        legend=tuple((one.team, one.swatch) for one in drawn),
    )


def _line(one: TeamHistory, until: datetime) -> dict[str, Any]:
    """The last best score goes on until now, without a mark."""
    times = [_written_time(at) for at, _ in one.points]
    scores = [score for _, score in one.points]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape_latex(one.team),
        "x": [*times, _written_time(max(until, one.points[-1][0]))],
        "y": [*scores, scores[-1]],
        "line": {"shape": "hv", "color": colour(one.swatch), "width": 2},
        "marker": {
            "color": colour(one.swatch),
            "symbol": shape(one.swatch),
            "size": [9] * len(scores) + [0],
        },
        "meta": {"series": colour_number(one.swatch)},
        "hovertext": [
            f"{escape_latex(one.team)}<br>{at}<br>{written(score, 3)}"
            for at, score in zip(times, scores, strict=True)
        ]
        + [""],
        "hoverinfo": "text",
    }


def _written_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _table(teams: Sequence[TeamHistory], metric: str, signature: str) -> Table:
    return Table(
        id="history-data",
        caption=f"Submissions that improved their team's {metric}",
        columns=(
            Column("team", "team"),
            Column("at", "submitted (UTC)"),
            Column("score", metric, "number"),
        ),
        rows=tuple(
            Row(
                f"{one.swatch}-{number}",
                {"team": Cell(one.team), "at": Cell(_written_time(at)), "score": Cell(score)},
                swatch=one.swatch,
            )
            for one in teams
            for number, (at, score) in enumerate(one.points)
        ),
        signature=signature,
    )
