"""Ratings that the rater changed. Not test-retest reliability: no item is shown to a rater
twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecondThoughts:
    """``changed``: items whose last score is not the first. ``mean_change``: mean of |last − first|
    over those; None where there are none."""

    items: int
    changed: int
    mean_change: float | None


def second_thoughts(first_and_last: Iterable[tuple[int, int]]) -> SecondThoughts:
    pairs = list(first_and_last)
    changes = [abs(last - first) for first, last in pairs if last != first]
    return SecondThoughts(
        len(pairs), len(changes), sum(changes) / len(changes) if changes else None
    )
