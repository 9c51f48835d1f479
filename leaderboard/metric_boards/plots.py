"""From the correlations that are stored to the picture of the metric leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from common.estimates import Estimate
from common.tables.numerals import written_interval
from leaderboard.estimate_cells import COEFFICIENT_NAMES, coverage_badges
from leaderboard.figures import Figure
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.metric_boards.board import chosen_estimate
from leaderboard.metric_boards.filters import GLOBAL, VARIANTS, BoardParams
from leaderboard.metric_boards.letters import SHARED_LETTER, Letters
from leaderboard.plots import ceiling_of, estimate_of, people_estimate


def forest_figure(
    document: Mapping[str, Any], params: BoardParams, letters: Letters | None
) -> Figure:
    """Every metric's chosen coefficient at the chosen level, the ceiling and one rater's agreement
    as lines. A distance is turned round, and says so: the farther to the right, the better a metric
    follows people."""
    rows = [row for row in document["rows"] if row["level"] == params.level]
    name = COEFFICIENT_NAMES[params.coefficient]
    variant = "" if params.shown_variant == GLOBAL else f", {VARIANTS[params.shown_variant]}"
    turned = any(not row["higher_is_better"] for row in rows)
    lines, of_lines = _lines(document, params)
    scopes = list(dict.fromkeys(row["generalises_to"] for row in rows if "generalises_to" in row))
    return forest(
        [_forest_row(row, params, letters) for row in rows],
        figure_id=f"forest-{params.level}",
        title=f"{name} with human scores of {document['aspect']}, {params.level} level{variant}",
        across=f"{name}, {params.level} level",
        ceilings=lines,
        letters=SHARED_LETTER,
        remark=" ".join(
            part
            for part in (
                f"Intervals speak of {scopes[0]}." if len(scopes) == 1 else "",
                _heavy_tails(rows, params),
                of_lines,
                "Where lower is better, the sign is turned round." if turned else "",
            )
            if part
        ),
        signature=f"{document['corpus']} {document['corpus_version']}, "
        f"systems:{document.get('systems_chosen', 'all')}",
    )


def _heavy_tails(rows: Sequence[Mapping[str, Any]], params: BoardParams) -> str:
    marked = [
        row
        for row in rows
        if chosen_estimate(row, params.coefficient, params.shown_variant).get("ci_remark")
    ]
    if not marked:
        return ""
    names = ", ".join(label_of(row) for row in marked[:NAMED])
    more = f" and {len(marked) - NAMED} more" if len(marked) > NAMED else ""
    return (
        f"Heavy tails, so the interval of r may be too narrow: {names}{more}; that of Spearman's "
        "ρ holds."
    )


NAMED = 6
"""More names than this stand in the table, not in the caption."""


def _forest_row(row: Mapping[str, Any], params: BoardParams, letters: Letters | None) -> ForestRow:
    estimate = estimate_of(chosen_estimate(row, params.coefficient, params.shown_variant))
    return ForestRow(
        label_of(row),
        estimate if row["higher_is_better"] else _turned(estimate),
        letters.of(row["metric"]) if letters is not None else "",
        note=" ".join(part for part in (f"n = {row['n']}", *coverage_badges([dict(row)])) if part),
    )


def _turned(estimate: Estimate) -> Estimate:
    if estimate.value is None:
        return estimate
    ci = None if estimate.ci is None else (-estimate.ci[1], -estimate.ci[0])
    return replace(estimate, value=-estimate.value, ci=ci)


def _lines(document: Mapping[str, Any], params: BoardParams) -> tuple[list[tuple[str, float]], str]:
    """Upright lines with their labels, and what the caption says of them, or why there are none."""
    if params.shown_variant != GLOBAL:
        return [], ""
    ceiling = ceiling_of(document, params.level, params.coefficient)
    one_rater = people_estimate(
        document["leave_one_out_agreement"], params.level, params.coefficient
    )
    named = (
        ("ceiling (√reliability)", ceiling.value),
        ("one rater (leave-one-out)", one_rater.value),
    )
    lines = [(label, value) for label, value in named if value is not None]
    if ceiling.value is None:
        return lines, f"No ceiling of a perfect metric: {ceiling.reason}."
    interval = f", 95 % interval {written_interval(ceiling.ci, 2)}" if ceiling.ci else ""
    return (
        lines,
        f"The ceiling is the highest correlation that a perfect metric could reach{interval}.",
    )


def label_of(row: Mapping[str, Any]) -> str:
    marked = "submitted" in row and not row["metric"].endswith("(submitted)")
    turned = () if row["higher_is_better"] else ("(turned round)",)
    return " ".join([f"{row['metric']} (submitted)" if marked else row["metric"], *turned])
