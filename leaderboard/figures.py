"""From rows to figures: plotly dictionaries with a caption, a text alternative and the data. Pure; draws nothing.

Colours stand in the traces twice: as the light theme's value, for any reader of plotly JSON, and as ``meta`` (a
series number or a role), from which the page takes the value of its own theme.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import combinations, pairwise
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple

from annotations.estimates import Estimate
from annotations.tables.markers import colour, colour_number, shape
from annotations.tables.numerals import written, written_interval
from annotations.tables.table import Cell, Column, Row, Table, estimate_cell

Level = Literal["turn", "dialogue", "system"]
CorrelationName = Literal["Pearson r", "Spearman ρ", "Kendall τ"]

POINTS_DRAWN = 2000
"""More SVG points than this make a page slow and a cloud unreadable; the rest is left out of the drawing, only."""
SYSTEMS_NAMED = 16
"""More names than this cover each other and the points; hover, the data beneath and the download still have them."""
NAMING_WIDTH, NAMING_HEIGHT, LETTER_WIDTH, LINE_HEIGHT = 260.0, 240.0, 7.0, 14.0
"""Pixels: the plot where three charts stand side by side, a letter, a line of names."""
ROWS_BENEATH = 200
"""A longer list is in the download; the page then shows one row a system."""
JITTER_SHARE = 0.36
"""Of the smallest gap between two scores: equal scores spread this far to either side, so that none pass the middle
between two scores."""
JITTER_LIMIT = 0.18
"""In scale points: more would look as if the scores were not whole."""
POINTS_A_SCORE = 3
"""Scores that are shared by this many points on average hide each other and are spread; fewer are left alone."""
HOVER_WIDTH = 60
GREY = "#57606a"


@dataclass(frozen=True, slots=True)
class Point:
    """One response (turn), one system in one dialogue (dialogue) or one system. ``swatch`` is its stable number."""

    system: str
    human: float
    metric: float
    swatch: int
    item: str = ""
    """Names the point in the data, e.g. "dialogue 3, turn 2"."""
    hover: str = ""
    """What stands beside the point under the pointer, e.g. the response."""
    human_ci: tuple[float, float] | None = None
    metric_ci: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class SystemMean:
    system: str
    swatch: int
    mean: Estimate
    badges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """``data`` and ``layout`` are plotly's. ``points`` holds every value; ``summary`` is what fits beneath the chart
    (the same table where it is short). ``id`` is unique on its page."""

    id: str
    caption: str
    alternative: str
    points: Table
    data: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    summary_table: Table | None = None
    empty_reason: str = ""
    legend: tuple[tuple[str, int], ...] = ()
    """(system, swatch): the page writes them as text, which wraps and needs no script; empty where names stand in the
    drawing."""

    @property
    def is_empty(self) -> bool:
        return not self.data

    @property
    def summary(self) -> Table:
        return self.points if self.summary_table is None else self.summary_table

    @property
    def document_id(self) -> str:
        return f"chart-data-{self.id}"


class _Line(NamedTuple):
    label: str
    dash: str
    slope: float


def metric_vs_human_scatter(
    points: Sequence[Point],
    *,
    figure_id: str,
    level: Level,
    metric: str,
    correlation: Estimate,
    correlation_name: CorrelationName = "Pearson r",
    human_ceiling: Estimate | None = None,
    higher_is_better: bool = True,
    aspect: str = "overall",
    signature: str = "",
    seed: int = 0,
) -> Figure:
    """Metric score (vertical) against mean human score (horizontal), one marker a point, coloured by system.

    The solid line is the least-squares fit of the metric on the human score over *all* points, also those not drawn.
    The dashed line is the human ceiling: where the fit of a metric of this spread would lie if it agreed with the
    mean human score as well as one person does (slope = r_ceiling · s_metric / s_human, through the means). It stands
    for Pearson's r only and is left out, with the reason in the caption, for a ceiling that is undefined.

    Where many points share a human score they are spread sideways by a seeded jitter; the data keep the scores.
    """
    table = _points_table(points, figure_id, level, metric, aspect, signature)
    if not points:
        reason = f"No {level} has both a human score and a score of {metric} yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    systems = len({point.system for point in points})
    drawn = _drawn(points, seed)
    spread = 0.0 if level == "system" else _jitter_width(points)
    offsets = _jitter(len(drawn), spread, seed)
    labelled = level == "system" and systems <= SYSTEMS_NAMED and _names_fit(points)
    traces = _system_traces(drawn, offsets, level, labelled=labelled)
    fit = _fit_slope(points)
    ceiling_slope, ceiling_words = _ceiling(points, human_ceiling, correlation_name, higher_is_better)
    lines = [
        _Line("fit", "solid", fit) if fit is not None else None,
        _Line("human ceiling", "dash", ceiling_slope) if ceiling_slope is not None else None,
    ]
    drawn_lines = sorted((line for line in lines if line is not None), key=lambda line: line.slope)
    traces.extend(_line_trace(points, line) for line in drawn_lines)
    agreement = _estimate_words(correlation_name, correlation)
    caption = " ".join(
        part
        for part in (
            f"{metric} against human scores ({aspect}), {level} level, n = {written(len(points), 0)}; {agreement}.",
            ceiling_words,
            "" if fit is not None else "No fitted line: all human scores are equal.",
            f"{written(len(drawn), 0)} of the points are drawn, chosen by chance (seed {seed}); coefficient and line "
            "are of all."
            if len(drawn) < len(points)
            else "",
            f"Equal human scores are spread sideways by up to {written(spread, 2)} (seed {seed})." if spread else "",
        )
        if part
    )
    alternative = (
        f"Scatter plot of {written(len(points), 0)} points from {systems} systems: mean human score {aspect} from "
        f"{written(min(p.human for p in points), 2)} to {written(max(p.human for p in points), 2)} across, {metric} "
        f"from {written(min(p.metric for p in points), 3)} to {written(max(p.metric for p in points), 3)} up. "
        f"{agreement}."
    )
    layout = _layout(f"human score ({aspect}), mean", metric)
    layout["annotations"] = [_line_label(points, line, place) for place, line in enumerate(drawn_lines)]
    layout["margin"]["r"] = 104 if drawn_lines else layout["margin"]["r"]
    return Figure(
        id=figure_id,
        caption=caption,
        alternative=alternative,
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
        summary_table=_summary_table(points, table) if len(points) > ROWS_BENEATH else None,
        legend=() if labelled or not 1 < systems <= SYSTEMS_NAMED else _legend(points),
    )


def system_means(
    means: Sequence[SystemMean],
    *,
    figure_id: str,
    aspect: str = "overall",
    scale: tuple[float, float] | None = None,
    signature: str = "",
) -> Figure:
    """Mean human score of every system, best on top, as dot and whisker; systems without a mean are named below."""
    table = Table(
        id=f"{figure_id}-data",
        caption=f"Mean human score ({aspect}) of every system",
        columns=(Column("system", "system"), Column("mean", "human mean", "estimate", higher_is_better=True)),
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
    names = [_name(one) for one, _ in defined]
    trace: list[dict[str, Any]] = [
        _dot_and_whisker(one, name, one.mean) for (one, _), name in zip(defined, names, strict=True)
    ]
    layout = _layout("mean human score", "")
    layout["yaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": names, "showgrid": False}
    layout["height"] = _list_height(len(names))
    if scale is not None:
        layout["xaxis"] |= {"range": [scale[0] - 0.05, scale[1] + 0.05]}
    left_out = f" Without a mean: {', '.join(one.system for one in missing)}." if missing else ""
    best, worst = defined[-1], defined[0]
    return Figure(
        id=figure_id,
        caption=f"Mean human score ({aspect}) with 95 % interval, n = {len(defined)} systems.{left_out}",
        alternative=f"Dot plot of {len(defined)} systems. Highest: {best[0].system}, {written(best[1], 2)}; lowest: "
        f"{worst[0].system}, {written(worst[1], 2)}.",
        points=table,
        data=trace,
        layout=layout,
        signature=signature,
    )


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
    table = Table(
        id=f"{figure_id}-data",
        caption=f"{correlation_name} of every metric with human scores, {level} level",
        columns=(
            Column("metric", "metric"),
            Column("correlation", correlation_name, "estimate", higher_is_better=True),
        ),
        rows=tuple(
            Row(metric, {"metric": Cell(metric), "correlation": estimate_cell(estimate)})
            for metric, estimate in correlations
        ),
        sort=("correlation", True),
        signature=signature,
    )
    defined = [(metric, estimate, estimate.value) for metric, estimate in correlations if estimate.value is not None]
    if not defined:
        reason = f"No metric has a correlation at {level} level yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    defined.sort(key=lambda row: row[2])
    names = [_words(metric) for metric, _, _ in defined]
    traces = [
        _dot_and_whisker(SystemMean(metric, 0, estimate), name, estimate)
        for (metric, estimate, _), name in zip(defined, names, strict=True)
    ]
    layout = _layout(f"{correlation_name}, {level} level", "")
    layout["yaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": names, "showgrid": False}
    layout["height"] = _list_height(len(names))
    ceiling_words = ""
    if human_ceiling is not None and human_ceiling.value is not None:
        layout["shapes"] = [_ceiling_shape(human_ceiling.value)]
        layout["annotations"] = [_ceiling_label(human_ceiling.value)]
        ceiling_words = f" Human ceiling (leave-one-out): {written(human_ceiling.value, 2)}."
    elif human_ceiling is not None:
        ceiling_words = f" No human ceiling: {human_ceiling.reason}."
    best = defined[-1]
    return Figure(
        id=figure_id,
        caption=f"{correlation_name} with human scores, {level} level, with 95 % interval, n = {len(defined)} metrics."
        + ceiling_words,
        alternative=f"Dot plot of {len(defined)} metrics. Highest: {best[0]}, {written(best[2], 2)}; lowest: "
        f"{defined[0][0]}, {written(defined[0][2], 2)}.{ceiling_words}",
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
    )


# --- points ---------------------------------------------------------------------------------------------------------


def _drawn(points: Sequence[Point], seed: int) -> Sequence[Point]:
    if len(points) <= POINTS_DRAWN:
        return points
    chosen = sorted(random.Random(seed).sample(range(len(points)), POINTS_DRAWN))
    return [points[number] for number in chosen]


def _jitter_width(points: Sequence[Point]) -> float:
    """How far to either side equal human scores are spread; 0 where the scores are rarely equal."""
    scores = sorted({point.human for point in points})
    if len(points) < POINTS_A_SCORE * len(scores):
        return 0.0
    smallest_gap = min((high - low for low, high in pairwise(scores)), default=1.0)
    return min(JITTER_LIMIT, JITTER_SHARE * smallest_gap)


def _jitter(count: int, width: float, seed: int) -> list[float]:
    source = random.Random(seed)
    return [source.uniform(-width, width) for _ in range(count)]


def _system_traces(
    points: Sequence[Point], offsets: Sequence[float], level: Level, *, labelled: bool
) -> list[dict[str, Any]]:
    """One trace a system, in the order of their numbers, so that legend, colour and marker agree on every page."""
    by_system: dict[tuple[int, str], list[tuple[Point, float]]] = {}
    for point, offset in zip(points, offsets, strict=True):
        by_system.setdefault((point.swatch, point.system), []).append((point, offset))
    middle = _middle(points)
    return [
        _system_trace(swatch, system, members, level, labelled=labelled, middle=middle)
        for (swatch, system), members in sorted(by_system.items())
    ]


def _system_trace(
    swatch: int, system: str, members: list[tuple[Point, float]], level: Level, *, labelled: bool, middle: float
) -> dict[str, Any]:
    large = level == "system"
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text" if labelled else "markers",
        "name": _words(system),
        "x": [point.human + offset for point, offset in members],
        "y": [point.metric for point, _ in members],
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 9 if large else 6},
        "opacity": 1.0 if large else 0.75,
        "meta": {"series": colour_number(swatch)},
        "hovertext": [_hover(point) for point, _ in members],
        "hoverinfo": "text",
    }
    if labelled:
        trace |= {"text": [_words(system)] * len(members), "cliponaxis": False}
        trace |= {"textposition": [_label_side(point.human, middle) for point, _ in members]}
    if large:
        trace |= _whiskers("error_x", [(point.human, point.human_ci) for point, _ in members])
        trace |= _whiskers("error_y", [(point.metric, point.metric_ci) for point, _ in members])
    return trace


def _legend(points: Sequence[Point]) -> tuple[tuple[str, int], ...]:
    return tuple((system, swatch) for swatch, system in sorted({(point.swatch, point.system) for point in points}))


def _middle(points: Sequence[Point]) -> float:
    return (min(point.human for point in points) + max(point.human for point in points)) / 2


def _label_side(human: float, middle: float) -> str:
    """Names lean towards the middle of the chart, so that none is cut off at an edge."""
    return "top right" if human < middle else "top left"


def _names_fit(points: Sequence[Point]) -> bool:
    """Whether every name has room beside its point; names on top of each other say less than a legend."""
    middle = _middle(points)
    across = max(point.human for point in points) - min(point.human for point in points)
    up = max(point.metric for point in points) - min(point.metric for point in points)
    boxes = []
    for point in points:
        right = (point.human - middle) / across * NAMING_WIDTH if across else 0.0
        top = point.metric / up * NAMING_HEIGHT if up else 0.0
        width = len(point.system) * LETTER_WIDTH
        left = right if _label_side(point.human, middle) == "top right" else right - width
        boxes.append((left, left + width, top))
    return not any(
        abs(one[2] - other[2]) < LINE_HEIGHT and one[0] < other[1] and other[0] < one[1]
        for one, other in combinations(boxes, 2)
    )


def _hover(point: Point) -> str:
    """Plotly reads a little HTML in these texts, so what a system said is escaped and wrapped here. Bold and the like
    are left out: plotly makes style attributes of them, which the content security policy refuses."""
    head = _words(point.system) + (f", {_words(point.item)}" if point.item else "")
    scores = f"human {written(point.human, 2)}, metric {written(point.metric, 3)}"
    lines = textwrap.wrap(point.hover, HOVER_WIDTH, max_lines=12, placeholder=" …")
    return "<br>".join([head, scores, *(_words(line) for line in lines)])


def _whiskers(axis: str, ends: list[tuple[float, tuple[float, float] | None]]) -> dict[str, Any]:
    if not any(ci for _, ci in ends):
        return {}
    return {
        axis: {
            "type": "data",
            "symmetric": False,
            "array": [ci[1] - value if ci else 0 for value, ci in ends],
            "arrayminus": [value - ci[0] if ci else 0 for value, ci in ends],
            "thickness": 1,
            "width": 0,
        }
    }


def _dot_and_whisker(one: SystemMean, name: str, estimate: Estimate) -> dict[str, Any]:
    assert estimate.value is not None
    interval = f" [{written_interval(estimate.ci, 3)}]" if estimate.ci else ""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [estimate.value],
        "y": [name],
        "marker": {"color": colour(one.swatch), "symbol": shape(one.swatch), "size": 9},
        "meta": {"series": colour_number(one.swatch)},
        "hovertext": [f"{name}<br>{written(estimate.value, 3)}{interval}"],
        "hoverinfo": "text",
    } | _whiskers("error_x", [(estimate.value, estimate.ci)])


def _words(text: str) -> str:
    """Plotly reads a little HTML in every text; quotes stay as they are, it does not know their entities."""
    return escape(text, quote=False)


def _name(one: SystemMean) -> str:
    words = ", ".join(one.badges)
    return _words(f"{one.system} ({words})" if words else one.system)


# --- lines ----------------------------------------------------------------------------------------------------------


def _fit_slope(points: Sequence[Point]) -> float | None:
    """Least squares of the metric on the human score; None where the human scores do not vary."""
    human_mean = fmean(point.human for point in points)
    metric_mean = fmean(point.metric for point in points)
    spread = sum((point.human - human_mean) ** 2 for point in points)
    if spread <= 0:
        return None
    return sum((point.human - human_mean) * (point.metric - metric_mean) for point in points) / spread


def _ceiling(
    points: Sequence[Point], ceiling: Estimate | None, name: CorrelationName, higher_is_better: bool
) -> tuple[float | None, str]:
    """(slope of the ceiling line or None, what the caption says of the ceiling)."""
    if ceiling is None:
        return None, ""
    if ceiling.value is None:
        return None, f"No human ceiling: {ceiling.reason}."
    words = f"Human ceiling (leave-one-out): {name} = {written(ceiling.value, 2)}"
    if name != "Pearson r" or len(points) < 2:
        return None, f"{words}."
    human_spread = stdev(point.human for point in points)
    metric_spread = stdev(point.metric for point in points)
    if human_spread == 0 or metric_spread == 0:
        return None, f"{words}."
    direction = 1 if higher_is_better else -1
    slope = direction * ceiling.value * metric_spread / human_spread
    return slope, f"{words}; the dashed line is the fit that a metric of this spread would then have."


def _line_end(points: Sequence[Point], slope: float, human: float) -> float:
    """The metric score at ``human`` on a line of this slope through the means."""
    human_mean = fmean(point.human for point in points)
    metric_mean = fmean(point.metric for point in points)
    return metric_mean + slope * (human - human_mean)


def _line_trace(points: Sequence[Point], line: _Line) -> dict[str, Any]:
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


def _line_label(points: Sequence[Point], line: _Line, place: int) -> dict[str, Any]:
    """Stands in the right margin, level with the line's end; of two lines the steeper ends, and is labelled, higher."""
    right = max(point.human for point in points)
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 6,
        "y": _line_end(points, line.slope, right),
        "yref": "y",
        "yanchor": "bottom" if place else "top",
        "text": line.label,
        "showarrow": False,
    }


