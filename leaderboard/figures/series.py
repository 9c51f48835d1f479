"""How the systems of a scatter are told apart: which points share a trace, and where systems are
named: beside their points where there is room, else in a legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, Protocol, TypeVar

from common.tables.markers import LOOKS
from leaderboard.figures.figure import Point


class OfASystem(Protocol):
    @property
    def system(self) -> str: ...

    @property
    def swatch(self) -> int: ...


Marker = TypeVar("Marker", bound=OfASystem)


@dataclass(frozen=True, slots=True)
class Series(Generic[Marker]):
    """``name``: the system's; "" where systems that look alike share the trace."""

    name: str
    swatch: int
    markers: list[Marker]


def series_of(markers: Iterable[Marker]) -> list[Series[Marker]]:
    """One a system, in the order of their numbers, so that legend, colour and shape agree on every
    page.

    Of more systems than there are looks, one a look: five hundred traces are slow to read and to
    draw, and tell no more apart. Which system a marker is stands under the pointer.
    """
    by_system: dict[tuple[int, str], list[Marker]] = {}
    for marker in markers:
        by_system.setdefault((marker.swatch, marker.system), []).append(marker)
    if len(by_system) <= LOOKS:
        return [
            Series(system, swatch, members)
            for (swatch, system), members in sorted(by_system.items())
        ]
    by_style: dict[int, list[Marker]] = {}
    for (swatch, _), members in sorted(by_system.items()):
        by_style.setdefault(swatch % LOOKS, []).extend(members)
    return [
        Series("", cached_result, members) for cached_result, members in sorted(by_style.items())
    ]


SYSTEMS_NAMED = 16
"""More names than this cover each other and the points; hover, the data beneath and the download
still have them."""
NAMING_WIDTH, NAMING_HEIGHT, LETTER_WIDTH, LINE_HEIGHT = 260.0, 240.0, 7.0, 14.0
"""Pixels: the plot where three charts stand side by side, a letter, a line of names."""


def names_fit(points: Sequence[Point]) -> bool:
    """Whether every name has room beside its point; names on top of each other say less than a
    legend."""
    middle = middle_score(points)
    across = max(point.human for point in points) - min(point.human for point in points)
    up = max(point.metric for point in points) - min(point.metric for point in points)
    boxes = []
    for point in points:
        right = (point.human - middle) / across * NAMING_WIDTH if across else 0.0
        top = point.metric / up * NAMING_HEIGHT if up else 0.0
        width = len(point.system) * LETTER_WIDTH
        left = right if name_of_reference(point.human, middle) == "top right" else right - width
        boxes.append((left, left + width, top))
    return not any(
        abs(one[2] - other[2]) < LINE_HEIGHT and one[0] < other[1] and other[0] < one[1]
        for one, other in combinations(boxes, 2)
    )


def name_of_reference(human: float, middle: float) -> str:
    """Names lean towards the middle of the chart, so that none is cut off at an edge."""
    return "top right" if human < middle else "top left"


def middle_score(points: Sequence[Point]) -> float:
    return (min(point.human for point in points) + max(point.human for point in points)) / 2


def legend_of(points: Sequence[Point]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (system, swatch)
        for swatch, system in sorted({(point.swatch, point.system) for point in points})
    )
