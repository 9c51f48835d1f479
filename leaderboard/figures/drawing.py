"""What all figures are drawn with: layouts, whiskers and the words that plotly may read.

Colours stand in the traces twice: as the light theme's value, for any reader of plotly JSON, and as ``meta`` (a
series number or a role), from which the page takes the value of its own theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from annotations.estimates import Estimate
from annotations.tables.markers import colour, colour_number, shape
from annotations.tables.numerals import written, written_interval

GREY = "#57606a"


def chart_layout(across: str, up: str) -> dict[str, Any]:
    axis = {"zeroline": False, "automargin": True, "ticks": "", "showline": False}
    return {
        "height": 360,
        "margin": {"l": 56, "r": 16, "t": 28, "b": 48},
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": {**axis, "title": {"text": escaped_words(across)}},
        "yaxis": {**axis, "title": {"text": escaped_words(up)}},
    }


def list_layout(across: str, names: Sequence[str]) -> dict[str, Any]:
    """One row a name, the first at the bottom."""
    layout = chart_layout(across, "")
    layout["yaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": names, "showgrid": False}
    layout["height"] = 96 + 24 * len(names)
    return layout


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


def escaped_words(text: str) -> str:
    """Plotly reads a little HTML in every text; quotes stay as they are, it does not know their entities."""
    return escape(text, quote=False)


def estimate_words(name: str, estimate: Estimate) -> str:
    if estimate.value is None:
        return f"{name} is undefined: {estimate.reason}"
    interval = f" (95 % interval {written_interval(estimate.ci, 2)})" if estimate.ci else ""
    return f"{name} = {written(estimate.value, 2)}{interval}"
