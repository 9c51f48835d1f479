"""The system leaderboard's table, made from a stored answer (JSON). No statistics are computed here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotations.tables import Cell, Column, Row, Table, mark_best
from leaderboard.board_words import board_signature, is_unmarked, who_handed_in
from leaderboard.estimate_cells import cell_of
from leaderboard.figures.rank_differences import RankDifference

COMPARE_FORM = "compare-systems"
ALL_METRICS, FEW_METRICS = 8, 6
"""So many metrics are shown beside people; of more than that only a few until the reader chooses: what nobody can read
at once is nothing to wait for."""
INTERVALS = (
    "Intervals: 95 %, of the mean over other dialogues: each dialogue left out in turn, with Student's t of the "
    "dialogues less one degrees of freedom."
)


@dataclass(frozen=True)
class Beside:
    """What other stored answers say of the systems, by their positions.

    ``corrected``: the severity-corrected means in their JSON form, None where they are not asked for. ``by_metric``:
    the places by the metric ``metric`` beside people's.
    """

    corrected: Mapping[int, dict[str, Any]] | None = None
    metric: str = ""
    by_metric: Mapping[int, RankDifference] = field(default_factory=dict)


def system_board(
    document: dict[str, Any], updated: datetime | None, kinds: Collection[str] = (), beside: Beside | None = None
) -> Table:
    """One row a system: mean human rating with interval, rank range and band; then its score on each metric."""
    beside = beside or Beside()
    columns = [
        Column("system", "System"),
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
        *_columns_beside(beside),
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
            _metric_key(metric["metric"]),
            f"{metric['metric']} (submitted)" if is_unmarked(metric) else metric["metric"],
            "number",
            group="metrics",
            higher_is_better=metric["higher_is_better"],
            help=_system_score_help(metric),
            detail=True,
        )
        for metric in document["metrics"]
    ]
    keys = [_metric_key(metric["metric"]) for metric in document["metrics"]]
    rows = tuple(
        _system_row(system, keys, beside) for system in document["systems"] if not kinds or system["kind"] in kinds
    )
    table = Table(
        id="system-leaderboard",
        caption=f"Systems, {document['corpus']}, aspect {document['aspect']}",
        columns=tuple(columns),
        rows=rows,
        sort=("human", True),
        notes=(
            "Rank: 1 + the number of systems whose interval lies wholly above this one's; then the worst place that "
            "the intervals allow. Systems in one band cannot be told apart.",
            INTERVALS,
        ),
        signature=board_signature(document),
        updated=updated,
        pick_form=COMPARE_FORM if len(document["systems"]) > 1 else "",
    )
    return mark_best(table)


def shown_columns(table: Table, document: Mapping[str, Any], nearest: Sequence[str]) -> str:
    """The columns that show until the reader chooses: all that people say, and of many metrics a few: the first of
    ``nearest``, and where these are too few the first of the document."""
    metrics = [metric["metric"] for metric in document["metrics"]]
    if len(metrics) > ALL_METRICS:
        metrics = list(dict.fromkeys([*(one for one in nearest if one in metrics), *metrics]))[:FEW_METRICS]
    shown = {_metric_key(metric) for metric in metrics}
    others = {_metric_key(metric["metric"]) for metric in document["metrics"]} - shown
    return ",".join(column.key for column in table.columns if column.key not in others)


def _columns_beside(beside: Beside) -> list[Column]:
    columns = []
    if beside.corrected is not None:
        columns.append(
            Column(
                "corrected",
                "Severity-corrected",
                "estimate",
                group="people",
                higher_is_better=True,
                help="The mean that raters of average severity would have given, 95 % interval over dialogues.",
                detail=True,
            )
        )
    if beside.by_metric:
        columns.append(
            Column(
                "by-metric",
                f"Rank by {beside.metric}",
                "rank",
                decimals=0,
                group="people",
                help=f"The place by {beside.metric} among the systems that people rated, with the places that its "
                "interval leaves open. It misleads where that range and people's do not meet.",
                detail=True,
            )
        )
    return columns


def _system_score_help(metric: dict[str, Any]) -> str:
    submitted = metric.get("submitted")
    scored = submitted["level"] if submitted else "turn"
    made = "A score of the whole system" if scored == "system" else f"Mean over the system's {scored}s"
    direction = "higher" if metric["higher_is_better"] else "lower"
    sender = f" {who_handed_in(submitted)}" if submitted else ""
    return f"{made}; {direction} is better.{sender} {metric['signature']}"


def _metric_key(configuration: str) -> str:
    """What a column is called in addresses and files. A comma separates columns there, so it cannot be part of one."""
    return f"metric-{configuration.replace(',', ';')}"


def _system_row(system: dict[str, Any], metric_keys: list[str], beside: Beside) -> Row:
    # The ranking counts bands from 1, cells from 0.
    band = None if system["band"] is None else system["band"] - 1
    rank = (
        Cell(reason=system["human"].get("reason") or system["human"].get("ci_reason") or "no interval, so no rank")
        if system["rank"] is None
        else Cell(system["rank"], ci=(system["rank"], system["worst_rank"]), band=band)
    )
    cells = {
        "system": Cell(system["system"]),
        "kind": Cell(system["kind"]),
        "human": cell_of(system["human"]),
        "rank": rank,
        "items": Cell(system["items"]),
    }
    for key, score in zip(metric_keys, system["scores"], strict=True):
        cells[key] = Cell(reason=score["reason"]) if isinstance(score, dict) else Cell(score)
    cells |= _cells_beside(system["position"], beside)
    badges = (system["kind"],) if system["kind"] != "agent" else ()
    return Row(f"system-{system['position']}", cells, badges=badges, swatch=system["position"], pick=system["system"])


def _cells_beside(position: int, beside: Beside) -> dict[str, Cell]:
    cells = {}
    if beside.corrected is not None:
        estimate = beside.corrected.get(position)
        cells["corrected"] = Cell(reason="not computed for this system") if estimate is None else cell_of(estimate)
    if beside.by_metric:
        place = beside.by_metric.get(position)
        cells["by-metric"] = (
            Cell(reason=f"people or {beside.metric} have no score of it that compares")
            if place is None
            else Cell(place.metric[0], ci=place.metric[1:], note=f"ranked {place.words}" if place.words else "")
        )
    return cells