def _ceiling_shape(value: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": value,
        "x1": value,
        "y0": 0,
        "y1": 1,
        "line": {"color": GREY, "width": 1.5, "dash": "dash"},
    }


def _ceiling_label(value: float) -> dict[str, Any]:
    return {
        "x": value,
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "text": f"human ceiling {written(value, 2)}",
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "bottom",
    }


# --- words, layout, tables -----------------------------------------------------------------------------------------


def _estimate_words(name: str, estimate: Estimate) -> str:
    if estimate.value is None:
        return f"{name} is undefined: {estimate.reason}"
    interval = f" (95 % interval {written_interval(estimate.ci, 2)})" if estimate.ci else ""
    return f"{name} = {written(estimate.value, 2)}{interval}"


def _layout(across: str, up: str) -> dict[str, Any]:
    axis = {"zeroline": False, "automargin": True, "ticks": "", "showline": False}
    return {
        "height": 360,
        "margin": {"l": 56, "r": 16, "t": 28, "b": 48},
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": {**axis, "title": {"text": _words(across)}},
        "yaxis": {**axis, "title": {"text": _words(up)}},
    }


def _list_height(rows: int) -> int:
    return 96 + 24 * rows


def _points_table(
    points: Sequence[Point], figure_id: str, level: Level, metric: str, aspect: str, signature: str
) -> Table:
    named = any(point.item for point in points)
    texts = any(point.hover for point in points)
    columns = [Column("system", "system")]
    columns += [Column("item", "item")] if named else []
    columns += [
        Column("human", f"human ({aspect})", "estimate", decimals=2, higher_is_better=None),
        Column("metric", metric, "estimate"),
    ]
    columns += [Column("text", "text")] if texts else []
    rows = tuple(
        Row(
            id=f"{point.system}-{number}",
            cells={
                "system": Cell(point.system),
                "item": Cell(point.item),
                "human": Cell(point.human, ci=point.human_ci),
                "metric": Cell(point.metric, ci=point.metric_ci),
                "text": Cell(point.hover),
            },
            swatch=point.swatch,
        )
        for number, point in enumerate(points)
    )
    caption = f"{metric} and human scores, {level} level"
    return Table(f"{figure_id}-data", caption, tuple(columns), rows, signature=signature)


def _summary_table(points: Sequence[Point], table: Table) -> Table:
    """One row a system, for a list of points that is too long to stand on a page."""
    by_system: dict[tuple[int, str], list[Point]] = {}
    for point in points:
        by_system.setdefault((point.swatch, point.system), []).append(point)
    rows = tuple(
        Row(
            id=system,
            cells={
                "system": Cell(system),
                "n": Cell(len(members)),
                "human": Cell(fmean(point.human for point in members)),
                "metric": Cell(fmean(point.metric for point in members)),
            },
            swatch=swatch,
        )
        for (swatch, system), members in sorted(by_system.items())
    )
    columns = (
        Column("system", "system"),
        Column("n", "points", "number", decimals=0),
        Column("human", "mean human score", "number", decimals=2),
        Column("metric", "mean metric score", "number"),
    )
    note = f"All {written(len(points), 0)} points are in the download."
    return Table(table.id, f"{table.caption}: means by system", columns, rows, notes=(note,))
