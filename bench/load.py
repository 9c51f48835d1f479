"""Many clients at once, each in a thread of its own, and what their requests took."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Pair = Callable[[], None]
"""Submit a rating and have the next item in hand; raises where that did not work."""
AFTER_AN_ERROR_SECONDS = 0.2


@dataclass
class Load:
    clients: int
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    processor_seconds: float = 0.0

    @property
    def pairs_a_second(self) -> float:
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    @property
    def processor_ms(self) -> float:
        """Of the servers, for one pair: it hardly depends on what else the machine does."""
        return (
            1000 * self.processor_seconds / len(self.latencies) if self.latencies else float("nan")
        )

    def quantile(self, q: float) -> float:
        """In milliseconds."""
        if not self.latencies:
            return float("nan")
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, int(q * len(ordered)))]

    def __str__(self) -> str:
        errors = f", errors {dict(self.errors)}" if self.errors else ""
        return (
            f"{self.pairs_a_second:>7.1f} pairs/s   p50 {self.quantile(0.5):>7.1f}   p95 "
            f"{self.quantile(0.95):>7.1f}   p99 {self.quantile(0.99):>7.1f} ms   "
            f"{self.processor_ms:>6.1f} ms of processor a pair{errors}"
        )


def under_load(
    pairs: Sequence[Pair],
    seconds: float,
    mean_pause: float = 0.0,
    servers: Sequence[int] = (),
    seed: int = 0,
) -> Load:
    """Each client asks again as soon as it is answered, or after a pause drawn from an exponential
    distribution.

    ``servers``: processes whose processor time, with that of their children, is counted.
    """
    load = Load(len(pairs))
    lock, begin = threading.Lock(), threading.Event()
    deadline = 0.0

    def work(place: int, pair: Pair) -> None:
        chance = random.Random(seed * 1000 + place)
        latencies, errors = [], Counter[str]()
        begin.wait()
        if mean_pause:
            time.sleep(chance.uniform(0, mean_pause))  # raters do not all begin at one moment
        while time.monotonic() < deadline:
            start = time.perf_counter()
            try:
                pair()
                latencies.append(time.perf_counter() - start)
            except Exception as problem:  # a server's failure is a result, too
                errors[f"{type(problem).__name__}: {problem}"[:80]] += 1
                time.sleep(AFTER_AN_ERROR_SECONDS)
            if mean_pause:
                time.sleep(chance.expovariate(1 / mean_pause))
        with lock:
            load.latencies += latencies
            load.errors += errors

    threads = [threading.Thread(target=work, args=one, daemon=True) for one in enumerate(pairs)]
    for thread in threads:
        thread.start()
    used = processor_seconds(servers)
    start = time.monotonic()
    deadline = start + seconds
    begin.set()
    for thread in threads:
        thread.join()
    load.seconds = time.monotonic() - start
    load.processor_seconds = processor_seconds(servers) - used
    return load


def processor_seconds(roots: Sequence[int]) -> float:
    """Processor time of these processes and of all below them so far; 0 where the system has no
    /proc."""
    times: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        times[int(entry.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    ticks = 0
    for process, (_, used) in times.items():
        above = process
        while above in times and above not in roots:
            above = times[above][0]
        ticks += used if above in roots else 0
    return ticks / 100
