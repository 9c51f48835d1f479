"""The place of every system, and the places that it may as well have."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import letter, written, written_interval
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import (
    escape_latex,
    highest,
    letter_marks,
    rows_layout,
    sample_text,
    step_of_ranks,
)
from leaderboard.figures.figure import Figure

ROW_HEIGHT = 22


@dataclass(frozen=True, slots=True)
class RankRow:
    """``rank`` to ``worst_rank``: the places that the mean's interval leaves open, from 1; None
    where the system is not ranked. ``band``: from 1, equal where systems cannot be told apart."""

    name: str
    swatch: int
    rank: int | None
    worst_rank: int | None
    mean: Estimate
    band: int | None = None
    link: str = ""
    """Where the marker leads, below the address of the corpus."""


def rank_intervals(
    rows: Sequence[RankRow],
    *,
    figure_id: str,
    aspect: str = "overall",
    remark: str = "",
    signature: str = "",
) -> Figure:
    """One row a system, the best mean on top: a marker at its place by mean, a bar over the places
    it may have. Of many systems the ``highest`` are drawn."""
    table = _table(rows, figure_id, aspect, signature)
    ranked = [
        (row, row.mean.value) for row in rows if row.rank is not None and row.mean.value is not None
    ]
    if not ranked:
        reason = "No system is ranked yet: a rank needs a mean with an interval."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    ranked.sort(key=lambda pair: pair[1])
    means = [mean for _, mean in ranked]
    drawn = highest(ranked)
    shown = [row for row, _ in drawn]
    last = max(len(drawn), *(row.worst_rank or 0 for row in shown), _place(drawn[0][1], means))
    layout = rows_layout("rank, 1 is best", [row.name for row in shown], ROW_HEIGHT)
    air = max(0.5, 0.02 * last)
    layout["xaxis"] |= {
        "range": [1 - air, last + air],
        "tick0": 1,
        "dtick": step_of_ranks(last),
        "tickformat": "d",
    }
    layout["margin"]["r"] = 32
    layout["annotations"] = letter_marks([_letter(row) for row in shown])
    not_ranked = [row.name for row in rows if row.rank is None or row.mean.value is None]
    best, worst = ranked[-1][0], ranked[0][0]
    reauthentication = sum(row.rank == row.worst_rank for row, _ in ranked)
    letters = "The same letter: not significantly different." if layout["annotations"] else ""
    return Figure(
        id=figure_id,
        caption=" ".join(
            part
            for part in (
                f"Ranks of {len(ranked)} systems by mean human score ({aspect}). Marker: place by "
                "mean; bar: the places that its 95 % interval leaves open.",
                sample_text(len(ranked)),
                letters,
                remark,
                f"Not ranked: {', '.join(not_ranked)}." if not_ranked else "",
            )
            if part
        ),
        alternative=(
            f"Ranks of {len(ranked)} systems, {reauthentication} of them with one possible place. "
            f"On top: {best.name}, place {_places(best)}; lowest: {worst.name}, place "
            f"{_places(worst)}. {sample_text(len(ranked))}"
        ).rstrip(),
        points=table,
        data=[
            _trace(row, row_number, _place(mean, means))
            for row_number, (row, mean) in enumerate(drawn)
        ],
        layout=layout,
        signature=signature,
    )


def _place(mean: float, means: Sequence[float]) -> int:
    """1 + the number of greater means, which stand in rising order; equal means share the better
    place."""
    return 1 + len(means) - bisect_right(means, mean)


def _places(row: RankRow) -> str:
    return str(row.rank) if row.rank == row.worst_rank else f"{row.rank} to {row.worst_rank}"


def _trace(row: RankRow, row_number: int, index: int) -> dict[str, Any]:
    assert row.rank is not None
    assert row.mean.value is not None
    worst = row.worst_rank if row.worst_rank is not None else row.rank
    interval = f" [{written_interval(row.mean.ci, 2)}]" if row.mean.ci else ""
    lines = [
        row.name,
        f"place {index} by mean, may be {_places(row)}",
        f"mean {written(row.mean.value, 2)}{interval}",
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(row.name),
        "x": [index],
        "y": [row_number],
        "marker": {"color": colour(row.swatch), "symbol": shape(row.swatch), "size": 9},
        "meta": {"series": colour_number(row.swatch)},
        "hovertext": ["<br>".join(map(escape_latex, lines))],
        "hoverinfo": "text",
        **({"customdata": [row.link]} if row.link else {}),
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(worst - index, 0)],
            "arrayminus": [max(index - row.rank, 0)],
            "thickness": 3,
            "width": 0,
        },
    }


def _table(rows: Sequence[RankRow], figure_id: str, aspect: str, signature: str) -> Table:
    return Table(
        id=f"{figure_id}-data",
        caption=f"Ranks of the systems by mean human score ({aspect})",
        columns=(
            Column("system", "system"),
            Column("rank", "rank", "rank", higher_is_better=False),
            Column("mean", "human mean", "estimate", decimals=2, higher_is_better=True),
            Column("band", "band"),
        ),
        rows=tuple(
            Row(
                row.name,
                {
                    "system": Cell(row.name),
                    "rank": _rank_cell(row),
                    "mean": estimate_cell(row.mean),
                    "band": Cell(_letter(row) or None, reason="in no band"),
                },
                swatch=row.swatch,
            )
            for row in rows
        ),
        sort=("mean", True),
        signature=signature,
    )


def _letter(row: RankRow) -> str:
    return "" if row.band is None else letter(row.band - 1)


def _rank_cell(row: RankRow) -> Cell:
    if row.rank is None:
        return Cell(reason=row.mean.reason or "not ranked")
    worst = row.worst_rank if row.worst_rank is not None else row.rank
    return Cell(row.rank, ci=(row.rank, worst))
