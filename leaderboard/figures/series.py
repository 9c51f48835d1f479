"""Which points of a scatter share a trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from common.tables.markers import LOOKS


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
