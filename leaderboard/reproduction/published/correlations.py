"""What a paper's table of correlations is made of, where it holds metrics against people's ratings
of responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Coefficient = Literal["pearson", "spearman"]
Level = Literal["turn", "dialogue"]
BOTH: tuple[Coefficient, ...] = ("pearson", "spearman")
NOT_SIGNIFICANT = "*"


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Rated responses that a paper's column is of."""

    key: str
    title: str
    slugs: tuple[str, ...]
    """What it may be called here where nobody says otherwise."""
    how: str
    """What follows ``manage.py import_corpus`` where it is not there."""
    rated: str
    """The human score that the paper takes, and of how much."""


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    significant: bool
    """False where the paper's p is not below its bound."""
    p: float | None = None
    """As printed; "<0.0001" is 0.0001. None where the paper prints none."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    metric: str
    group: str
    figures: tuple[Figure, ...]
    """In the order of the table's columns: set by set, coefficient by coefficient."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    number: str
    title: str
    sets: tuple[str, ...]
    """Keys, in the order of the columns."""
    coefficients: tuple[Coefficient, ...]
    rows: tuple[PublishedRow, ...]
    level: Level = "turn"

    def figures_of(self, row: PublishedRow, key: str) -> dict[str, Figure]:
        """By coefficient, of one set."""
        width, place = len(self.coefficients), self.sets.index(key)
        return dict(
            zip(
                map(str, self.coefficients),
                row.figures[place * width : (place + 1) * width],
                strict=True,
            )
        )
