"""Rater × rater: Cohen's κ of each pair and on how many shared items it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.agreement.cohen import PairKappa, PairwiseKappa, Weighting
from common.tables.numerals import letter

WEIGHTINGS: tuple[Weighting, ...] = ("quadratic", "linear", "unweighted")
TINTS = 5
"""Shades of the matrix: κ below 0.2, below 0.4, …"""


@dataclass(frozen=True, slots=True)
class PairCell:
    """One cell of the matrix: κ of two raters and on how many items it stands, or why there is
    none."""

    value: float | None = None
    items: int = 0
    reason: str = ""
    mark: str = ""
    """The letter under which the reason stands beneath the matrix."""
    tint: int = 0
    is_self: bool = False


@dataclass(frozen=True)
class PairMatrix:
    raters: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PairCell, ...]], ...]
    reasons: tuple[tuple[str, str], ...]
    """(letter, reason) of undefined cells: a thousand buttons would be a thousand stops of the tab
    key."""
    weighting: str
    raters_in_all: int


def pair_matrix(
    kappa: PairwiseKappa,
    weighting: Weighting,
    pseudonyms: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
) -> PairMatrix:
    """Symmetric; raters in the order of joining, of ``only`` where named. Reasons of undefined
    cells stand once, beneath."""
    pairs = kappa.pairs
    everyone = list(
        dict.fromkeys([*(pair.raters[0] for pair in pairs), *(pair.raters[1] for pair in pairs)])
    )
    raters = [name for name in everyone if only is None or name in only]
    reasons: dict[str, str] = {}
    cells: dict[tuple[str, str], PairCell] = {}
    for pair in pairs:
        first, second = pair.raters
        if first in raters and second in raters:
            cells[first, second] = cells[second, first] = _pair_cell(pair, reasons)
    names = pseudonyms or {}

    def cell(row: str, column: str) -> PairCell:
        if row == column:
            return PairCell(is_self=True)
        if (row, column) in cells:
            return cells[row, column]
        reason = _("not among the pairs with most common items; the file has every pair")
        return PairCell(reason=reason, mark=reasons.setdefault(reason, letter(len(reasons))))

    rows = tuple(
        (names.get(row, row), tuple(cell(row, column) for column in raters)) for row in raters
    )
    return PairMatrix(
        tuple(names.get(name, name) for name in raters),
        rows,
        tuple((mark, reason) for reason, mark in reasons.items()),
        weighting,
        len(everyone),
    )


def _pair_cell(pair: PairKappa, reasons: dict[str, str]) -> PairCell:
    value, reason = pair.kappa.value, pair.kappa.reason
    if value is None:
        return PairCell(None, pair.items, reason, reasons.setdefault(reason, letter(len(reasons))))
    tint = min(max(int(value * TINTS), 0), TINTS - 1)
    return PairCell(value, pair.items, tint=tint)
