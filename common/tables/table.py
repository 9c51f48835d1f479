"""A table before it is drawn: columns, rows and cells that know what they hold and why they are
empty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from common.estimates import Estimate

Kind = Literal["text", "number", "estimate", "rank", "p", "link"]
"""``text`` and ``link`` are read from the left. ``number``, ``estimate`` (a number with its
interval), ``rank`` (a whole number with its range) and ``p`` ("< 0.001" where it is smaller) are
figures, right-aligned, with the same decimals in the whole column."""
FIGURES: frozenset[Kind] = frozenset({"number", "estimate", "rank", "p"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        key: name in URLs, CSV headings and JSON.
        label: text of the header.
        kind: how its values are shown.
        decimals: number of decimals of its figures.
        help: explanation of the column.
        group: header above the labels of neighbouring columns.
        higher_is_better: direction; None where there is none: nothing is then marked best in this
            column.
        detail: whether it folds away on the cards of a phone until the reader asks for every
            column.
    """

    key: str
    label: str
    kind: Kind = "text"
    decimals: int = 3
    help: str = ""
    group: str = ""
    higher_is_better: bool | None = None
    detail: bool = False

    @property
    def is_figure(self) -> bool:
        return self.kind in FIGURES


@dataclass(frozen=True, slots=True)
class Cell:
    """One value with its interval, or no value and the ``reason``.

    A number that is not finite is no number: the cell becomes undefined and says so.

    Attributes:
        value: text or number; None where it is undefined.
        ci: (low, high) in the value's units; of a rank the range of ranks. None where it has none.
        p: p-value in [0, 1]; None where it has none.
        reason: why ``value`` is None.
        best: whether it is the best of its column.
        href: address that the value links to.
        note: remark on the value.
        letters: of a compact letter display: rows that share one are not significantly different.
        bars: shares from 0 to 1, drawn in the place of the value, which says them in words for
            screen readers and downloads.
        generalises_to: in a few words what the interval generalises to, shown beside it.
        p_reason: for downloads, why there is no p where others have one.
    """

    value: str | float | int | None = None
    ci: tuple[float, float] | None = None
    p: float | None = None
    reason: str = ""
    best: bool = False
    href: str = ""
    note: str = ""
    letters: str = ""
    bars: tuple[float, ...] = ()
    generalises_to: str = ""
    p_reason: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            object.__setattr__(self, "value", None)
            object.__setattr__(self, "reason", self.reason or "the result is not a finite number")
        if self.value is None or (self.ci is not None and not all(map(math.isfinite, self.ci))):
            object.__setattr__(self, "ci", None)
        if self.value is None or (self.p is not None and not math.isfinite(self.p)):
            object.__setattr__(self, "p", None)

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    @property
    def number(self) -> float | None:
        """The value as a float, or None where it is text or undefined."""
        return None if self.value is None or isinstance(self.value, str) else float(self.value)


NOTHING = Cell(reason="not available")
"""What stands where a row has no cell for a column."""


@dataclass(frozen=True, slots=True)
class Row:
    """``badges`` are short words beside the row's name ("simulated", "gold"). ``swatch`` is the
    system's stable number, which fixes its colour and marker on every page."""

    id: str
    cells: Mapping[str, Cell]
    badges: tuple[str, ...] = ()
    swatch: int | None = None
    signature: str = ""
    """How this row's numbers were made, where the table's own signature does not say all of it. In
    downloads."""
    pick: str = ""
    """What ticking the row sends as ``pick`` with the table's ``pick_form``; "" for a row that
    cannot be ticked."""

    def cell(self, key: str) -> Cell:
        """The row's cell in a column.

        Args:
            key: key of the column.

        Returns:
            The cell; ``NOTHING``, which is undefined, where the row has none.
        """
        return self.cells.get(key, NOTHING)


@dataclass(frozen=True, slots=True)
class Table:
    """``sort`` is (column key, descending), or None where the rows stand in an order of their own.

    ``id`` is unique on its page and usable in a file name. The first column names the row.
    ``signature`` says how the numbers were made, ``updated`` when.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sort: tuple[str, bool] | None = None
    notes: tuple[str, ...] = field(default=())
    signature: str = ""
    updated: datetime | None = None
    pick_form: str = ""
    """The id of a form on the page that takes ticked rows, e.g. to compare two; "" where rows are
    not ticked."""

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) != len(keys):
            raise ValueError(f"table {self.id!r} has two columns with one key: {keys}")

    def column(self, key: str) -> Column | None:
        """The column with a key.

        Args:
            key: key of the column.

        Returns:
            The column; None where there is none.
        """
        return next((column for column in self.columns if column.key == key), None)


def estimate_cell(estimate: Estimate, note: str = "", generalises_to: str = "") -> Cell:
    """The cell of a statistic.

    Args:
        estimate: value with its interval and p-value, or the reason why there is none.
        note: remark on the value.
        generalises_to: in a few words what the interval generalises to.

    Returns:
        A cell; undefined, with the reason, where the estimate is. A value whose interval or p does
        not exist keeps the reason for that as part of its note.
    """
    if estimate.value is None:
        return Cell(reason=estimate.reason)
    no_interval = f"no interval: {estimate.reason}" if estimate.reason else ""
    no_p = f"no p: {estimate.p_reason}" if estimate.p_reason else ""
    parts = (note, no_interval, no_p, estimate.ci_remark)
    return Cell(
        estimate.value,
        ci=estimate.ci,
        p=estimate.p,
        p_reason=estimate.p_reason,
        note="; ".join(part for part in parts if part),
        generalises_to=generalises_to if estimate.ci else "",
    )
