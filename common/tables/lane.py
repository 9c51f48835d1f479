"""The chart in a table: every row's estimate as dot and whisker in one wide column, on one scale
with an axis in the header.

Positions are percentages, so that the drawing takes the width of its column without a script or a
style attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10
from typing import Literal

from common.tables.numerals import written
from common.tables.table import Cell

Kind = Literal["computed", "people", "judge", "baseline", "own"]
MARGIN = 0.04
"""Of the scale, on either side."""
LINE = 14
"""Pixels of a line of labels in the header."""
TICKS = 6


@dataclass(frozen=True, slots=True)
class Mark:
    """An upright line through all rows, such as the correlation ceiling."""

    label: str
    value: float
    kind: Kind


@dataclass(frozen=True, slots=True)
class Lane:
    """What is drawn beside one column of a table.

    Attributes:
        column: key of the column whose values and intervals are drawn.
        scale: (low, high) of the axis, at least as wide as what is drawn.
        marks: upright lines.
        kinds: by row id, rows that stand out: a baseline, what people reach, a judge, or the
            reader's own.
        kind: whose estimates all other rows are.
        hollow: ids of rows that are significantly different from the best.
    """

    column: str
    scale: tuple[float, float]
    marks: tuple[Mark, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    kind: Kind = "computed"
    hollow: frozenset[str] = frozenset()

    def header_svg(self) -> str:
        """The axis and the labels of the marks: an ``<svg>`` element, hidden from screen
        readers."""
        height = LINE * (len(self.marks) + 1) + 6
        parts = [
            f'<text x="{self._share(tick)}" y="{height - 6}">{written(tick, decimals)}</text>'
            for tick, decimals in ticks(self.scale)
        ]
        for number, mark in enumerate(self.marks):
            share = self._fraction(mark.value)
            anchor = " end" if share > 0.75 else " start" if share < 0.25 else ""
            parts.append(
                f'<text class="{mark.kind}{anchor}" x="{self._share(mark.value)}" '
                f'y="{LINE * (number + 1) - 3}">{escape(mark.label)}</text>'
            )
        return f'<svg height="{height}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'

    def row_svg(self, row_id: str, cell: Cell) -> str:
        """A row's dot and whisker between the lines that pass through all rows.

        Args:
            row_id: of the row, for its kind.
            cell: of the lane's column; an undefined one has neither dot nor whisker.

        Returns:
            An ``<svg>`` element, hidden from screen readers: the cell beside it has the numbers.
        """
        low, high = self.scale
        parts = [_upright("zero", self._share(0))] if low < 0 < high else []
        parts += [_upright(mark.kind, self._share(mark.value)) for mark in self.marks]
        if cell.ci is not None:
            first, last = (self._share(end) for end in cell.ci)
            parts.append(f'<line class="whisker-line" x1="{first}" x2="{last}" y1="50%" y2="50%"/>')
        if cell.number is not None:
            parts.append(f'<circle cx="{self._share(cell.number)}" cy="50%" r="4.5"/>')
        state = " hollow" if row_id in self.hollow else ""
        kind = self.kinds.get(row_id, self.kind)
        return (
            f'<svg class="of-{kind}{state}" aria-hidden="true" focusable="false">'
            f"{''.join(parts)}</svg>"
        )

    def _fraction(self, number: float) -> float:
        low, high = self.scale
        share = 0.5 if high <= low else (number - low) / (high - low)
        return MARGIN + (1 - 2 * MARGIN) * min(max(share, 0.0), 1.0)

    def _share(self, number: float) -> str:
        return f"{100 * self._fraction(number):.2f}%"


def _upright(kind: str, share: str) -> str:
    return f'<line class="{kind}" x1="{share}" x2="{share}" y1="0" y2="100%"/>'


def ticks(scale: tuple[float, float]) -> list[tuple[float, int]]:
    """Round numbers within a scale.

    Args:
        scale: (low, high).

    Returns:
        (number, decimals that write it), rising, ``TICKS`` at most; none where the scale has no
        width.
    """
    low, high = scale
    if high <= low:
        return []
    size = 10.0 ** floor(log10(high - low))
    step = next(
        one * size / 10
        for one in (1, 2, 5, 10, 20, 50, 100)
        if floor(high / (one * size / 10)) - ceil(low / (one * size / 10)) < TICKS
    )
    decimals = max(0, -floor(log10(step) + 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [(number * step, decimals) for number in range(first, last + 1)]
