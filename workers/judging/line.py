"""The line in which claimed calls wait for their time: after a pause, and for a place in the
endpoint's rates. Pure."""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from workers.judging.limits import Limits
from workers.judging.rates import Pace, seconds_for
from workers.judging.sender import Attempt

TOGETHER_SECONDS = 0.25
"""Calls take their places together, up to so many seconds' worth: a shared pace is a write to a
database."""


class Line:
    """First come, first served, but for calls that wait for their next time. Times are the caller's
    clock's."""

    def __init__(self, pace: Pace, limits: Limits) -> None:
        self._pace, self._limits = pace, limits
        self._due: list[tuple[float, int, Attempt]] = []
        self._placed: deque[Attempt] = deque()
        """Their place in the endpoint's rates is taken, and comes at ``_placed_at``."""
        self._placed_at = float("-inf")
        self._serial = itertools.count()

    def __len__(self) -> int:
        return len(self._due) + len(self._placed)

    def add(self, attempt: Attempt, when: float) -> None:
        heapq.heappush(self._due, (when, next(self._serial), attempt))

    def put_back(self, attempts: list[Attempt]) -> None:
        """Taken from the line, but not sent: their places are still theirs."""
        self._placed.extendleft(reversed(attempts))

    def ready(self, capacity: int, now: float) -> list[Attempt]:
        """At most ``capacity`` attempts that may be sent now. Takes their places."""
        going: list[Attempt] = []
        while len(going) < capacity:
            if self._placed:
                if self._placed_at > now:
                    break
                going.append(self._placed.popleft())
            elif self._due and self._due[0][0] <= now:
                self._take_slots(capacity - len(going), now)
            else:
                break
        return going

    def next_time(self) -> float | None:
        """When ``ready`` may have something; None where the line is empty."""
        if self._placed:
            return self._placed_at
        return self._due[0][0] if self._due else None

    def take_all(self) -> list[Attempt]:
        """Everything that waits, in its order; the line is empty then."""
        waiting = [*self._placed, *(attempt for _, _, attempt in sorted(self._due))]
        self.drain()
        return waiting

    def drain(self) -> None:
        self._due.clear()
        self._placed.clear()

    def _take_slots(self, capacity: int, now: float) -> None:
        tokens = takes = 0.0
        while self._due and self._due[0][0] <= now and len(self._placed) < capacity:
            attempt = self._due[0][2]
            takes = max(
                seconds_for(len(self._placed) + 1, self._limits.requests_a_minute),
                seconds_for(int(tokens) + attempt.tokens, self._limits.tokens_a_minute),
            )
            if self._placed and takes > TOGETHER_SECONDS:
                break
            tokens += attempt.tokens
            self._placed.append(heapq.heappop(self._due)[2])
        self._placed_at = now + self._pace.reserve(len(self._placed), int(tokens))
