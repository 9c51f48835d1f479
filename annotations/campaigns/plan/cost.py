"""What a campaign costs in ratings and hours, before it begins and while it runs. Pure: no Django
here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Literal

Basis = Literal["campaign", "kind", "assumed"]
"""Whose ratings the pace is of: this campaign's, the site's campaigns of the same kind, or
nobody's."""

MIN_RUNS_FOR_ESTIMATE = 10
"""A median of fewer ratings says little; the next basis is taken instead."""
ASSUMED_SECONDS = {
    "turn": 20.0,
    "dialogue": 90.0,
    "pair": 30.0,
    "dialogue_pair": 120.0,
    "systems": 60.0,
    "interactive": 300.0,
    "collection": 900.0,
}
"""For one rating (of a collection: for one person's part in a dialogue) where nobody has rated yet.
Round figures of our own, meant to be replaced by what is measured; the interval is from half of it
to twice as much."""
SECONDS_AN_HOUR = 3600
STANDARD_NORMAL_975 = 1.959964


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of work for one rating: a median with its 95 % interval, or an assumption with a
    range."""

    seconds: float
    low: float
    high: float
    basis: Basis
    ratings: int = 0

    @property
    def minutes(self) -> float:
        return self.seconds / 60


def assumed_response_time(kind: str) -> Pace:
    seconds = ASSUMED_SECONDS[kind]
    return Pace(seconds, seconds / 2, seconds * 2, "assumed")


def measured_response_time(seconds: Sequence[float], basis: Basis) -> Pace | None:
    """The median of the ratings' active seconds; None where there are too few of them.

    The interval is that of the order statistics: with n ratings the median lies between those at
    the ranks n/2 ± 1.96 √n/2 in 95 % of samples, whatever the distribution (Conover, Practical
    Nonparametric Statistics, 3.2).
    """
    ordered = sorted(seconds)
    count = len(ordered)
    if count < MIN_RUNS_FOR_ESTIMATE:
        return None
    reach = STANDARD_NORMAL_975 * math.sqrt(count) / 2
    lowest = max(math.floor(count / 2 - reach), 1)
    highest = min(math.ceil(count / 2 + reach) + 1, count)
    return Pace(median(ordered), ordered[lowest - 1], ordered[highest - 1], basis, count)


@dataclass(frozen=True, slots=True)
class Share:
    """One person's part where ``raters`` share the work evenly."""

    raters: int
    ratings: int
    hours: float


@dataclass(frozen=True, slots=True)
class Cost:
    """``items`` × ``raters_per_item`` = ``ratings``, and the hours of work in them."""

    items: int
    raters_per_item: int
    pace: Pace

    @property
    def ratings(self) -> int:
        return self.items * self.raters_per_item

    @property
    def hours(self) -> float:
        return self.ratings * self.pace.seconds / SECONDS_AN_HOUR

    @property
    def hours_low(self) -> float:
        return self.ratings * self.pace.low / SECONDS_AN_HOUR

    @property
    def hours_high(self) -> float:
        return self.ratings * self.pace.high / SECONDS_AN_HOUR

    def shared_by(self, raters: int) -> Share:
        """Nobody rates an item twice, so fewer than k raters cannot do it. Raises ``ValueError``
        for fewer."""
        if raters < self.raters_per_item:
            raise ValueError(f"{self.raters_per_item} raters an item need at least as many raters")
        each = math.ceil(self.ratings / raters)
        return Share(raters, each, each * self.pace.seconds / SECONDS_AN_HOUR)

    def shares(self) -> list[Share]:
        """For the fewest raters that can do it, twice and five times as many."""
        return [self.shared_by(self.raters_per_item * times) for times in (1, 2, 5)]


def expected_end(left: int, lately: int, since: datetime, now: datetime) -> datetime | None:
    """When ``left`` ratings are done if they go on as the ``lately`` ones since ``since`` did; None
    where none did.

    Nights and days off are in the pace already. An end more than ten years away is no end.
    """
    if left <= 0 or lately <= 0 or since >= now:
        return None
    seconds = left * ((now - since).total_seconds() / lately)
    return (
        now + timedelta(seconds=seconds) if seconds < timedelta(days=3650).total_seconds() else None
    )
