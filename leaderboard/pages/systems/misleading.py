"""Where metrics mislead about systems: a table of all metrics and the picture of a chosen one, from
a stored answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from urllib.parse import urlencode

from common.tables import Cell, Column, Row, Table
from leaderboard.answers.systems import MisleadingMetric, MisleadingMetrics
from leaderboard.board_text import board_signature
from leaderboard.figures import Figure
from leaderboard.pages.systems.figures.rank_differences import RankDifference, rank_differences

TABLE = "misleading-metrics"


def metrics_of(metrics: Sequence[MisleadingMetric]) -> list[MisleadingMetric]:
    """Those that order two systems at least, what misleads most first."""
    ordering = [one for one in metrics if one.placed > 1]
    return sorted(ordering, key=lambda one: (-one.misled, -one.worst, -one.differences))


def nearest_to_people(metrics: Sequence[MisleadingMetric]) -> list[str]:
    """Names of those that order systems, by how far on the mean their places lie from people's."""
    ordering = sorted(metrics_of(metrics), key=lambda one: one.differences / one.placed)
    return [one.metric for one in ordering]


def rows_of(document: MisleadingMetrics, metric: str) -> list[RankDifference]:
    names = {one.position: one.system for one in document.systems}
    (found,) = [one for one in document.metrics if one.metric == metric]
    return [
        RankDifference(
            names[row.position],
            row.position,
            (row.place, row.best, row.worst),
            (row.metric_place, row.metric_best, row.metric_worst),
            row.beyond,
        )
        for row in found.rows
    ]


def misleading_figure(document: MisleadingMetrics, metric: str) -> Figure:
    return rank_differences(
        rows_of(document, metric),
        figure_id="rank-differences",
        metric=metric,
        aspect=document.aspect,
        signature=board_signature(document, document.aspect),
    )


def misleading_table(
    document: MisleadingMetrics, updated: datetime | None, preserved: Collection[tuple[str, str]]
) -> Table:
    """``preserved``: what of the page's address stays in the links that choose a metric."""
    rows = []
    for one in metrics_of(document.metrics):
        link = "?" + urlencode([*preserved, ("metric", one.metric)]) + "#misleading"
        worst = _worst(document, one.metric)
        rows.append(
            Row(
                f"metric-{one.metric}",
                {
                    "metric": Cell(one.metric, href=link),
                    "misled": Cell(one.misled),
                    "of": Cell(one.placed),
                    "worst": Cell(one.worst),
                    "apart": Cell(one.differences / one.placed),
                    "example": Cell(_example(worst), reason="no place differs")
                    if worst
                    else Cell(reason="none differs"),
                },
                badges=() if one.higher_is_better else ("lower is better",),
            )
        )
    return Table(
        id=TABLE,
        caption=f"Metrics' ranking of systems next to the human ranking, {document.corpus}, "
        f"aspect {document.aspect}",
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
        signature=board_signature(document, document.aspect),
        updated=updated,
    )


def misleading_text(document: MisleadingMetrics) -> str:
    ordering = metrics_of(document.metrics)
    if not ordering:
        return ""
    worst = [one for one in ordering if one.misled]
    if not worst and len(ordering) == 1:
        return f"{ordering[0].metric} puts no system where people’s order cannot have it."
    if not worst:
        return (
            f"None of the {len(ordering)} metrics puts a system where people’s order cannot have "
            "it: where orders differ, they do so within what the intervals leave open."
        )
    first = worst[0]
    row = _worst(document, first.metric)
    example = f" {_example(row)}." if row else ""
    return (
        f"{len(worst)} of {len(ordering)} metrics put systems where people’s order cannot have "
        f"them; {first.metric} misleads most, on {first.misled} of "
        f"{first.placed}.{example}"
    )


def _worst(document: MisleadingMetrics, metric: str) -> RankDifference | None:
    rows = rows_of(document, metric)
    worst = max(rows, key=lambda row: (abs(row.beyond), abs(row.difference)), default=None)
    return worst if worst is not None and worst.difference else None


def _example(row: RankDifference | None) -> str | None:
    return (
        None
        if row is None
        else f"{row.name}: place {row.human[0]} for people, {row.metric[0]} for the metric"
    )
