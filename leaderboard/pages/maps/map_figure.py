"""Texts on a plane: what systems said and what the references say, as an encoder sees them."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from common.tables.markers import colour, colour_number, shape
from common.tables.numerals import written
from common.tables.table import Cell, Column, Row, Table
from leaderboard.figures.drawing import GREY, chart_layout, escape_latex
from leaderboard.figures.figure import Figure

Method = Literal["pca", "tsne"]
NAMES: dict[Method, str] = {"pca": "Principal components", "tsne": "t-SNE"}
HOVER_WIDTH = 60


@dataclass(frozen=True, slots=True)
class MapPoint:
    """``system`` and ``swatch`` are None for a reference; ``dialogue`` and ``turn`` are where the
    point leads."""

    system: str | None
    swatch: int | None
    place: str
    text: str
    across: float
    up: float
    dialogue: int = 0
    turn: int = 0


def response_map(
    points: Sequence[MapPoint],
    *,
    figure_id: str,
    method: Method,
    shown: Collection[str],
    explained: tuple[float, ...] = (),
    perplexity: float | None = None,
    remark: str = "",
    seed: int = 0,
    signature: str = "",
) -> Figure:
    """References as open diamonds, the systems in ``shown`` in their colours, all others pale
    behind them."""
    name = NAMES[method]
    table = _table(points, figure_id, name, signature)
    if not points:
        reason = "There are no texts to draw yet."
        return Figure(figure_id, reason, reason, table, signature=signature, empty_reason=reason)
    across, up = _axes(method, explained)
    layout = chart_layout(across, up)
    layout["height"] = 440
    layout["meta"] = {"link": "dialogues/{0}/?turn={1}"}
    if method == "pca":
        layout["yaxis"] |= {"scaleanchor": "x"}
    else:
        for axis in ("xaxis", "yaxis"):
            layout[axis] |= {"showticklabels": False}
    others = [point for point in points if point.system is not None and point.system not in shown]
    references = [point for point in points if point.system is None]
    named = sorted(
        {(p.swatch or 0, p.system) for p in points if p.system is not None and p.system in shown}
    )
    traces = [_behind(others)] if others else []
    traces += [
        _of_system(swatch, system, [p for p in points if p.system == system])
        for swatch, system in named
    ]
    traces += [_references(references)] if references else []
    counts = (
        f"{written(len(points) - len(references), 0)} responses and {written(len(references), 0)} "
        "references"
    )
    return Figure(
        id=figure_id,
        caption=" ".join(
            part
            for part in (
                f"{name} of {counts}.",
                _what_it_shows(method, explained, perplexity, seed),
                "References are open diamonds." if references else "",
                "Other systems are pale." if others else "",
                remark,
            )
            if part
        ),
        alternative=f"Map of {counts}, one marker a text; in colour: "
        f"{', '.join(system for _, system in named) or 'none'}. Texts that the encoder finds "
        "alike lie together.",
        points=table,
        data=traces,
        layout=layout,
        signature=signature,
        summary_table=_centres(points, figure_id, name, signature),
        legend=tuple((system, swatch) for swatch, system in named),
    )


def _axes(method: Method, explained: tuple[float, ...]) -> tuple[str, str]:
    if method == "tsne":
        return "t-SNE, first axis (no unit)", "t-SNE, second axis (no unit)"
    if not explained:
        return "first component", "second component"
    first, second = (written(100 * share, 0) for share in explained)
    return f"first component, {first} % of the variance", f"second component, {second} %"


def _what_it_shows(
    method: Method, explained: tuple[float, ...], perplexity: float | None, seed: int
) -> str:
    if method == "pca":
        share = (
            f"They hold {written(100 * sum(explained), 0)} % of the variance: what"
            if explained
            else "What"
        )
        return (
            f"{share} lies apart here is apart; what lies together may differ in the dimensions "
            "left out."
        )
    settings = (
        f" (perplexity {written(perplexity, 0)}, seed {seed})" if perplexity is not None else ""
    )
    return (
        "Neighbours are texts alike; distances between clusters, and their sizes, mean "
        f"little{settings}."
    )


def _of_system(swatch: int, system: str, members: Sequence[MapPoint]) -> dict[str, Any]:
    return _trace(members, system) | {
        "marker": {"color": colour(swatch), "symbol": shape(swatch), "size": 7},
        "opacity": 0.85,
        "meta": {"series": colour_number(swatch)},
    }


def _behind(members: Sequence[MapPoint]) -> dict[str, Any]:
    return _trace(members, "other systems") | {
        "marker": {"color": GREY, "symbol": "circle", "size": 4},
        "opacity": 0.25,
        "meta": {"role": "behind"},
    }


def _references(members: Sequence[MapPoint]) -> dict[str, Any]:
    return _trace(members, "references") | {
        "marker": {"color": GREY, "symbol": "diamond-open", "size": 9},
        "meta": {"role": "reference"},
    }


def _trace(members: Sequence[MapPoint], name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_latex(name),
        "x": [point.across for point in members],
        "y": [point.up for point in members],
        "hovertext": [_hover(point) for point in members],
        "hoverinfo": "text",
        "customdata": [[point.dialogue, point.turn] for point in members],
    }


def _hover(point: MapPoint) -> str:
    lines = textwrap.wrap(point.text, HOVER_WIDTH, max_lines=8, placeholder=" …")
    return "<br>".join(map(escape_latex, [f"{point.system or 'reference'}, {point.place}", *lines]))


def _table(points: Sequence[MapPoint], figure_id: str, name: str, signature: str) -> Table:
    return Table(
        f"{figure_id}-data",
        f"{name} of responses and references",
        (
            Column("system", "system"),
            Column("place", "place"),
            Column("across", "across", "number"),
            Column("up", "up", "number"),
            Column("text", "text"),
        ),
        tuple(
            Row(
                f"point-{number}",
                {
                    "system": Cell(point.system or "reference"),
                    "place": Cell(point.place),
                    "across": Cell(point.across),
                    "up": Cell(point.up),
                    "text": Cell(point.text),
                },
                swatch=point.swatch,
            )
            for number, point in enumerate(points)
        ),
        signature=signature,
    )


def _centres(points: Sequence[MapPoint], figure_id: str, name: str, signature: str) -> Table:
    """One row a system: what stands on the page in the place of thousands of points."""
    groups: dict[tuple[int, str], list[MapPoint]] = {}
    for point in points:
        key = (-1, "references") if point.system is None else (point.swatch or 0, point.system)
        groups.setdefault(key, []).append(point)
    rows = tuple(
        Row(
            system,
            {
                "system": Cell(system),
                "n": Cell(len(members)),
                "across": Cell(sum(point.across for point in members) / len(members)),
                "up": Cell(sum(point.up for point in members) / len(members)),
            },
            swatch=swatch if swatch >= 0 else None,
        )
        for (swatch, system), members in sorted(groups.items())
    )
    columns = (
        Column("system", "system"),
        Column("n", "texts", "number", 0),
        Column("across", "centre, across", "number"),
        Column("up", "centre, up", "number"),
    )
    note = f"All {written(len(points), 0)} points are in the download."
    return Table(
        f"{figure_id}-data",
        f"{name}: centres by system",
        columns,
        rows,
        notes=(note,),
        signature=signature,
    )
