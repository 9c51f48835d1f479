"""Which of its submissions stands for a team."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """``value``: on the ranking metric, over the dialogues that decide; NaN where it is
    undefined."""

    submission: int
    team: int
    place: int
    """Its place in the order in which submissions came: equal values go to the one that came
    first."""
    value: float = math.nan


def best_of_each(candidates: Iterable[Candidate], higher_is_better: bool) -> dict[int, int]:
    """Team → submission with the best defined value, the first of equals; the latest where none is
    defined."""
    chosen: dict[int, Candidate] = {}
    sign = 1 if higher_is_better else -1
    for candidate in sorted(candidates, key=lambda one: one.place):
        known = chosen.get(candidate.team)
        if known is None or math.isnan(known.value) or sign * candidate.value > sign * known.value:
            chosen[candidate.team] = candidate
    return {team: candidate.submission for team, candidate in chosen.items()}


def latest_of_each(candidates: Iterable[Candidate]) -> dict[int, int]:
    """Team → the submission that came last."""
    return {one.team: one.submission for one in sorted(candidates, key=lambda one: one.place)}
