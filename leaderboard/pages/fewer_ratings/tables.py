"""What the page of fewer ratings shows, made from stored answers (JSON). No statistics are computed
here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import written
from leaderboard.answers.fewer_ratings import PoweredSystem, PredictionPowered, WhatIf
from leaderboard.answers.metrics import MetricCorrelations
from leaderboard.pages.fewer_ratings.figures import TwoMeans, WidthAt

LEAST_TO_TRUST = 20
"""Rated dialogues: with fewer the narrower of two intervals is narrow by luck
(docs/statistics_fewer_ratings.md)."""


def metrics_by_correlation(correlations: MetricCorrelations) -> list[tuple[str, str]]:
    """(metric, how well it goes with people), best first, of those with scores of what people
    rated: responses, or dialogues where only these were rated. By Pearson's r in the metric's own
    direction; undefined ones come last."""
    defined = {row.level for row in correlations.rows if row.pearson.is_defined}
    level = "turn" if "turn" in defined else "dialogue"
    found = []
    for row in correlations.rows:
        if row.level == level:
            value = row.pearson.value
            strength = -2.0 if value is None else value if row.higher_is_better else -value
            words = "r undefined" if value is None else f"r = {written(value, 2)}"
            found.append((strength, row.metric, words))
    return [(metric, words) for _, metric, words in sorted(found, key=lambda one: -one[0])]


def powered_signature(document: PredictionPowered) -> str:
    return (
        f"{document.signature}|aspect:{document.aspect}|ci:ppi++-over-dialogues-t95|"
        f"seed:{document.seed}"
    )


def powered_table(document: PredictionPowered, updated: datetime | None) -> Table:
    """Each system's mean from the ratings alone and with the metric, and how many ratings that
    equals."""
    return Table(
        id="powered-means",
        caption=f"System means from the ratings alone and with {document.metric}, "
        f"{document.corpus}, aspect {document.aspect}",
        columns=(
            Column("system", "System"),
            Column(
                "alone",
                "Ratings alone",
                "estimate",
                decimals=2,
                help="95 % interval over dialogues.",
            ),
            Column("powered", "Ratings and metric", "estimate", decimals=2, higher_is_better=True),
            Column(
                "gain",
                "Effective sample size (×)",
                "number",
                decimals=2,
                help="So many times the ratings would give the same interval without the metric.",
            ),
            Column(
                "rated",
                "Rated",
                "number",
                decimals=0,
                help="Responses, or dialogues, with a rating and a score.",
            ),
            Column(
                "unrated",
                "Not rated",
                "number",
                decimals=0,
                help="Those with a score of the metric alone.",
            ),
            Column("dialogues", "Dialogues rated", "number", decimals=0, detail=True),
            Column(
                "lambda",
                "λ",
                "number",
                decimals=2,
                help="How far the metric is used: 0 not at all, 1 fully.",
            ),
        ),
        rows=tuple(_row(system) for system in document.systems),
        sort=("powered", True),
        notes=(
            "The metric need not be right about a system: its error on the rated responses is "
            "taken out. It helps as far as it tells the better responses of one system from its "
            "worse ones.",
        ),
        signature=powered_signature(document),
        updated=updated,
    )


def _row(system: PoweredSystem) -> Row:
    cells = {
        "system": Cell(system.system),
        "alone": estimate_cell(system.ratings_alone),
        "powered": estimate_cell(system.powered, note=system.remark),
        "gain": Cell(system.gain.value, reason=system.gain.reason),
        "rated": Cell(system.rated),
        "unrated": Cell(system.unrated),
        "dialogues": Cell(system.dialogues_rated),
        "lambda": Cell(system.tuning),
    }
    badges = (system.kind,) if system.kind != "agent" else ()
    return Row(f"system-{system.position}", cells, badges=badges, swatch=system.position)


def what_if_table(document: PredictionPowered, at: WhatIf, updated: datetime | None) -> Table:
    """Each system's widths with so many rated dialogues: one point of the curve, system by
    system."""
    by_position = {one.position: one for one in at.systems}
    reason = "too few of the drawn dialogues are this system's, or all its ratings are equal"

    def row(system: PoweredSystem) -> Row:
        one = by_position[system.position]
        cells = {
            "system": Cell(system.system),
            "alone": Cell(one.width_alone, reason=reason),
            "powered": Cell(one.width, reason=reason),
            "gain": Cell(one.gain, reason=reason),
        }
        badges = (system.kind,) if system.kind != "agent" else ()
        return Row(f"what-if-{system.position}", cells, badges=badges, swatch=system.position)

    return Table(
        id="what-if",
        caption=f"Mean width of each system's interval with {at.dialogues} rated dialogues",
        columns=(
            Column("system", "System"),
            Column(
                "alone",
                "Ratings alone",
                "number",
                decimals=2,
                help="Rating points from end to end.",
            ),
            Column("powered", "Ratings and metric", "number", decimals=2, higher_is_better=False),
            Column(
                "gain",
                "Effective sample size (×)",
                "number",
                decimals=2,
                help="Without the metric, this many times the ratings would give the same width: "
                "(width alone / width)².",
            ),
        ),
        rows=tuple(row(system) for system in document.systems),
        sort=("gain", True),
        notes=(
            f"Means of {document.draws} draws of dialogues (seed {document.seed}). With "
            f"fewer than {LEAST_TO_TRUST} rated dialogues the widths flatter the metric, for the "
            "narrower of two intervals is kept: simulated on USR with 10, 1.10 times the ratings "
            "by widths were 1.02 by the error of the means.",
        ),
        signature=powered_signature(document),
        updated=updated,
    )


def two_means(document: PredictionPowered) -> list[TwoMeans]:
    return [
        TwoMeans(
            system.system,
            system.position,
            system.ratings_alone,
            system.powered,
            system.remark,
        )
        for system in document.systems
    ]


def points_of_all(curve: Sequence[WhatIf]) -> list[WhatIf]:
    """The points of the curve at which as many systems have a width as at any: a mean of fewer
    systems beside it would be a mean of others. Where systems answer different dialogues, few drawn
    ones are too few for most of them."""
    defined = [sum(system.gain is not None for system in one.systems) for one in curve]
    return [one for one, count in zip(curve, defined, strict=True) if count == max(defined)]


def usual_point(points: list[WhatIf]) -> WhatIf | None:
    """The fewest dialogues at which widths do not flatter the metric; else the most there are."""
    return next(
        (one for one in points if one.dialogues >= LEAST_TO_TRUST),
        points[-1] if points else None,
    )


def curve_points(points: list[WhatIf]) -> list[WidthAt]:
    return [WidthAt(one.dialogues, one.width_alone, one.width, one.gain) for one in points]


def caveat_lines(
    document: PredictionPowered, points: list[WhatIf]
) -> list[tuple[str, int, list[tuple[int, float]]]]:
    """(system, position, (dialogues, times the ratings) pairs) of every system."""
    found: dict[int, list[tuple[int, float]]] = {}
    for one in points:
        for system in one.systems:
            if system.gain is not None:
                found.setdefault(system.position, []).append((one.dialogues, system.gain))
    return [
        (system.system, system.position, found.get(system.position, []))
        for system in document.systems
    ]


def has_unrated(document: PredictionPowered) -> bool:
    return any(system.unrated for system in document.systems)


def in_one_sentence(document: PredictionPowered, at: WhatIf | None) -> str:
    """How many ratings the metric saves."""
    gains = [system.gain.value for system in document.systems if system.gain.value is not None]
    if has_unrated(document) and gains:
        best = max(gains)
        return (
            f"With {document.metric} on the responses that nobody rated, the intervals are as "
            f"narrow as with up to {written(best, 2)} times the ratings alone."
        )
    if at is None:
        return ""
    saved = 100 * (1 - 1 / at.gain)
    if saved < 2:
        return (
            f"Every response is rated, so {document.metric} has nothing to add. With "
            f"{at.dialogues} rated dialogues it would hardly have saved any ratings."
        )
    return (
        f"Every response is rated, so {document.metric} has nothing to add. With "
        f"{at.dialogues} rated dialogues it would have saved {written(saved, 0)} % of the "
        "ratings for intervals of the same width."
    )
