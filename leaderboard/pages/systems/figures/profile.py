"""Systems on every aspect that people rated: who is strong where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.estimates import Estimate
from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written, written_interval
from common.tables.table import Cell, Column, Row, Table, estimate_cell
from leaderboard.figures.drawing import GREY, chart_layout, escape_latex
from leaderboard.figures.figure import Figure

ROW_HEIGHT = 15
LABEL_ROWS = 1.6
"""Room above the systems of an aspect, for its name."""

Scale = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ProfileAspect:
    """``estimates`` in the order of the systems. ``scale``: lowest and highest score; None where
    the file has none."""

    name: str
    scale: Scale | None
    estimates: Sequence[Estimate]


def system_profile(
    systems: Sequence[tuple[str, int]],
    aspects: Sequence[ProfileAspect],
    *,
    figure_id: str,
    drawn: Sequence[int],
    signature: str = "",
) -> Figure:
    """``systems``: (name, swatch); ``drawn``: which of them, by index, the first on top. Aspects of
    different scales stand in one picture as shares of the scale, so only aspects with a scale are
    drawn; the data hold all."""
    table = _table(systems, aspects, figure_id, signature)
    scaled = [aspect for aspect in aspects if aspect.scale and aspect.scale[0] < aspect.scale[1]]
    points = [
        (number, aspect, index)
        for aspect in scaled
        for index, number in enumerate(drawn)
        if aspect.estimates[number].is_defined
    ]
    if not points:
        reason = "No aspect has a scale and ratings."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    each = len(drawn) + LABEL_ROWS
    base = {aspect.name: each * (len(scaled) - 1 - index) for index, aspect in enumerate(scaled)}
    layout = chart_layout("share of the aspect's scale", "")
    layout["xaxis"] |= {"range": [-0.03, 1.03], "tickformat": ".0%", "dtick": 0.25}
    layout["yaxis"] |= {
        "showticklabels": False,
        "showgrid": False,
        "range": [-0.7, each * len(scaled) - 0.3],
    }
    layout["margin"]["l"] = 16
    layout["height"] = round(80 + ROW_HEIGHT * each * len(scaled))
    layout["annotations"] = [
        _label(aspect, base[aspect.name] + len(drawn) - 0.1) for aspect in scaled
    ]
    layout["shapes"] = [_between(base[aspect.name] - 0.6) for aspect in scaled[:-1]]
    traces = [
        _trace(
            systems[number],
            [(one, base[one.name] + len(drawn) - 1 - index) for one in scaled],
            number,
        )
        for index, number in enumerate(drawn)
    ]
    left_out = [aspect.name for aspect in aspects if aspect not in scaled]
    return Figure(
        id=figure_id,
        caption=(
            f"Mean human score of {len(drawn)} of {len(systems)} systems on {len(scaled)} "
            "aspects, with 95 % intervals, each aspect on its own scale."
        )
        + (f" Without a scale, in the data only: {', '.join(left_out)}." if left_out else ""),
        alternative=" ".join(_best_text(systems, aspect, drawn) for aspect in scaled),
        points=table,
        data=[trace for trace in traces if trace["x"]],
        layout=layout,
        signature=signature,
        legend=tuple(systems[number] for number in drawn),
    )


def _between(y: float) -> dict[str, Any]:
    ends = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y}
    return {"type": "line", "layer": "below", **ends, "line": {"color": GREY, "width": 0.5}}


def _share(value: float, scale: Scale) -> float:
    return (value - scale[0]) / (scale[1] - scale[0])


def _trace(
    system: tuple[str, int], indices: Sequence[tuple[ProfileAspect, float]], number: int
) -> dict[str, Any]:
    name, swatch = system
    defined = [
        (aspect, aspect.scale, one, one.value, y)
        for aspect, y in indices
        if (one := aspect.estimates[number]).value is not None and aspect.scale is not None
    ]
    shares = [
        _share(value, scale) for _, scale, _, value, _ in defined if scale and value is not None
    ]
    ends = [
        tuple(_share(end, scale) for end in one.ci) if one.ci and scale else (share, share)
        for (_, scale, one, _, _), share in zip(defined, shares, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(name),
        "x": shares,
        "y": [y for *_, y in defined],
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 8},
        "meta": {"series": colour_number(swatch)},
        "hovertext": [
            f"{escape_latex(name)}<br>{escape_latex(_words(aspect, one))}"
            for aspect, _, one, _, _ in defined
        ],
        "hoverinfo": "text",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [high - share for (_, high), share in zip(ends, shares, strict=True)],
            "arrayminus": [share - low for (low, _), share in zip(ends, shares, strict=True)],
            "thickness": 1.5,
            "width": 0,
        },
    }


def _words(aspect: ProfileAspect, estimate: Estimate) -> str:
    assert estimate.value is not None
    interval = f" [{written_interval(estimate.ci, 2)}]" if estimate.ci else ""
    return f"{aspect.name}: {written(estimate.value, 2)}{interval}{_scale_text(aspect)}"


def _scale_text(aspect: ProfileAspect) -> str:
    return f", scale {aspect.scale[0]:g} to {aspect.scale[1]:g}" if aspect.scale else ""


def _label(aspect: ProfileAspect, y: float) -> dict[str, Any]:
    return {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": y,
        "yref": "y",
        "text": escape_latex(f"{aspect.name}{_scale_text(aspect)}"),
        "showarrow": False,
    }


def _best_text(
    systems: Sequence[tuple[str, int]], aspect: ProfileAspect, drawn: Sequence[int]
) -> str:
    known = [
        (value, number) for number in drawn if (value := aspect.estimates[number].value) is not None
    ]
    if not known:
        return f"{aspect.name}: nobody rated these systems."
    value, number = max(known)
    return f"{aspect.name}: highest {systems[number][0]}, {written(value, 2)}."


def _table(
    systems: Sequence[tuple[str, int]],
    aspects: Sequence[ProfileAspect],
    figure_id: str,
    signature: str,
) -> Table:
    keys = [f"aspect-{index}" for index in range(len(aspects))]
    return Table(
        id=f"{figure_id}-data",
        caption="Mean human score of every system on every aspect",
        columns=(
            Column("system", "system"),
            *(
                Column(
                    key,
                    aspect.name,
                    "estimate",
                    decimals=2,
                    higher_is_better=True,
                    help=f"Scale{_scale_text(aspect)[7:] or ' unknown'}.",
                )
                for key, aspect in zip(keys, aspects, strict=True)
            ),
        ),
        rows=tuple(
            Row(
                f"system-{swatch}",
                {
                    "system": Cell(name),
                    **{
                        key: estimate_cell(aspect.estimates[number])
                        for key, aspect in zip(keys, aspects, strict=True)
                    },
                },
                swatch=swatch,
            )
            for number, (name, swatch) in enumerate(systems)
        ),
        signature=signature,
    )
