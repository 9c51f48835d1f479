"""What the machine under a measurement did: of a virtual one, the host takes processors away ("steal") for others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STEAL = 7
"""The place in /proc/stat's first line after "cpu"; the two after it, of guests, are counted in the first two."""
COUNTED = 8


@dataclass(frozen=True)
class Ticks:
    """Of all processors since the start of the machine."""

    all: int
    stolen: int


def ticks() -> Ticks:
    told = [int(one) for one in Path("/proc/stat").read_text().splitlines()[0].split()[1 : 1 + COUNTED]]
    return Ticks(sum(told), told[STEAL])


def share_stolen(before: Ticks) -> float:
    """Of the time of all processors since then, how much the host took away: 0 to 1."""
    now = ticks()
    return (now.stolen - before.stolen) / max(1, now.all - before.all)
