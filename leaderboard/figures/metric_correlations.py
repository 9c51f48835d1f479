"""Every metric's correlation with people, beside the highest that a perfect metric could reach."""

from __future__ import annotations

from collections.abc import Sequence

from common.estimates import Estimate
from leaderboard.figures.figure import CorrelationName, Figure, Level
from leaderboard.figures.forest import ForestRow, forest


def metric_correlations(
    correlations: Sequence[tuple[str, Estimate]],
    *,
    figure_id: str,
    level: Level,
    correlation_name: CorrelationName = "Pearson r",
    ceiling: Estimate | None = None,
    signature: str = "",
) -> Figure:
    """Every metric's correlation with people as dot and whisker, best on top, the ceiling as a
    labelled line."""
    value, remark = (None, "") if ceiling is None else (ceiling.value, "")
    if ceiling is not None and value is None:
        remark = f"No ceiling of a perfect metric: {ceiling.reason}."
    return forest(
        [ForestRow(metric, estimate) for metric, estimate in correlations],
        figure_id=figure_id,
        title=f"{correlation_name} with human scores, {level} level",
        across=f"{correlation_name}, {level} level",
        ceilings=() if value is None else [("ceiling (√reliability)", value)],
        remark=remark,
        signature=signature,
    )
