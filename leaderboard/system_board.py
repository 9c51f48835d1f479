"""The system leaderboard's table, made from a stored answer (JSON). No statistics are computed here."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from annotations.tables import Cell, Column, Row, Table, mark_best
from leaderboard.board_words import board_signature, is_unmarked, who_handed_in
from leaderboard.estimate_cells import (
    cell_of,
)


def system_board(document: dict[str, Any], updated: datetime, kinds: Collection[str] = ()) -> Table:
    """One row a system: mean human rating with interval, rank range and band; then its score on each metric."""
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
    rows = tuple(_system_row(system, keys) for system in document["systems"] if not kinds or system["kind"] in kinds)
    table = Table(
        id="system-leaderboard",
        caption=f"Systems, {document['corpus']}, aspect {document['aspect']}",
        columns=tuple(columns),
        rows=rows,
        sort=("human", True),
        notes=(
            "Rank: 1 + the number of systems whose interval lies wholly above this one's; then the worst place that "
            "the intervals allow. Systems in one band cannot be told apart.",
            f"Intervals: 95 %, from {document['resamples']} draws of dialogues (seed {document['seed']}).",
        ),
        signature=board_signature(document),
        updated=updated,
    )
    return mark_best(table)


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


def _system_row(system: dict[str, Any], metric_keys: list[str]) -> Row:
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
    badges = (system["kind"],) if system["kind"] != "agent" else ()
    return Row(f"system-{system['position']}", cells, badges=badges, swatch=system["position"])
