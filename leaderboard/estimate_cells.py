"""Cells of correlations: what boards and the pages of metrics share."""

from __future__ import annotations

from collections.abc import Iterable

from common.tables import Cell, Column
from leaderboard.answers.metrics import CorrelationRow

COEFFICIENTS = (("pearson", "r"), ("spearman", "ρ"), ("kendall", "τ"))
COEFFICIENT_NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
}


LEFT_OUT = (
    "What a metric has no score for is left out of its own correlations, pair by pair, and never "
    "filled in."
)


def format_share(share: float) -> str:
    """``83 %``; what is not all never reads as all."""
    words = f"{share:.0%}".replace("%", " %")
    return "over 99 %" if words == "100 %" and share < 1 else words


def is_partial(coverage: float | None) -> bool:
    """Whether the metric has no score for some of what people rated."""
    return coverage is not None and coverage < 1


def coverage_text(coverage: float | None) -> str:
    """ "" where everything that people rated has a score."""
    if coverage is None or coverage >= 1:
        return ""
    return f"{format_share(coverage)} of what people rated has a score"


def coverage_note(row: CorrelationRow) -> str:
    return "; ".join(part for part in (row.note, coverage_text(row.coverage)) if part)


def coverage_column(level: str) -> Column:
    return Column(
        f"{level}-coverage",
        "coverage",
        "number",
        decimals=2,
        group=f"{level} level",
        help="The share of what people rated that has a score. The rest is left out, and never "
        "filled in.",
        detail=True,
    )


def coverage_cell(row: CorrelationRow) -> Cell:
    return Cell(row.coverage, reason="nobody rated anything")


def coverage_badges(rows: Iterable[CorrelationRow]) -> tuple[str, ...]:
    """Beside the metric's name, where it left something out: ``83 % scored``."""
    partial = [share for row in rows if (share := row.coverage) is not None and share < 1]
    return (f"{format_share(min(partial))} scored",) if partial else ()


def of_all_levels(signature: str) -> str:
    """Level and n differ from column to column and stand there; the rest of the signature is one
    for the row."""
    return "|".join(
        fact for fact in signature.split("|") if fact.partition(":")[0] not in ("level", "n")
    )
