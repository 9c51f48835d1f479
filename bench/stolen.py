"""When the host of a virtual machine took a whole core away, not only how much in all.

A core that is gone for half a second stops whatever thread was on it, and with it every thread of
its process that waits for the interpreter. Such an answer tells of the host, so a bench tells how
many there were and what is left without them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.machine import STEAL

LOOKED_EVERY_SECONDS = 0.05
GONE_SHARE = 0.5
"""Of a look's time: from here on the core counts as gone."""
SHORTEST_SECONDS = 0.2
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Stretch:
    """``begin`` and ``end`` as ``time.perf_counter`` tells them, which on Linux is the same in
    every process."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    def meets(self, begin: float, end: float) -> bool:
        return self.begin < end and begin < self.end


@dataclass(frozen=True, slots=True)
class Look:
    """``stolen``: seconds of each core since the machine's start."""

    at: float
    stolen: tuple[float, ...]


def look() -> Look:
    lines = Path("/proc/stat").read_text().splitlines()
    cores = [line.split() for line in lines if line.startswith("cpu") and line[3].isdigit()]
    return Look(time.perf_counter(), tuple(int(core[1 + STEAL]) / TICKS_A_SECOND for core in cores))


def stretches(looks: Iterable[Look]) -> list[Stretch]:
    """Of one core each, at least ``SHORTEST_SECONDS`` long, in the order in which they ended."""
    found: list[Stretch] = []
    begun: dict[int, float] = {}
    before: Look | None = None
    for now in looks:
        for core, stolen in enumerate(now.stolen):
            gone = 0.0 if before is None else stolen - before.stolen[core]
            if before is not None and gone >= GONE_SHARE * (now.at - before.at):
                # Linux may count what was stolen when the core is back: more than the time since
                # the last look.
                begun.setdefault(core, min(before.at, now.at - gone))
            elif core in begun and before is not None:
                found.append(Stretch(begun.pop(core), before.at))
        before = now
    if before is not None:
        found += [Stretch(begin, before.at) for begin in begun.values()]
    return [one for one in found if one.seconds >= SHORTEST_SECONDS]


class StolenTime:
    """A thread that looks twenty times a second, for as long as the block lasts."""

    def __enter__(self) -> StolenTime:
        self._looks = [look()]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_again_and_again)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _look_again_and_again(self) -> None:
        while not self._over.wait(LOOKED_EVERY_SECONDS):
            self._looks.append(look())

    def stretches(self) -> list[Stretch]:
        return stretches(list(self._looks))
