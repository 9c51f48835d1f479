"""Raters side by side: how strict each is, and how each uses the scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import (
    ROWS_DRAWN,
    ends,
    escape_latex,
    format_interval,
    highest,
    rows_layout,
    sample_text,
)
from leaderboard.figures.figure import Figure
from leaderboard.figures.forest import ForestRow, forest

LARGEST_DOT = 28
ENDS = ("most lenient", "strictest")


@dataclass(frozen=True, slots=True)
class RaterRow:
    """``shares``: of the rater's ratings that give each step of the scale, in the order of the
    steps; None where the scores are not steps."""

    name: str
    ratings: int
    severity: Estimate
    shares: tuple[float, ...] | None = None


def severity_forest(rows: Sequence[RaterRow], *, figure_id: str, signature: str = "") -> Figure:
    """The strictest on top; the line at 0 is the mean of the panel."""
    return forest(
        [
            ForestRow(row.name, row.severity, note=f"{written(row.ratings, 0)} ratings")
            for row in rows
        ],
        figure_id=figure_id,
        title="Severity: rating points below what the panel's mean rater would give",
        across="severity, rating points (right: strict, left: lenient)",
        what="rater",
        ceilings=(("mean rater", 0.0),),
        higher_is_better=None,
        both_ends=ENDS,
        signature=signature,
    )


def scale_use(
    rows: Sequence[RaterRow], steps: Sequence[float], *, figure_id: str, signature: str = ""
) -> Figure:
    """A row a rater, the same and in the same order as in the severity plot: for each score a dot
    whose area is its share. Where nobody's severity is known, the first of ``rows`` on top."""
    labels = [f"{step:g}" for step in steps]
    table = Table(
        id=f"{figure_id}-data",
        caption="Share of each rater's ratings that give each score",
        columns=(
            Column("rater", "rater"),
            Column("ratings", "ratings", "number", decimals=0),
            *(Column(f"score-{label}", label, "number", decimals=3) for label in labels),
        ),
        rows=tuple(
            Row(
                row.name,
                {
                    "rater": Cell(row.name),
                    "ratings": Cell(row.ratings),
                    **{
                        f"score-{label}": Cell(share)
                        for label, share in zip(labels, row.shares or (), strict=False)
                    },
                },
            )
            for row in rows
        ),
        signature=signature,
    )
    ordered, order, cut = _drawn(rows)
    known = sum(bool(row.shares) for row in rows)
    shown = [(row, row.shares) for row in ordered if row.shares]
    if not shown:
        reason = "The scores are not steps of a scale, so there are no shares to draw."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    layout = rows_layout("score", [row.name for row, _ in shown])
    capacity = 0.6 * (min((b - a for a, b in pairwise(steps)), default=1.0))
    layout["xaxis"] |= {
        "tickmode": "array",
        "tickvals": list(steps),
        "ticktext": labels,
        "range": [steps[0] - capacity, steps[-1] + capacity],
    }
    extreme = [max(zip(shares, labels, strict=True))[1] for _, shares in shown]
    return Figure(
        id=figure_id,
        caption=" ".join(
            part
            for part in (
                f"Use of the scale, n = {known} raters{order}. The area of a dot is the share of "
                "the rater's ratings that give this score.",
                cut,
            )
            if part
        ),
        alternative=f"Dots for {len(shown)} raters and {len(labels)} scores. Most given score, "
        "from the top: "
        f"{', '.join(reversed(extreme[-12:]))}{', …' if len(extreme) > 12 else ''}.",
        points=table,
        data=[
            _dots([shares[index] for _, shares in shown], step, shown)
            for index, step in enumerate(steps)
        ],
        layout=layout,
        signature=signature,
    )


def _drawn(rows: Sequence[RaterRow]) -> tuple[Sequence[RaterRow], str, str]:
    """From the bottom: the rows; what the caption says of their order, and of those that are left
    out. Who has no severity stands at the bottom, and is left out first."""
    known = sorted(
        ((row, row.severity.value) for row in rows if row.severity.value is not None),
        key=lambda pair: pair[1],
    )
    by_severity = [row for row, _ in known]
    others = [row for row in reversed(rows) if row.severity.value is None]
    if not known:
        return highest(others), "", sample_text(len(rows), f"{ROWS_DRAWN} with most ratings")
    order = ", in the order of severity"
    if len(rows) <= ROWS_DRAWN:
        return [*others, *by_severity], order, ""
    if len(known) <= ROWS_DRAWN:
        return by_severity, order, sample_text(len(rows), f"{len(known)} whose severity is known")
    return ends(by_severity), order, format_interval(len(known), *ENDS)


def _dots(
    shares: Sequence[float], step: float, shown: Sequence[tuple[RaterRow, tuple[float, ...] | None]]
) -> dict[str, Any]:
    given = [index for index, share in enumerate(shares) if share > 0]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{step:g}",
        "x": [step] * len(given),
        "y": given,
        "marker": {
            "color": colour(0),
            "symbol": "circle",
            "size": [_size(shares[index]) for index in given],
        },
        "meta": {"series": colour_number(0)},
        "hovertext": [
            (
                f"{escape_latex(shown[index][0].name)}<br>{written(100 * shares[index], 0)} % "
                f"give {step:g}"
            )
            for index in given
        ],
        "hoverinfo": "text",
    }


def _size(share: float) -> float:
    """Diameter in px: the area goes with the share."""
    return round(max(LARGEST_DOT * sqrt(share), 2.0), 2)
