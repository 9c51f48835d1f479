"""What the machine under a measurement did: of a virtual one, the host takes processors away
("steal") for others, and where two virtual processors are the threads of one core, others may slow
it without a word: so a fixed piece of work is timed, too."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

STEAL = 7
"""The place in /proc/stat's first line after "cpu"; the two after it, of guests, are counted in the
first two."""
COUNTED = 8


ROUNDS, TRIES = 200_000, 5


def fixed_work_seconds() -> float:
    """What one core takes for a fixed piece of work; the best of five. Two runs are held against
    each other by it."""

    def once() -> float:
        started = time.perf_counter()
        hashlib.pbkdf2_hmac("sha256", b"a fixed piece of work", b"salt", ROUNDS)
        return time.perf_counter() - started

    return min(once() for _ in range(TRIES))


@dataclass(frozen=True)
class Ticks:
    """Of all processors since the start of the machine."""

    all: int
    stolen: int


def ticks() -> Ticks:
    told = [
        int(one) for one in Path("/proc/stat").read_text().splitlines()[0].split()[1 : 1 + COUNTED]
    ]
    return Ticks(sum(told), told[STEAL])


def share_stolen(before: Ticks) -> float:
    """Of the time of all processors since then, how much the host took away: 0 to 1."""
    now = ticks()
    return (now.stolen - before.stolen) / max(1, now.all - before.all)
