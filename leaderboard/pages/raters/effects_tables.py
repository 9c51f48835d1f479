"""The tables and sentences of rater effects, made from a stored answer. No statistics are
computed here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import written
from leaderboard.answers.raters import CorrectedSystem, RaterEffect, RaterEffects
from leaderboard.pages.raters.figures import RaterRow

NEGLIGIBLE_DIFFERENCE = 0.005
"""Rating points: where all means change by as much as this, their differences do not."""


def effects_signature(document: RaterEffects) -> str:
    return (
        f"corpus:{document.corpus}|corpus_version:{document.corpus_version}|"
        f"aspect:{document.aspect}|level:{document.level}|model:system+dialogue+item+rater|"
        "components:reml|ci:jackknife-over-dialogues"
    )


def corrected_table(document: RaterEffects, updated: datetime | None) -> Table:
    """Each system's raw and corrected mean, and whether its place changes."""
    return Table(
        id="corrected-means",
        caption=f"System means without the raters' severity, {document.corpus}, aspect "
        f"{document.aspect}",
        columns=(
            Column("system", "System"),
            Column(
                "raw",
                "Raw mean",
                "estimate",
                decimals=2,
                help="Mean over rated items, 95 % interval.",
            ),
            Column(
                "corrected",
                "Corrected mean",
                "estimate",
                decimals=2,
                higher_is_better=True,
                help="As the panel's mean rater would have rated, 95 % interval over dialogues.",
            ),
            Column(
                "change",
                "Change",
                "number",
                decimals=3,
                help="Corrected less raw, in rating points.",
            ),
            Column(
                "raw-place",
                "Raw place",
                "number",
                decimals=0,
                help="By value, from 1.",
                detail=True,
            ),
            Column(
                "corrected-place", "Corrected place", "number", decimals=0, help="By value, from 1."
            ),
            Column("moves", "Moves", help="Places up or down when severity is taken out."),
        ),
        rows=tuple(_system_row(system) for system in document.systems),
        sort=("corrected", True),
        notes=(
            "A system that strict raters happened to judge rises, one that lenient raters judged "
            "falls. Places are by value alone; where intervals overlap, the order is not settled "
            "by either mean.",
        ),
        signature=effects_signature(document),
        updated=updated,
    )


def _system_row(system: CorrectedSystem) -> Row:
    without = next((one.reason for one in (system.corrected, system.raw) if not one.is_defined), "")
    cells = {
        "system": Cell(system.system),
        "raw": estimate_cell(system.raw),
        "corrected": estimate_cell(system.corrected),
        "change": Cell(system.change, reason=without),
        "raw-place": Cell(system.raw_place, reason=without),
        "corrected-place": Cell(system.corrected_place, reason=without),
        "moves": Cell(reason=without) if system.change is None else Cell(moves(system)),
    }
    badges = (system.kind,) if system.kind != "agent" else ()
    return Row(f"system-{system.position}", cells, badges=badges, swatch=system.position)


def moves(system: CorrectedSystem) -> str:
    """``up 2``, ``down 1`` or ``stays``."""
    by = system.rise
    return "stays" if by == 0 else f"{'up' if by > 0 else 'down'} {abs(by)}"


def rater_table(document: RaterEffects, updated: datetime | None) -> Table:
    """One row a rater: severity, how many ratings and of how many systems, their mean and spread,
    agreement."""
    return Table(
        id="raters",
        caption=f"Raters, {document.corpus}, aspect {document.aspect}",
        columns=(
            Column("rater", "Rater"),
            Column(
                "severity",
                "Severity",
                "estimate",
                decimals=2,
                help="Rating points below the panel's mean rater, all else equal; negative: "
                "lenient. 95 % interval.",
            ),
            Column(
                "mean",
                "Mean score",
                "number",
                decimals=2,
                help="Of the rater's ratings, whatever was rated.",
            ),
            Column(
                "spread",
                "Spread",
                "number",
                decimals=2,
                help="Standard deviation of the rater's scores.",
            ),
            Column(
                "agreement",
                "r with the others",
                "estimate",
                decimals=2,
                help="Pearson's r with the mean of the other raters on items that both judged, 95 "
                "% interval.",
            ),
            Column("ratings", "Ratings", "number", decimals=0),
            Column(
                "systems", "Systems", "number", decimals=0, help="Of how many systems.", detail=True
            ),
        ),
        rows=tuple(_rater_row(rater) for rater in document.raters),
        sort=("severity", True),
        signature=effects_signature(document),
        updated=updated,
    )


def _rater_row(rater: RaterEffect) -> Row:
    return Row(
        f"rater-{rater.position}",
        {
            "rater": Cell(rater.rater),
            "severity": estimate_cell(rater.severity),
            "mean": Cell(rater.mean),
            "spread": Cell(rater.spread, reason="a single rating has no spread"),
            "agreement": estimate_cell(rater.agreement.r),
            "ratings": Cell(rater.ratings),
            "systems": Cell(rater.systems),
        },
    )


def rater_rows(document: RaterEffects) -> list[RaterRow]:
    """For the figures, those with most ratings first."""
    everyone = sorted(document.raters, key=lambda one: (-one.ratings, one.position))
    return [
        RaterRow(
            one.rater,
            one.ratings,
            one.severity,
            one.shares,
        )
        for one in everyone
    ]


def key_figures(document: RaterEffects) -> list[tuple[str, str, str]]:
    deviation = document.deviation
    figures = [("Ratings", written(document.ratings, 0), f"{document.level} level")]
    if document.raters:  # a place in a list, or a mean, is nobody
        figures.append(("Raters", written(len(document.raters), 0), ""))
    if deviation:
        figures += [
            (
                "Raters differ by",
                written(deviation.rater, 2),
                "standard deviation of severity, points",
            ),
            (
                "Items differ by",
                written(deviation.item, 2),
                "of one system, standard deviation, points",
            ),
            (
                "One rating errs by",
                written(deviation.error, 2),
                "what is left, standard deviation, points",
            ),
        ]
    return figures


def in_one_sentence(document: RaterEffects) -> str:
    """What the correction did, in words."""
    changed = [system for system in document.systems if system.change is not None]
    if not changed or not document.deviation:
        return ""
    changes = {one.system: one.change for one in changed if one.change is not None}
    if max(changes.values()) - min(changes.values()) < NEGLIGIBLE_DIFFERENCE:
        return (
            "The raters judged all systems alike, so their severity leaves the order and the "
            "differences as they are."
        )
    largest = max(changes, key=lambda name: abs(changes[name]))
    moved = [system.system for system in changed if moves(system) != "stays"]
    order = (
        f"{len(moved)} of {len(changed)} systems change their place: {_named(moved)}."
        if moved
        else "No system changes its place."
    )
    return (
        f"Taking severity out moves the means by at most {written(abs(changes[largest]), 2)} "
        f"points ({largest}). {order}"
    )


def _named(names: Sequence[str], most: int = 5) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
