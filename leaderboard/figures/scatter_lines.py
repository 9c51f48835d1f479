"""The lines of a scatter: the least-squares fit and the ceiling of a perfect metric."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from common.estimates import Estimate
from common.tables.numerals import written, written_interval
from leaderboard.figures.drawing import GREY
from leaderboard.figures.figure import CorrelationName, Point
from leaderboard.statistics.correlation.regression_band import regression_band

RESAMPLES = 1000


class Line(NamedTuple):
    label: str
    dash: str
    slope: float


def fit_slope(points: Sequence[Point]) -> float | None:
    """Least squares of the metric on the human score; None where the human scores do not vary."""
    human_mean = fmean(point.human for point in points)
    metric_mean = fmean(point.metric for point in points)
    spread = sum((point.human - human_mean) ** 2 for point in points)
    if spread <= 0:
        return None
    return (
        sum((point.human - human_mean) * (point.metric - metric_mean) for point in points) / spread
    )


def ceiling_slope_and_caption(
    points: Sequence[Point], ceiling: Estimate | None, name: CorrelationName, higher_is_better: bool
) -> tuple[float | None, str]:
    """(slope of the ceiling line or None, what the caption says of the ceiling)."""
    if ceiling is None:
        return None, ""
    if ceiling.value is None:
        return None, f"No ceiling of a perfect metric: {ceiling.reason}."
    interval = f", 95 % interval {written_interval(ceiling.ci, 2)}" if ceiling.ci else ""
    words = (
        f"Ceiling of a perfect metric (√reliability): {name} = "
        f"{written(ceiling.value, 2)}{interval}"
    )
    if name != "Pearson r" or len(points) < 2:
        return None, f"{words}."
    human_spread = stdev(point.human for point in points)
    metric_spread = stdev(point.metric for point in points)
    if human_spread == 0 or metric_spread == 0:
        return None, f"{words}."
    direction = 1 if higher_is_better else -1
    slope = direction * ceiling.value * metric_spread / human_spread
    return (
        slope,
        f"{words}; the dashed line is the fit that a metric of this spread would then have.",
    )


def line_trace(points: Sequence[Point], line: Line) -> dict[str, Any]:
    """A line over the range of the human scores."""
    ends = [min(point.human for point in points), max(point.human for point in points)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": line.label,
        "x": ends,
        "y": [_line_end(points, line.slope, end) for end in ends],
        "line": {"color": GREY, "width": 1.5, "dash": line.dash},
        "meta": {"role": line.label},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def band_trace_and_caption(points: Sequence[Point], seed: int) -> tuple[dict[str, Any] | None, str]:
    """(the 95 % band around the fit or None, what the caption says of it)."""
    human = np.array([point.human for point in points])
    metric = np.array([point.metric for point in points])
    dialogues = [point.dialogue for point in points]
    known = None if None in dialogues else np.array(dialogues, dtype=np.int64)
    found = regression_band(human, metric, known, RESAMPLES, seed)
    if isinstance(found, str):
        return None, f"No band: {found}."
    across = [float(one) for one in (*found.human, *found.human[::-1])]
    up = [float(one) for one in (*found.low, *found.high[::-1])]
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": "band",
        "x": [*across, across[0]],
        "y": [*up, up[0]],
        "fill": "toself",
        "fillcolor": "rgba(87,96,106,0.18)",
        "line": {"color": GREY, "width": 0, "simplify": False},
        "meta": {"role": "band"},
        "hoverinfo": "skip",
    }
    if found.method == "bootstrap":
        how = f"{written(RESAMPLES, 0)} draws of {found.clusters} dialogues, seed {seed}"
    else:
        how = "Student's t, points taken as independent"
    return (
        trace,
        f"The shaded band holds the fitted line with 95 % confidence at each place ({how}).",
    )


def line_label(points: Sequence[Point], line: Line, index: int) -> dict[str, Any]:
    """Stands in the right margin, level with the line's end; of two lines the steeper ends, and is
    labelled, higher."""
    right = max(point.human for point in points)
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 6,
        "y": _line_end(points, line.slope, right),
        "yref": "y",
        "yanchor": "bottom" if index else "top",
        "text": line.label,
        "showarrow": False,
    }


def _line_end(points: Sequence[Point], slope: float, human: float) -> float:
    """The metric score at ``human`` on a line of this slope through the means."""
    human_mean = fmean(point.human for point in points)
    metric_mean = fmean(point.metric for point in points)
    return metric_mean + slope * (human - human_mean)
