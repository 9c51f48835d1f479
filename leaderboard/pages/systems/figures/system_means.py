"""Every system's mean human score."""

from __future__ import annotations

from collections.abc import Sequence

from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import (
    dot_and_whisker,
    escape_latex,
    highest,
    interval_text,
    list_layout,
    sample_text,
    system_link,
)
from leaderboard.figures.figure import Figure, SystemMean


def system_means(
    means: Sequence[SystemMean],
    *,
    figure_id: str,
    aspect: str = "overall",
    scale: tuple[float, float] | None = None,
    signature: str = "",
) -> Figure:
    """Mean human score of the ``highest`` systems, best on top, as dot and whisker; those without a
    mean are named below."""
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Mean human score ({aspect}) of every system",
        columns=(
            Column("system", "system"),
            Column("mean", "human mean", "estimate", higher_is_better=True),
        ),
        rows=tuple(
            Row(
                one.system,
                {"system": Cell(one.system), "mean": estimate_cell(one.mean)},
                badges=one.badges,
                swatch=one.swatch,
            )
            for one in means
        ),
        sort=("mean", True),
        signature=signature,
    )
    defined = [(one, one.mean.value) for one in means if one.mean.value is not None]
    missing = [one for one in means if one.mean.value is None]
    if not defined:
        reason = "No system has human ratings yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined.sort(key=lambda pair: pair[1])
    drawn = highest(defined)
    names = [_name(one) for one, _ in drawn]
    traces = [
        dot_and_whisker(name, one.swatch, one.mean) | {"customdata": [system_link(one.system)]}
        for (one, _), name in zip(drawn, names, strict=True)
    ]
    layout = list_layout("mean human score", names)
    if scale is not None:
        layout["xaxis"] |= {"range": [scale[0] - 0.05, scale[1] + 0.05]}
    left_out = f"Without a mean: {', '.join(one.system for one in missing)}." if missing else ""
    best, worst = defined[-1], defined[0]
    return Figure(
        id=figure_id,
        caption=" ".join(
            part
            for part in (
                f"Mean human score ({aspect}) {interval_text(one.mean for one, _ in defined)}, "
                f"n = {len(defined)} systems.",
                sample_text(len(defined)),
                left_out,
            )
            if part
        ),
        alternative=(
            f"Dot plot of {len(defined)} systems. Highest: {best[0].system}, "
            f"{written(best[1], 2)}; lowest: {worst[0].system}, {written(worst[1], 2)}. "
            f"{sample_text(len(defined))}"
        ).rstrip(),
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
    )


def _name(one: SystemMean) -> str:
    words = ", ".join(one.badges)
    return escape_latex(f"{one.system} ({words})" if words else one.system)
