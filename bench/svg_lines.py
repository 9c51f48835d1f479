"""Line charts as SVG for docs/figures: a few lines with bands, named at their ends, nothing to
install.

    save(line_chart([Line("uniform", ratings, error), Line("adaptive", ratings, other)], title=…,
    across=…, up=…), name)

Text is set in the reader's sans-serif; the ground is white, so that it reads on dark pages, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#56b4e9", "#444444", "#882255")
DASHES = ("", "6 3", "2 2", "8 3 2 3", "1 3", "10 4", "4 4", "12 3 2 3")
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 58, 150, 34, 46
BETWEEN_NAMES = 14


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right; ``low`` and ``high`` draw a band around the line."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line that something is held against, e.g. 95 % coverage."""

    up: float
    name: str


def line_chart(
    lines: Sequence[Line],
    *,
    title: str,
    across: str,
    up: str,
    up_range: tuple[float, float] | None = None,
    levels: Sequence[Level] = (),
    log_across: bool = False,
) -> str:
    """The chart as SVG text. Raises ValueError where there is no finite point, or a value ≤ 0 on a
    log axis."""
    lines = [_finite_part(line) for line in lines]
    lines = [line for line in lines if line.across]
    if not lines:
        raise ValueError("no line has a finite point")
    if log_across and min(min(line.across) for line in lines) <= 0:
        raise ValueError("a log axis has no place for values of 0 or less")
    warp: Callable[[float], float] = math.log10 if log_across else float
    left, right = (
        min(warp(line.across[0]) for line in lines),
        max(warp(line.across[-1]) for line in lines),
    )
    bottom, top = up_range or _padded(lines, levels)

    def x(value: float) -> float:
        return LEFT + (warp(value) - left) / ((right - left) or 1.0) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        kept = min(max(value, bottom), top)
        return HEIGHT - BOTTOM - (kept - bottom) / ((top - bottom) or 1.0) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        (
            f'<text x="{LEFT}" y="18" font-size="14" font-weight="600" '
            f'fill="#1f2328">{escape(title)}</text>'
        ),
    ]
    for tick in _ticks(bottom, top):
        parts.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#e4e7eb"/>')
        parts.append(_text(LEFT - 6, y(tick) + 4, _number(tick), "end", "#57606a"))
    for tick in _log_ticks(left, right) if log_across else _ticks(left, right):
        parts.append(f'<path d="M{x(tick):.1f} {HEIGHT - BOTTOM}v4" stroke="#8c959f"/>')
        parts.append(_text(x(tick), HEIGHT - BOTTOM + 17, _number(tick), "middle", "#57606a"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across, "middle", "#1f2328"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="14" y="{middle}" transform="rotate(-90 14 {middle})" text-anchor="middle" fill="#1f2328">'
        f"{escape(up)}</text>"
    )
    for level in levels:
        parts.append(
            f'<path d="M{LEFT} {y(level.up):.1f}H{WIDTH - RIGHT}" stroke="#57606a" '
            'stroke-dasharray="4 3" fill="none"/>'
        )
        parts.append(_text(LEFT + 4, y(level.up) - 4, level.name, "start", "#57606a"))
    for number, line in enumerate(lines):
        parts += _drawn(line, number, x, y)
    parts += _names(lines, y)
    return "\n".join([*parts, "</svg>", ""])


def save(chart: str, name: str) -> Path:
    """Under docs/figures, as ``name``.svg."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    file = FIGURES / f"{name}.svg"
    file.write_text(chart, encoding="utf-8")
    return file


def _finite_part(line: Line) -> Line:
    kept = [
        place
        for place, value in enumerate(line.up)
        if math.isfinite(value) and math.isfinite(line.across[place])
    ]

    def part(values: Sequence[float] | None) -> list[float] | None:
        return None if values is None else [float(values[place]) for place in kept]

    return Line(
        line.name, part(line.across) or [], part(line.up) or [], part(line.low), part(line.high)
    )


def _padded(lines: Sequence[Line], levels: Sequence[Level]) -> tuple[float, float]:
    values = [
        value for line in lines for part in (line.up, line.low, line.high) if part for value in part
    ]
    values = [value for value in values if math.isfinite(value)] + [level.up for level in levels]
    low, high = min(values), max(values)
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    return low - room, high + room


def _ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten) from low to high."""
    if high <= low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    found = [
        lead * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for lead in (1, 2, 5)
    ]
    return [tick for tick in found if low - 1e-9 <= math.log10(tick) <= high + 1e-9]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _text(x: float, y: float, words: str, anchor: str, colour: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def _drawn(
    line: Line, number: int, x: Callable[[float], float], y: Callable[[float], float]
) -> list[str]:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    parts = []
    if line.low is not None and line.high is not None:
        there = " ".join(
            f"{x(a):.1f},{y(v):.1f}" for a, v in zip(line.across, line.low, strict=True)
        )
        back = " ".join(
            f"{x(a):.1f},{y(v):.1f}"
            for a, v in reversed(list(zip(line.across, line.high, strict=True)))
        )
        parts.append(f'<polygon points="{there} {back}" fill="{colour}" fill-opacity="0.13"/>')
    points = " ".join(f"{x(a):.1f},{y(v):.1f}" for a, v in zip(line.across, line.up, strict=True))
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    parts.append(
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'
    )
    return parts


def _names(lines: Sequence[Line], y: Callable[[float], float]) -> list[str]:
    """At the lines' right ends, moved apart where they would cover each other."""
    order = sorted(range(len(lines)), key=lambda number: y(lines[number].up[-1]))
    places: list[float] = []
    for number in order:
        wanted = y(lines[number].up[-1]) + 4
        places.append(max(wanted, places[-1] + BETWEEN_NAMES) if places else wanted)
    over = max(0.0, places[-1] - (HEIGHT - BOTTOM))
    parts = []
    for number, place in zip(order, places, strict=True):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(_text(WIDTH - RIGHT + 8, place - over, lines[number].name, "start", colour))
    return parts
