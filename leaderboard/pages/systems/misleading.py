"""Where metrics mislead about systems: a table of all metrics and the picture of a chosen one, from
a stored answer."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from common.tables import Cell, Column, Row, Table
from leaderboard.board_text import board_signature
from leaderboard.figures import Figure
from leaderboard.pages.systems.figures.rank_differences import RankDifference, rank_differences

TABLE = "misleading-metrics"


def metrics_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that order two systems at least, what misleads most first."""
    ordering = [one for one in document["metrics"] if one["placed"] > 1]
    return sorted(ordering, key=lambda one: (-one["misled"], -one["worst"], -_apart(one)))


def nearest_to_people(document: dict[str, Any]) -> list[str]:
    """Names of those that order systems, by how far on the mean their places lie from people's."""
    ordering = sorted(metrics_of(document), key=lambda one: _apart(one) / one["placed"])
    return [one["metric"] for one in ordering]


def rows_of(document: dict[str, Any], metric: str) -> list[RankDifference]:
    names = {one["position"]: one["system"] for one in document["systems"]}
    (found,) = [one for one in document["metrics"] if one["metric"] == metric]
    return [
        RankDifference(
            names[position],
            position,
            (place, best, worst),
            (by_metric, its_best, its_worst),
            beyond,
        )
        for position, place, best, worst, by_metric, its_best, its_worst, _, beyond in found["rows"]
    ]


def misleading_figure(document: dict[str, Any], metric: str) -> Figure:
    return rank_differences(
        rows_of(document, metric),
        figure_id="rank-differences",
        metric=metric,
        aspect=document["aspect"],
        signature=board_signature(document),
    )


def misleading_table(
    document: dict[str, Any], updated: datetime | None, preserved: Collection[tuple[str, str]]
) -> Table:
    """``preserved``: what of the page's address stays in the links that choose a metric."""
    rows = []
    for one in metrics_of(document):
        link = "?" + urlencode([*preserved, ("metric", one["metric"])]) + "#misleading"
        worst = _worst(document, one["metric"])
        rows.append(
            Row(
                f"metric-{one['metric']}",
                {
                    "metric": Cell(one["metric"], href=link),
                    "misled": Cell(one["misled"]),
                    "of": Cell(one["placed"]),
                    "worst": Cell(one["worst"]),
                    "apart": Cell(_apart(one) / one["placed"]),
                    "example": Cell(_example(worst), reason="no place differs")
                    if worst
                    else Cell(reason="none differs"),
                },
                badges=() if one["higher_is_better"] else ("lower is better",),
            )
        )
    return Table(
        id=TABLE,
        caption=f"Metrics' ranking of systems next to the human ranking, {document['corpus']}, "
        f"aspect {document['aspect']}",
        columns=(
            Column("metric", "Metric", "link"),
            Column(
                "misled",
                "Misled",
                "number",
                decimals=0,
                help="Systems whose two rank ranges do not meet.",
            ),
            Column(
                "of",
                "of systems",
                "number",
                decimals=0,
                help="Systems that people and the metric have scored.",
            ),
            Column(
                "worst",
                "Farthest",
                "number",
                decimals=0,
                help="Places between the two ranges of the worst case.",
            ),
            Column(
                "apart",
                "Mean difference",
                "number",
                decimals=1,
                higher_is_better=False,
                help="Of the place by the metric and the place by people, without regard to "
                "intervals.",
            ),
            Column("example", "Widest difference", detail=True),
        ),
        rows=tuple(rows),
        notes=(
            "A metric misleads on a system where the places that its 95 % interval leaves open "
            "and those that people's leave open do not meet. Gold answers are left out of metrics "
            "that compare with them.",
        ),
        signature=board_signature(document),
        updated=updated,
    )


def misleading_text(document: dict[str, Any]) -> str:
    ordering = metrics_of(document)
    if not ordering:
        return ""
    worst = [one for one in ordering if one["misled"]]
    if not worst and len(ordering) == 1:
        return f"{ordering[0]['metric']} puts no system where people’s order cannot have it."
    if not worst:
        return (
            f"None of the {len(ordering)} metrics puts a system where people’s order cannot have "
            "it: where orders differ, they do so within what the intervals leave open."
        )
    first = worst[0]
    row = _worst(document, first["metric"])
    example = f" {_example(row)}." if row else ""
    return (
        f"{len(worst)} of {len(ordering)} metrics put systems where people’s order cannot have "
        f"them; {first['metric']} misleads most, on {first['misled']} of "
        f"{first['placed']}.{example}"
    )


def _worst(document: dict[str, Any], metric: str) -> RankDifference | None:
    rows = rows_of(document, metric)
    worst = max(rows, key=lambda row: (abs(row.beyond), abs(row.difference)), default=None)
    return worst if worst is not None and worst.difference else None


def _example(row: RankDifference | None) -> str | None:
    return (
        None
        if row is None
        else f"{row.name}: place {row.human[0]} for people, {row.metric[0]} for the metric"
    )


def _apart(metric: dict[str, Any]) -> int:
    return sum(abs(row[7]) for row in metric["rows"])
