"""The markers of a scatter: which points are drawn, how far equal scores are spread, what stands
under the pointer."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written
from leaderboard.figures.drawing import escape_latex, places, system_link, whiskers
from leaderboard.figures.figure import Level, Point
from leaderboard.figures.series import Series, middle_score, name_of_reference, series_of

MAX_POINTS = 2000
"""More SVG points than this make a page slow and a cloud unreadable; the rest is left out of the
drawing, only."""
LEAST_JITTER = 0.005
JITTER_SHARE = 0.36
"""Of the smallest gap between two scores: equal scores spread this far to either side, so that none
pass the middle between two scores."""
JITTER_LIMIT = 0.18
"""In scale points: more would look as if the scores were not whole."""
POINTS_A_SCORE = 3
"""Scores that are shared by this many points on average hide each other and are spread; fewer are
left alone."""
HOVER_WIDTH = 60


def points_to_draw(points: Sequence[Point], seed: int) -> Sequence[Point]:
    if len(points) <= MAX_POINTS:
        return points
    chosen = sorted(random.Random(seed).sample(range(len(points)), MAX_POINTS))
    return [points[number] for number in chosen]


def sideways_spread(points: Sequence[Point]) -> float:
    """How far to either side equal human scores are spread; 0 where the scores are rarely equal, or
    so close that nobody would see it."""
    scores = sorted({point.human for point in points})
    if len(points) < POINTS_A_SCORE * len(scores):
        return 0.0
    smallest_gap = min((high - low for low, high in pairwise(scores)), default=1.0)
    spread = min(JITTER_LIMIT, JITTER_SHARE * smallest_gap)
    return spread if spread >= LEAST_JITTER else 0.0


def sideways_offsets(count: int, width: float, seed: int) -> list[float]:
    source = random.Random(seed)
    return [source.uniform(-width, width) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Placed:
    """A point with how far it is moved sideways."""

    point: Point
    offset: float

    @property
    def system(self) -> str:
        return self.point.system

    @property
    def swatch(self) -> int:
        return self.point.swatch


def system_traces(
    points: Sequence[Point], offsets: Sequence[float], level: Level, *, labelled: bool
) -> list[dict[str, Any]]:
    """One trace a system, or a look (see ``series_of``)."""
    placed = [Placed(point, offset) for point, offset in zip(points, offsets, strict=True)]
    middle = middle_score(points)
    return [_trace(series, level, labelled=labelled, middle=middle) for series in series_of(placed)]


def _trace(
    series: Series[Placed], level: Level, *, labelled: bool, middle: float
) -> dict[str, Any]:
    large = level == "system"
    points = [placed.point for placed in series.markers]
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text" if labelled else "markers",
        "name": escape_latex(series.name),
        "x": places(placed.point.human + placed.offset for placed in series.markers),
        "y": places(point.metric for point in points),
        "marker": {
            "color": colour(series.swatch),
            "symbol": shape(series.swatch),
            "size": 9 if large else 6,
        },
        "opacity": 1.0 if large else 0.75,
        "meta": {"series": colour_number(series.swatch)},
        "hovertext": [_hover(point) for point in points],
        "hoverinfo": "text",
    }
    if large:
        trace |= {"customdata": [system_link(point.system) for point in points]}
    elif level == "turn":
        trace |= {"customdata": [[point.dialogue, point.turn, point.swatch] for point in points]}
    else:
        trace |= {"customdata": [[point.dialogue] for point in points]}
    if labelled:
        trace |= {"text": [escape_latex(point.system) for point in points], "cliponaxis": False}
        trace |= {"textposition": [name_of_reference(point.human, middle) for point in points]}
    if large:
        trace |= whiskers("error_x", [(point.human, point.human_ci) for point in points])
        trace |= whiskers("error_y", [(point.metric, point.metric_ci) for point in points])
    return trace


def _hover(point: Point) -> str:
    """Plotly reads a little HTML in these texts, so what a system said is escaped and wrapped here.
    Bold and the like are left out: plotly makes style attributes of them, which the content
    security policy refuses."""
    head = escape_latex(point.system) + (f", {escape_latex(point.item)}" if point.item else "")
    scores = f"human {written(point.human, 2)}, metric {written(point.metric, 3)}"
    lines = textwrap.wrap(point.hover, HOVER_WIDTH, max_lines=12, placeholder=" …")
    return "<br>".join([head, scores, *(escape_latex(line) for line in lines)])
