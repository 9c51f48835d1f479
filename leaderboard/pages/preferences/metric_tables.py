"""Metrics by preferences, as a table made from the stored answer. No statistics are computed
here."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell, mark_best
from common.tables.lane import Kind, Lane, Mark
from common.tables.numerals import letter, written
from leaderboard.answers.preferences import MetricOnPreferences, PreferenceMetrics
from leaderboard.board_text import board_signature, name_of, who_handed_in
from leaderboard.pages.metrics.letters import MOST_LETTERS, SHARED_LETTER
from leaderboard.pages.metrics.tables import BASELINE_ROW, RESPONSE_LENGTH
from workers.runs.metric_list import page_of

ACCURACY = "accuracy"
PEOPLE_ROW = "people"
PEOPLE = "one person with another"
HELP = {
    ACCURACY: "Of votes with a winner, the share that the metric says too; where its two scores "
    "are equal it is half right.",
    "without-ties": "Votes and scores with a winner alone: the share that agree (MT-bench, setup "
    "2; chance 1/2).",
    "with-ties": "All votes, ties as a verdict of their own, which the metric gives where its two "
    "scores are equal (MT-bench, setup 1; chance 1/3).",
    "auc": "The chance that a vote for A has the larger score difference A − B than a vote for B.",
}


def metric_preferences_table(document: PreferenceMetrics, updated: datetime | None) -> Table:
    """One row a metric; people with people and response length as rows that do not compete."""
    columns = (
        Column("metric", "Metric"),
        Column(ACCURACY, "Accuracy", "estimate", higher_is_better=True, help=HELP[ACCURACY]),
        Column(
            "without-ties",
            "Without ties",
            "estimate",
            higher_is_better=True,
            help=HELP["without-ties"],
        ),
        Column("with-ties", "With ties", "estimate", higher_is_better=True, help=HELP["with-ties"]),
        Column("auc", "AUC", "estimate", higher_is_better=True, help=HELP["auc"], detail=True),
        Column(
            "ties-wrong",
            "Ties wrong",
            "estimate",
            help="Accuracy with the metric's ties as wrong.",
            detail=True,
        ),
        Column(
            "calibrated",
            "Ties calibrated",
            "number",
            help="With ties, where differences up to the threshold that suits the metric best "
            "are ties; found on the same votes.",
            detail=True,
        ),
        Column("threshold", "Threshold", "number", detail=True),
        Column("decisive", "Votes", "number", decimals=0, help="Votes with a winner."),
        Column(
            "tied",
            "Ties of the metric",
            "number",
            decimals=0,
            help="Votes with a winner on which its two scores are equal.",
            detail=True,
        ),
        Column(
            "coverage",
            "Coverage",
            "number",
            decimals=2,
            help="The share of votes whose two responses have a score.",
            detail=True,
        ),
    )
    rows = [_metric_row(document, row) for row in document.rows]
    if document.baseline is not None:
        rows.append(
            replace(_metric_row(document, document.baseline), id=BASELINE_ROW, badges=("baseline",))
        )
    rows.append(_people_row(document))
    table = Table(
        id="metric-preferences",
        caption=f"Metrics and preferences, {document.corpus}, aspect {document.aspect}",
        columns=columns,
        rows=tuple(rows),
        sort=(ACCURACY, True),
        notes=_notes(document),
        signature=f"{board_signature(document, document.aspect)}|level:{document.level}",
        updated=updated,
    )
    return mark_best(table, exclude=(BASELINE_ROW, PEOPLE_ROW))


def _metric_row(document: PreferenceMetrics, row: MetricOnPreferences) -> Row:
    most = max((group for one in document.rows for group in one.groups), default=0)
    letters = "" if most >= MOST_LETTERS else "".join(map(letter, row.groups))
    submitted = row.submitted
    cells = {
        "metric": Cell(
            name_of(row.metric, submitted),
            href="" if submitted else page_of(row.metric),
            note=who_handed_in(submitted) if submitted else "",
        ),
        ACCURACY: replace(estimate_cell(row.accuracy), letters=letters),
        "without-ties": estimate_cell(row.ties_left_out),
        "with-ties": estimate_cell(row.with_ties),
        "auc": estimate_cell(row.auc),
        "ties-wrong": estimate_cell(row.ties_wrong),
        "calibrated": Cell(row.calibrated, reason="no vote was scored"),
        "threshold": Cell(row.threshold, reason="no vote was scored"),
        "decisive": Cell(row.decisive),
        "tied": Cell(row.tied),
        "coverage": Cell(row.coverage),
    }
    badges = (
        *(("submitted",) if submitted else ()),
        *(() if row.higher_is_better else ("lower is better",)),
    )
    return Row(f"metric-{row.metric}", cells, badges=badges, signature=row.signature)


def _people_row(document: PreferenceMetrics) -> Row:
    people = document.people
    reason = "no two people voted on the same two responses"

    def cell(estimate: Estimate) -> Cell:
        return Cell(reason=reason) if estimate.value is None else estimate_cell(estimate)

    no_metric = Cell(reason="it is no metric")
    cells = {
        "metric": Cell(PEOPLE),
        ACCURACY: cell(people.accuracy),
        "without-ties": cell(people.without_ties),
        "with-ties": cell(people.with_ties),
        "decisive": Cell(people.decisive_pairs, note="pairs of votes"),
        **dict.fromkeys(
            ("auc", "ties-wrong", "calibrated", "threshold", "tied", "coverage"), no_metric
        ),
    }
    return Row(PEOPLE_ROW, cells, badges=("people",))


def accuracy_lane(document: PreferenceMetrics) -> Lane | None:
    """Accuracies on their scale; response length and people as lines through all rows. None where
    nothing has one."""
    length = document.baseline.accuracy if document.baseline else Estimate(None)
    people = document.people.accuracy
    estimates = [*(row.accuracy for row in document.rows), length, people]
    ends = [end for one in estimates for end in (one.value, *(one.ci or ())) if end is not None]
    if not ends:
        return None
    kinds: dict[str, Kind] = {PEOPLE_ROW: "people", BASELINE_ROW: "baseline"}
    named: list[tuple[str, Estimate, Kind]] = [
        ("people", people, "people"),
        ("response length", length, "baseline"),
    ]
    marks = tuple(
        Mark(f"{label} {written(one.value, 2)}", one.value, kind)
        for label, one, kind in named
        if one.value is not None
    )
    scale = min(0.5, *ends), max(0.5, *ends)
    return Lane(column=ACCURACY, scale=scale, marks=marks, kinds=kinds)


def _notes(document: PreferenceMetrics) -> tuple[str, ...]:
    notes = []
    if any(row.groups for row in document.rows) and document.method:
        count = len(document.rows)
        pairs = "one pair" if count == 2 else f"all {count * (count - 1) // 2} pairs"
        notes.append(f"{SHARED_LETTER} {document.method}; Holm, {pairs}, 5 %.")
    notes += [
        (
            "Intervals: 95 %, Wilson's over conversations. “Both bad” is a tie. Accuracy of "
            "people: how often one person's vote matches another's that has a winner; a tie counts "
            "half."
        ),
        f"Response length. {RESPONSE_LENGTH}",
    ]
    if document.not_on_pairs:
        notes.append(
            "Without scores of what was compared: " + ", ".join(document.not_on_pairs) + "."
        )
    return tuple(notes)
