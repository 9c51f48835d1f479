"""The metric leaderboard's table, made from a stored answer (JSON). No statistics are computed here."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from annotations.tables import Cell, Column, Row, Table
from leaderboard.board_words import board_signature, who_handed_in
from leaderboard.estimate_cells import (
    COEFFICIENT_NAMES,
    COEFFICIENTS,
    LEFT_OUT,
    ceiling_cell,
    cell_of,
    coverage_badges,
    coverage_cell,
    coverage_column,
    coverage_note,
    of_all_levels,
)
from workers.metric_list import kind_of, page_of

CEILING = "human-ceiling"


def metric_board(document: dict[str, Any], updated: datetime) -> Table:
    """One row a metric: coefficients × levels with intervals; the human ceiling as a row that does not compete."""
    levels = list(document["human_ceiling"])
    columns = [
        Column("metric", "Metric", "link"),
        Column("about", "Kind", "link", help="Leads to what it measures, and how it does elsewhere.", detail=True),
    ]
    for level in levels:
        columns += [
            Column(
                f"{level}-{name}",
                symbol,
                "estimate",
                group=f"{level} level",
                help=f"{COEFFICIENT_NAMES[name]} with people at {level} level, 95 % interval over dialogues.",
                higher_is_better=True,
                detail=name != "pearson",
            )
            for name, symbol in COEFFICIENTS
        ]
        columns.append(
            Column(
                f"{level}-n",
                "n",
                "number",
                decimals=0,
                group=f"{level} level",
                help=f"Pairs at {level} level.",
                detail=True,
            )
        )
        columns.append(coverage_column(level))
    by_metric: dict[str, dict[str, dict[str, Any]]] = {}
    for row in document["rows"]:
        by_metric.setdefault(row["metric"], {})[row["level"]] = row
    rows = [_metric_row(document, metric, by_level) for metric, by_level in by_metric.items()]
    rows.append(_ceiling_row(document))
    return Table(
        id="metric-leaderboard",
        caption=f"Correlation of metrics with people, {document['corpus']}, aspect {document['aspect']}",
        columns=tuple(columns),
        rows=_strongest_marked(tuple(rows), columns, by_metric),
        sort=(f"{levels[0]}-pearson", True),
        notes=_metric_notes(document),
        signature=board_signature(document),
        updated=updated,
    )


def _metric_row(document: dict[str, Any], metric: str, by_level: dict[str, dict[str, Any]]) -> Row:
    link = "?" + urlencode({"metric": metric, "aspect": document["aspect"]}) + "#plots"
    first = next(iter(by_level.values()))
    submitted = first.get("submitted")
    note = who_handed_in(submitted) if submitted else first.get("worth", "")
    cells = {"metric": Cell(metric, href=link, note=note)}
    for level, row in by_level.items():
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = cell_of(row[name], note=coverage_note(row))
        cells[f"{level}-n"] = Cell(row["n"])
        cells[f"{level}-coverage"] = coverage_cell(row)
    cells["about"] = (
        Cell(reason="it was handed in as scores") if submitted else Cell(kind_of(metric).heading, href=page_of(metric))
    )
    badges = (
        *(("submitted",) if submitted else ()),
        *(() if first["higher_is_better"] else ("lower is better",)),
        *coverage_badges(by_level.values()),
    )
    return Row(f"metric-{metric}", cells, badges=badges, signature=of_all_levels(first["signature"]))


def _ceiling_row(document: dict[str, Any]) -> Row:
    cells = {"metric": Cell("human ceiling", note="one rater against the others, leave-one-out")}
    for level, values in document["human_ceiling"].items():
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = ceiling_cell(values, name)
        cells[f"{level}-n"] = Cell(reason="a mean over raters")
        cells[f"{level}-coverage"] = Cell(reason="people's own scores")
    cells["about"] = Cell(reason="it is no metric")
    return Row(CEILING, cells, badges=("people",))


def _strongest_marked(
    rows: tuple[Row, ...], columns: list[Column], by_metric: dict[str, dict[str, dict[str, Any]]]
) -> tuple[Row, ...]:
    """Best is the strongest agreement in the metric's own direction: of a distance, the most negative coefficient."""
    direction = {
        f"metric-{metric}": 1 if next(iter(by_level.values()))["higher_is_better"] else -1
        for metric, by_level in by_metric.items()
    }
    best: dict[str, float] = {}
    for column in columns:
        strengths = [
            direction[row.id] * number
            for row in rows
            if row.id in direction and column.kind == "estimate" and (number := row.cell(column.key).number) is not None
        ]
        if len(strengths) > 1:
            best[column.key] = max(strengths)
    return tuple(
        replace(
            row,
            cells={
                key: replace(cell, best=True)
                if key in best and cell.number is not None and direction[row.id] * cell.number == best[key]
                else cell
                for key, cell in row.cells.items()
            },
        )
        if row.id in direction
        else row
        for row in rows
    )


def _metric_notes(document: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"Intervals: 95 %, from {document['resamples']} draws of dialogues (seed {document['seed']}). "
        f"Undefined values say why. {LEFT_OUT}",
        "Human ceiling: each rater's scores against the mean of the others', averaged over raters. "
        "Bold: the strongest agreement of the column; it is not said to differ from the next.",
    )
