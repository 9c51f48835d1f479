"""What all figures are drawn with: layouts, whiskers and the words that plotly may read.

Colours stand in the traces twice: as the light theme's value, for any reader of plotly JSON, and as
``meta`` (a series number or a role), from which the page takes the value of its own theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import floor, isfinite, log10
from typing import Any, TypeVar
from urllib.parse import urlencode

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval

Row = TypeVar("Row")

GREY = "#57606a"
ROWS_DRAWN = 100
"""Of a chart with a row a system, as of a table: five hundred push the table twelve thousand pixels
down the page. The data beneath and the file have all."""
ROWS_IN_SIGHT = 30
"""More are higher than a window."""


def chart_layout(across: str, up: str) -> dict[str, Any]:
    axis = {"zeroline": False, "automargin": True, "ticks": "", "showline": False}
    return {
        "height": 360,
        "margin": {"l": 56, "r": 16, "t": 28, "b": 48},
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": {**axis, "title": {"text": escape_latex(across), "standoff": 12}},
        "yaxis": {**axis, "title": {"text": escape_latex(up)}},
    }


def list_layout(across: str, names: Sequence[str]) -> dict[str, Any]:
    """One row a name, the first at the bottom."""
    layout = chart_layout(across, "")
    layout["yaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": names}
    return _with_rows(layout, len(names), 24)


def rows_layout(across: str, names: Sequence[str], row_height: int = 24) -> dict[str, Any]:
    """One row a name, the first at the bottom, row 0. ``meta.rows`` tells the page that names may
    stand above their rows where the window is too narrow for them at the side."""
    layout = chart_layout(across, "")
    layout["yaxis"] |= {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [escape_latex(shortened(name)) for name in names],
        "ticklabelstandoff": 6,
    }
    return _with_rows(layout, len(names), row_height)


def _with_rows(layout: dict[str, Any], count: int, row_height: int) -> dict[str, Any]:
    """The scale of many rows stands above them: beneath, it is out of sight where reading
    begins."""
    layout["yaxis"] |= {"range": [-0.6, count - 0.4], "showgrid": False}
    layout["height"] = 96 + row_height * count
    layout["meta"] = {"rows": count}
    if count > ROWS_IN_SIGHT:
        layout["xaxis"] |= {"side": "top"}
        layout["margin"] |= {"t": 56, "b": 20}
    return layout


def shortened(name: str, letters: int = 44) -> str:
    """What fits beside a row; the text under the pointer and the data have the whole name."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def places(values: Iterable[float]) -> list[float]:
    """Where thousands of markers stand, to a hundred-thousandth of their spread or finer, which no
    screen shows. With seventeen digits a page of two thousand points is half as large again. The
    data beneath keep all."""
    exact = list(values)
    spread = max(exact, default=0.0) - min(exact, default=0.0)
    if not spread or not isfinite(spread):
        return exact
    decimals = 5 - floor(log10(spread))
    return [round(value, decimals) for value in exact]


def step_of_ranks(count: int) -> int:
    """Between the whole ranks on an axis that ends at ``count``: some 10 are written."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if count / step <= 12)


def highest(rising: Sequence[Row]) -> Sequence[Row]:
    """What is drawn of rows in rising order."""
    return rising[-ROWS_DRAWN:]


def ends(rising: Sequence[Row]) -> Sequence[Row]:
    """What is drawn where the lowest are as telling as the highest."""
    half = ROWS_DRAWN // 2
    return rising if len(rising) <= ROWS_DRAWN else [*rising[:half], *rising[-half:]]


def sample_text(count: int, which: str = f"{ROWS_DRAWN} highest") -> str:
    """ "" where all of so many rows are drawn; else a sentence for the caption."""
    return f"Drawn: the {which}; the data have all." if count > ROWS_DRAWN else ""


def format_interval(count: int, low: str, high: str) -> str:
    half = ROWS_DRAWN // 2
    return sample_text(count, f"{half} {high} and the {half} {low}")


def system_link(name: str) -> str:
    """Where a system's dot leads, below the address of its corpus: its comparison with another.

    Pages follow ``customdata``, such an address a point, or values for ``layout.meta.link``.
    """
    return f"systems/compare/?{urlencode({'first': name})}"


LABEL_LINE = 15
"""Pixels."""


def uprights(lines: Sequence[tuple[str, float]], middle: float, lowered: int = 0) -> dict[str, Any]:
    """Labelled upright lines for a layout: shapes, labels above the drawing (the second above the
    first, so that two close ones can be read), ``lowered`` by so many pixels, and the room that
    these need. Labels lean towards the middle of the chart."""
    ordered = sorted(lines, key=lambda line: line[1])
    return {
        "shapes": [upright(value) for _, value in ordered],
        "annotations": [
            {
                "x": value,
                "y": 1,
                "xref": "x",
                "yref": "paper",
                "yshift": LABEL_LINE * index - lowered,
                "text": escape_latex(f"{label} {written(value, 2)}"),
                "showarrow": False,
                "xanchor": "right" if value > middle else "left",
                "yanchor": "bottom",
            }
            for index, (label, value) in enumerate(ordered)
        ],
        "top": 28 + LABEL_LINE * max(len(ordered) - 1, 0),
    }


def upright(value: float) -> dict[str, Any]:
    ends = {"xref": "x", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1}
    return {"type": "line", **ends, "line": {"color": GREY, "width": 1.5, "dash": "dash"}}


def letter_marks(letters: Sequence[str]) -> list[dict[str, Any]]:
    """Annotations: each row's letters at the right edge, the first row at the bottom."""
    return [
        {
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 8,
            "y": row,
            "yref": "y",
            "text": of_row,
            "showarrow": False,
        }
        for row, of_row in enumerate(letters)
        if of_row
    ]


def dot_and_whisker(name: str, swatch: int, estimate: Estimate) -> dict[str, Any]:
    """A defined estimate in the row of this name, which is escaped already."""
    assert estimate.value is not None
    interval = f" [{written_interval(estimate.ci, 3)}]" if estimate.ci else ""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [estimate.value],
        "y": [name],
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 9},
        "meta": {"series": colour_number(swatch)},
        "hovertext": [f"{name}<br>{written(estimate.value, 3)}{interval}"],
        "hoverinfo": "text",
    } | whiskers("error_x", [(estimate.value, estimate.ci)])


def whiskers(axis: str, ends: list[tuple[float, tuple[float, float] | None]]) -> dict[str, Any]:
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


def escape_latex(text: str) -> str:
    """Plotly reads a little HTML in every text; quotes stay as they are, it does not know their
    entities."""
    return escape(text, quote=False)


def interval_text(estimates: Iterable[Estimate], interval: str = "95 % interval") -> str:
    """What a caption says of the whiskers. An estimate of a single dialogue, for one, has none."""
    have = {one.ci is not None for one in estimates}
    if have == {False}:
        return f"without {interval} (the data say why)"
    return f"with {interval}" if have == {True} else f"with {interval} where there is one"


def format_estimate(name: str, estimate: Estimate) -> str:
    if estimate.value is None:
        return f"{name} is undefined: {estimate.reason}"
    interval = f" (95 % interval {written_interval(estimate.ci, 2)})" if estimate.ci else ""
    return f"{name} = {written(estimate.value, 2)}{interval}"
