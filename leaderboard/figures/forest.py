"""Estimates one above the other, each with its interval: a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import (
    LABEL_LINE,
    ROWS_DRAWN,
    ends,
    escape_latex,
    format_interval,
    highest,
    interval_text,
    letter_marks,
    rows_layout,
    sample_text,
    uprights,
    whiskers,
)
from leaderboard.figures.figure import Figure

SHARED_LETTER = "A shared letter: not significantly different."
NAMED_AS_UNDEFINED = 6
"""More names than this stand in the data, not in the caption."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """``letters``: rows that share one are not significantly different. ``swatch``: the number that
    fixes colour and marker; None where rows have none of their own. ``note`` stands under the
    pointer and in the data. ``link``: where the dot leads, below the address of the corpus."""

    name: str
    estimate: Estimate
    letters: str = ""
    swatch: int | None = None
    note: str = ""
    link: str = ""


def forest(
    rows: Sequence[ForestRow],
    *,
    figure_id: str,
    title: str,
    across: str,
    what: str = "metric",
    ceilings: Sequence[tuple[str, float]] = (),
    remark: str = "",
    interval: str = "95 % interval",
    letters: str = SHARED_LETTER,
    higher_is_better: bool | None = True,
    ordered: bool = True,
    both_ends: tuple[str, str] | None = None,
    signature: str = "",
) -> Figure:
    """Every row's estimate as dot and whisker. ``ceilings`` are (label, value) of upright lines.

    The greatest stands on top, or, where ``ordered`` is false, the first of ``rows``. Of many rows
    those on top are drawn, or, with ``both_ends``, as many from below; these are the words for the
    lowest and the highest. What is undefined is named in the caption and keeps its reason in the
    data. ``title`` begins the caption, ``across`` names the axis, ``what`` is what a row is,
    ``remark`` is what the caption also says, a sentence or more, ``letters`` what letters say.
    """
    table = _table(rows, figure_id, title, what, higher_is_better, ordered, signature)
    defined = [(row, row.estimate.value) for row in rows if row.estimate.value is not None]
    missing = [row for row in rows if row.estimate.value is None]
    if not defined:
        reason = f"No {what} has a value to draw yet."
        if missing:
            reason = f"No {what} has a value to draw: {missing[0].estimate.reason}."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined = sorted(defined, key=lambda pair: pair[1]) if ordered else defined[::-1]
    drawn = highest(defined) if both_ends is None else ends(defined)
    shown = [row for row, _ in drawn]
    layout = rows_layout(across, [row.name for row in shown])
    low_end, high_end = _ends(shown, ceilings)
    air = 0.03 * (high_end - low_end) or 0.1
    layout["xaxis"] |= {"zeroline": True, "range": [low_end - air, high_end + air]}
    lines = _lines(layout, ceilings, (low_end + high_end) / 2)
    marks = letter_marks([row.letters for row in shown])
    layout["shapes"] = lines["shapes"]
    layout["annotations"] = [*lines["annotations"], *marks]
    if marks:
        layout["margin"]["r"] = 16 + 8 * max(2, *(len(row.letters) for row in shown))
    low, high = min(defined, key=lambda pair: pair[1]), max(defined, key=lambda pair: pair[1])
    intervals = interval_text((row.estimate for row, _ in defined), interval)
    cut = _sample_text(len(defined), both_ends, ordered)
    ceiling_text = " ".join(
        f"{_sentence(label)}: {written(value, 2)}." for label, value in ceilings
    )
    return Figure(
        id=figure_id,
        caption=" ".join(
            part
            for part in (
                f"{title}, {intervals}, n = {len(defined)} {what}s.",
                cut,
                ceiling_text,
                remark,
                letters if marks else "",
                _undefined_text(missing),
            )
            if part
        ),
        alternative=(
            f"Dot plot of {len(defined)} {what}s. Highest: {high[0].name}, "
            f"{written(high[1], 2)}; lowest: {low[0].name}, {written(low[1], 2)}. "
            f"{' '.join(filter(None, (ceiling_text, cut)))}"
        ).strip(),
        points=table,
        data=[_trace(row, value, index) for index, (row, value) in enumerate(drawn)],
        layout=layout,
        signature=signature,
    )


def _lines(
    layout: dict[str, Any], ceilings: Sequence[tuple[str, float]], middle: float
) -> dict[str, Any]:
    """Their labels stand above the drawing; where its scale does, in a row of their own at its
    top."""
    if "side" not in layout["xaxis"]:
        lines = uprights(ceilings, middle)
        layout["margin"]["t"] = lines["top"]
        return lines
    layout["yaxis"]["range"][1] += 0.8 * len(ceilings)
    return uprights(ceilings, middle, lowered=LABEL_LINE * len(ceilings) + 4)


def _sample_text(count: int, both_ends: tuple[str, str] | None, ordered: bool) -> str:
    if both_ends is not None:
        return format_interval(count, *both_ends)
    return sample_text(count) if ordered else sample_text(count, f"first {ROWS_DRAWN}")


def _trace(row: ForestRow, value: float, index: int) -> dict[str, Any]:
    swatch = row.swatch or 0
    interval = f" [{written_interval(row.estimate.ci, 3)}]" if row.estimate.ci else ""
    lines = [row.name, f"{written(value, 3)}{interval}", *([row.note] if row.note else [])]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(row.name),
        "x": [value],
        "y": [index],
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 9},
        "meta": {"series": colour_number(swatch)},
        "hovertext": ["<br>".join(map(escape_latex, lines))],
        "hoverinfo": "text",
        **({"customdata": [row.link]} if row.link else {}),
    } | whiskers("error_x", [(value, row.estimate.ci)])


def _ends(rows: Sequence[ForestRow], ceilings: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """The least and the greatest of what is drawn."""
    values = [value for _, value in ceilings]
    for row in rows:
        assert row.estimate.value is not None
        values += [row.estimate.value, *(row.estimate.ci or ())]
    return min(values), max(values)


def _sentence(label: str) -> str:
    return label[:1].upper() + label[1:]


def _undefined_text(missing: Sequence[ForestRow]) -> str:
    if not missing:
        return ""
    names = ", ".join(row.name for row in missing[:NAMED_AS_UNDEFINED])
    rest = len(missing) - NAMED_AS_UNDEFINED
    return (
        f"Undefined: {names}{f' and {rest} more' if rest > 0 else ''}; the reasons are in the data."
    )


def _table(
    rows: Sequence[ForestRow],
    figure_id: str,
    title: str,
    what: str,
    higher_is_better: bool | None,
    ordered: bool,
    signature: str,
) -> Table:
    lettered, noted = any(row.letters for row in rows), any(row.note for row in rows)
    columns = [
        Column("name", what),
        Column("value", "value", "estimate", higher_is_better=higher_is_better),
    ]
    columns += [Column("letters", "letters")] if lettered else []
    columns += [Column("note", "note")] if noted else []
    return Table(
        id=f"{figure_id}-data",
        caption=title,
        columns=tuple(columns),
        rows=tuple(
            Row(
                f"{row.name}-{number}",
                {
                    "name": Cell(row.name),
                    "value": estimate_cell(row.estimate),
                    "letters": Cell(row.letters or None, reason="not compared"),
                    "note": Cell(row.note),
                },
                swatch=row.swatch,
            )
            for number, row in enumerate(rows)
        ),
        sort=("value", True) if ordered else None,
        signature=signature,
    )
