"""Every metric's correlation with people, beside the human ceiling."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.estimates import Estimate
from leaderboard.figures.figure import CorrelationName, Figure, Level
from leaderboard.figures.forest import ForestRow, forest


def metric_correlations(
    correlations: Sequence[tuple[str, Estimate]],
    *,
    figure_id: str,
    level: Level,
    correlation_name: CorrelationName = "Pearson r",
    human_ceiling: Estimate | None = None,
    signature: str = "",
) -> Figure:
    """Every metric's correlation with people as dot and whisker, best on top, the human ceiling as a labelled line."""
    ceiling, remark = None, ""
    if human_ceiling is not None:
        ceiling = human_ceiling.value
        remark = f"No human ceiling: {human_ceiling.reason}." if ceiling is None else "The ceiling leaves a rater out."
    return forest(
        [ForestRow(metric, estimate) for metric, estimate in correlations],
        figure_id=figure_id,
        title=f"{correlation_name} with human scores, {level} level",
        across=f"{correlation_name}, {level} level",
        ceilings=() if ceiling is None else [("human ceiling", ceiling)],
        remark=remark,
        signature=signature,
    )
