"""The chart in the metric leaderboard's table: the chosen coefficient of every row with its
interval, the ceiling and response length as lines through all rows. Judges have a colour of their
own."""

from __future__ import annotations

from collections.abc import Collection

from common.estimates import Estimate
from common.tables.lane import Kind, Lane, Mark
from common.tables.numerals import written
from leaderboard.answers.metrics import MetricCorrelations
from leaderboard.pages.metrics.filters import GLOBAL, BoardParams, method_of
from leaderboard.pages.metrics.letters import Letters
from leaderboard.pages.metrics.tables import BASELINE_ROW, CEILING, PEOPLE, chosen_estimate


def metric_lane(
    document: MetricCorrelations,
    params: BoardParams,
    letters: Letters | None,
    best: str,
    tied: Collection[str],
) -> Lane | None:
    """``best``: the metric that correlates best, ``tied`` those that are not significantly
    different from it. None where nothing has a value."""
    rows = [row for row in (*document.rows, *document.baseline) if row.level == params.level]
    estimates = [chosen_estimate(row, params.coefficient, params.shown_variant) for row in rows]
    marks = _marks(document, params)
    ends = [end for one in estimates for end in _ends(one)] + [mark.value for mark in marks]
    if params.shown_variant == GLOBAL:
        for key, _, _ in PEOPLE:
            if getattr(document, key):
                ends += _ends(document.people(key, params.level, params.coefficient))
    if not ends:
        return None
    compared = letters.groups if letters is not None else ()
    kinds: dict[str, Kind] = {
        f"metric-{row.metric}": "judge"
        for row in rows
        if method_of(row.metric, row.submitted is not None) == "judge"
    }
    kinds |= {key.replace("_", "-"): "people" for key, _, _ in PEOPLE}
    return Lane(
        column=params.column,
        scale=(min(0.0, *ends), max(ends)),
        marks=marks,
        kinds=kinds | {BASELINE_ROW: "baseline"},
        hollow=frozenset(
            f"metric-{metric}" for metric in compared if metric != best and metric not in tied
        ),
    )


def _ends(estimate: Estimate) -> list[float]:
    return [] if estimate.value is None else [estimate.value, *(estimate.ci or ())]


def _marks(document: MetricCorrelations, params: BoardParams) -> tuple[Mark, ...]:
    baseline = document.baseline_at(params.level)
    length = (
        chosen_estimate(baseline, params.coefficient, params.shown_variant).value
        if baseline is not None
        else None
    )
    ceiling = (
        document.people(CEILING, params.level, params.coefficient).value
        if params.shown_variant == GLOBAL
        else None
    )
    found: list[tuple[str, float | None, Kind]] = [
        ("ceiling", ceiling, "people"),
        ("response length", length, "baseline"),
    ]
    return tuple(
        Mark(f"{label} {written(value, 2)}", value, kind)
        for label, value, kind in found
        if value is not None
    )
