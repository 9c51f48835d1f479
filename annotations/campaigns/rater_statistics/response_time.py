"""How long a rater takes for an item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

NO_TIMES = "the browser sent no times"


@dataclass(frozen=True, slots=True)
class Pace:
    """``seconds``: the median active time for an item, or None with ``reason``. ``per_hour``: items
    at that pace."""

    seconds: float | None
    timed: int
    reason: str = ""

    @property
    def per_hour(self) -> float | None:
        return 3600.0 / self.seconds if self.seconds else None


def pace(active_ms: Iterable[int | None]) -> Pace:
    """The median of the items' active times in milliseconds, all second thoughts of an item
    included; None is an item without a time. A median, because one interrupted item must not make a
    rater look slow."""
    known = [milliseconds for milliseconds in active_ms if milliseconds is not None]
    if not known:
        return Pace(None, 0, NO_TIMES)
    return Pace(float(np.median(known)) / 1000.0, len(known))
