"""The system leaderboard's table, made from a stored answer. No statistics are computed here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from urllib.parse import urlencode

from common.estimates import Estimate, Undefined
from common.tables import Cell, Column, Row, Table, estimate_cell, mark_best
from common.tables.lane import Lane
from common.tables.numerals import letter
from common.tables.to_html import TableWriter
from leaderboard.answers.systems import RankedSystem, ScoringMetric, SystemStanding
from leaderboard.board_text import board_signature, design_text, name_of, who_handed_in
from leaderboard.pages.systems.figures.rank_differences import RankDifference

COMPARE_FORM = "compare-systems"
FEW_METRICS = 3
"""So many metrics are shown beside people until the reader chooses: with more of them the table is
wider than a page."""
CORRECTED = Column(
    "corrected",
    "Severity-corrected",
    "estimate",
    group="people",
    higher_is_better=True,
    help="The mean that raters of average severity would have given, 95 % interval over dialogues.",
    detail=True,
)
INTERVALS = (
    "Intervals: 95 %, of the mean over other dialogues: each dialogue left out in turn, with "
    "Student's t of the dialogues less one degrees of freedom."
)


def system_board(
    document: SystemStanding,
    updated: datetime | None,
    kinds: Collection[str] = (),
    corrected: Mapping[int, Estimate] | None = None,
    search: str = "",
) -> Table:
    """One row a system: mean human rating with interval, rank range and band; then its score on
    each metric. ``corrected``: the severity-corrected means, by the systems' positions; None where
    they are not known. ``kinds``, ``search`` (part of a name): the rows to show."""
    columns = [
        Column("system", "System", "link"),
        Column("kind", "Kind", detail=True),
        Column(
            "human",
            "Human mean",
            "estimate",
            group="people",
            higher_is_better=True,
            help="95 % interval over dialogues.",
        ),
        Column(
            "rank",
            "Rank",
            "rank",
            decimals=0,
            group="people",
            help="1 + systems that are clearly better, to the worst place possible.",
        ),
        *(() if corrected is None else (CORRECTED,)),
        Column(
            "items",
            "Rated",
            "number",
            decimals=0,
            group="people",
            help="Rated responses, or dialogues, behind the mean.",
            detail=True,
        ),
    ]
    columns += [
        Column(
            _metric_key(metric.metric),
            name_of(metric.metric, metric.submitted),
            "number",
            group="metrics",
            higher_is_better=metric.higher_is_better,
            help=_system_score_help(metric),
            detail=True,
        )
        for metric in document.metrics
    ]
    keys = [_metric_key(metric.metric) for metric in document.metrics]
    rows = tuple(
        _system_row(system, keys, corrected, document)
        for system in shown_systems(document, kinds, search)
    )
    table = Table(
        id="system-leaderboard",
        caption=f"Systems, {document.corpus}, aspect {document.aspect}",
        columns=tuple(columns),
        rows=rows,
        sort=("human", True),
        notes=(
            "Rank: 1 + the number of systems whose interval lies wholly above this one's; then "
            "the worst place that the intervals allow. Systems in one band are not significantly "
            "different.",
            INTERVALS,
            *((f"{design}.",) if (design := design_text(document.design)) else ()),
        ),
        signature=board_signature(document, document.aspect),
        updated=updated,
        pick_form=COMPARE_FORM if len(document.systems) > 1 else "",
    )
    return mark_best(table)


def shown_systems(
    document: SystemStanding, kinds: Collection[str], search: str
) -> list[RankedSystem]:
    """Those of these kinds (of all, where none is named) whose name holds the search."""
    return [
        system
        for system in document.systems
        if (not kinds or system.kind in kinds) and search.casefold() in system.system.casefold()
    ]


def system_lane(systems: Sequence[RankedSystem], scale: tuple[float, float] | None) -> Lane | None:
    """The mean ratings on their scale, from its lowest to its highest rating; without a known
    scale, as wide as the intervals. None where nobody rated."""
    means = [system.human for system in systems if system.human.value is not None]
    ends = [end for mean in means for end in (mean.value, *(mean.ci or ())) if end is not None]
    if not ends:
        return None
    return Lane("human", scale or (min(ends), max(ends)), kind="people")


def shown_columns(table: Table, metrics: Sequence[str], nearest: Sequence[str]) -> str:
    """The columns that show until the reader chooses: mean and rank of people, and a few metrics:
    the first of ``nearest``, and where these are too few the first of all. A badge has the kind."""
    first = [one for one in nearest if one in metrics]
    shown = list(dict.fromkeys([*first, *metrics]))[:FEW_METRICS]
    others = {_metric_key(metric) for metric in metrics} - {_metric_key(metric) for metric in shown}
    others |= {"kind", "items", CORRECTED.key}
    return ",".join(column.key for column in table.columns if column.key not in others)


def with_ranks(
    board: TableWriter, metric: str, places: Mapping[int, RankDifference]
) -> TableWriter:
    """The board with the systems' places by ``metric`` beside people's; ``places`` by the systems'
    positions."""
    column = Column(
        "by-metric",
        f"Rank by {metric}",
        "rank",
        decimals=0,
        group="people",
        help=f"The place by {metric} among the systems that people rated, with the places that its "
        "interval leaves open. It misleads where that range and people's do not meet.",
        detail=True,
    )
    cells = [
        _place_cell(metric, places.get(row.swatch) if row.swatch is not None else None)
        for row in board.table.rows
    ]
    return board.with_column(
        column, cells, after="corrected" if board.table.column("corrected") else "rank"
    )


def _place_cell(metric: str, place: RankDifference | None) -> Cell:
    if place is None:
        return Cell(reason=f"people or {metric} have no score of it that compares")
    return Cell(
        place.metric[0], ci=place.metric[1:], note=f"ranked {place.words}" if place.words else ""
    )


def _system_score_help(metric: ScoringMetric) -> str:
    submitted = metric.submitted
    scored = submitted.level if submitted else "turn"
    made = (
        "A score of the whole system" if scored == "system" else f"Mean over the system's {scored}s"
    )
    direction = "higher" if metric.higher_is_better else "lower"
    sender = f" {who_handed_in(submitted)}" if submitted else ""
    return f"{made}; {direction} is better.{sender} {metric.signature}"


def _metric_key(configuration: str) -> str:
    """What a column is called in addresses and files. A comma separates columns there, so it cannot
    be part of one."""
    return f"metric-{configuration.replace(',', ';')}"


def _system_row(
    system: RankedSystem,
    metric_keys: list[str],
    corrected: Mapping[int, Estimate] | None,
    document: SystemStanding,
) -> Row:
    """Its name leads to its comparison with another system."""
    compared = urlencode({"first": system.system, "aspect": document.aspect})
    letters = "" if system.band is None else letter(system.band - 1)
    rank = (
        Cell(reason=system.human.reason or "no interval, so no rank")
        if system.rank is None or system.worst_rank is None
        else Cell(system.rank, ci=(system.rank, system.worst_rank), letters=letters)
    )
    cells = {
        "system": Cell(
            system.system, href=f"compare/?{compared}" if len(document.systems) > 1 else ""
        ),
        "kind": Cell(system.kind),
        "human": estimate_cell(system.human),
        "rank": rank,
        "items": Cell(system.items),
    }
    for key, score in zip(metric_keys, system.scores, strict=True):
        cells[key] = Cell(reason=score.reason) if isinstance(score, Undefined) else Cell(score)
    if corrected is not None:
        estimate = corrected.get(system.position)
        cells["corrected"] = (
            Cell(reason="not computed for this system")
            if estimate is None
            else estimate_cell(estimate)
        )
    badges = (system.kind,) if system.kind != "agent" else ()
    return Row(
        f"system-{system.position}",
        cells,
        badges=badges,
        swatch=system.position,
        pick=system.system,
    )
