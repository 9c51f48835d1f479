"""Metric scores against human scores, one marker a point."""

from __future__ import annotations

from collections.abc import Sequence

from common.estimates import Estimate
from common.tables.numerals import written
from leaderboard.figures.drawing import chart_layout, format_estimate
from leaderboard.figures.figure import CorrelationName, Figure, Level, Point
from leaderboard.figures.scatter_lines import (
    Line,
    band_trace_and_caption,
    ceiling_slope_and_caption,
    fit_slope,
    line_label,
    line_trace,
)
from leaderboard.figures.scatter_points import (
    points_to_draw,
    sideways_offsets,
    sideways_spread,
    system_traces,
)
from leaderboard.figures.scatter_tables import ROWS_BENEATH, means_by_system, points_table
from leaderboard.figures.series import SYSTEMS_NAMED, legend_of, names_fit

LINKS = {
    "turn": "dialogues/{0}/?turn={1}&system={2}#system-{2}",
    "dialogue": "dialogues/{0}/",
}
"""Where a dot leads, below its corpus's address; ``{0}`` is the first of its ``customdata``."""


def metric_vs_human_scatter(
    points: Sequence[Point],
    *,
    figure_id: str,
    level: Level,
    metric: str,
    correlation: Estimate,
    correlation_name: CorrelationName = "Pearson r",
    ceiling: Estimate | None = None,
    higher_is_better: bool = True,
    aspect: str = "overall",
    signature: str = "",
    seed: int = 0,
    remark: str = "",
) -> Figure:
    """Metric score (vertical) against mean human score (horizontal), one marker a point, coloured
    by system.

    The solid line is the least-squares fit of the metric on the human score over *all* points, also
    those not drawn; the band around it redraws dialogues where points know theirs (see
    ``regression_band``). The dashed line is the ceiling: where the fit of a metric of this spread
    would lie if it correlated with the mean human score as well as a perfect metric can (slope =
    r_ceiling · s_metric / s_human, through the means). It stands for Pearson's r only and is left
    out, with the reason in the caption, for a ceiling that is undefined.

    ``remark``: what the caption also says, a sentence or more.

    Where many points share a human score they are spread sideways by a seeded jitter; the data keep
    the scores.
    """
    table = points_table(points, figure_id, level, metric, aspect, signature)
    if not points:
        reason = f"No {level} has both a human score and a score of {metric} yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    systems = len({point.system for point in points})
    drawn = points_to_draw(points, seed)
    spread = 0.0 if level == "system" else sideways_spread(points)
    offsets = sideways_offsets(len(drawn), spread, seed)
    labelled = level == "system" and systems <= SYSTEMS_NAMED and names_fit(points)
    traces = system_traces(drawn, offsets, level, labelled=labelled)
    fit = fit_slope(points)
    ceiling_slope, ceiling_words = ceiling_slope_and_caption(
        points, ceiling, correlation_name, higher_is_better
    )
    lines = [
        Line("fit", "solid", fit) if fit is not None else None,
        Line("ceiling", "dash", ceiling_slope) if ceiling_slope is not None else None,
    ]
    band, band_words = band_trace_and_caption(points, seed) if fit is not None else (None, "")
    traces += [band] if band is not None else []
    drawn_lines = sorted((line for line in lines if line is not None), key=lambda line: line.slope)
    traces.extend(line_trace(points, line) for line in drawn_lines)
    agreement = format_estimate(correlation_name, correlation)
    caption = " ".join(
        part
        for part in (
            f"{metric} against human scores ({aspect}), {level} level, n = "
            f"{written(len(points), 0)}; {agreement}.",
            remark,
            ceiling_words,
            band_words if fit is not None else "No fitted line: all human scores are equal.",
            (
                f"{written(len(drawn), 0)} of the points are drawn, chosen by chance (seed "
                f"{seed}); coefficient and line are of all."
            )
            if len(drawn) < len(points)
            else "",
            f"Equal human scores are spread sideways by up to {written(spread, 2)} (seed {seed})."
            if spread
            else "",
        )
        if part
    )
    alternative = (
        f"Scatter plot of {written(len(points), 0)} points from {systems} systems: mean human "
        f"score {aspect} from {written(min(p.human for p in points), 2)} to "
        f"{written(max(p.human for p in points), 2)} across, {metric} from "
        f"{written(min(p.metric for p in points), 3)} to "
        f"{written(max(p.metric for p in points), 3)} up. {agreement}."
    )
    jitter = f", jittered by up to {written(spread, 2)}" if spread else ""
    layout = chart_layout(f"human score ({aspect}), mean{jitter}", metric)
    if level in LINKS:
        layout["meta"] = {"link": LINKS[level]}
    layout["annotations"] = [
        line_label(points, line, index) for index, line in enumerate(drawn_lines)
    ]
    layout["margin"]["r"] = 104 if drawn_lines else layout["margin"]["r"]
    return Figure(
        id=figure_id,
        caption=caption,
        alternative=alternative,
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
        summary_table=means_by_system(points, table) if len(points) > ROWS_BENEATH else None,
        legend=() if labelled or not 1 < systems <= SYSTEMS_NAMED else legend_of(points),
    )
