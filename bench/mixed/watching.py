"""What the site's parts take while the load goes on: memory, processor time, queue delays, slow
statements."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench.load import processor_seconds
from bench.machine import share_stolen, ticks

LOOKED_EVERY_SECONDS = 2.0


@dataclass
class Memory:
    """Proportional set size in megabytes: pages that processes share count once."""

    begin: float = 0.0
    end: float = 0.0
    under_load: list[float] = field(default_factory=list)
    """One every two seconds."""

    @property
    def peak(self) -> float:
        return max(self.begin, *self.under_load) if self.under_load else self.begin

    @property
    def sixths(self) -> list[float]:
        """The median of each sixth of the load, because what a request or a statistic takes comes
        and goes."""
        sixth = len(self.under_load) / 6
        parts = [
            self.under_load[round(number * sixth) : round((number + 1) * sixth)]
            for number in range(6)
        ]
        return [median(part) for part in parts if part]

    @property
    def growth(self) -> float:
        """From the fourth sixth of the load to the last. In the first half what is kept in memory
        fills: half an hour makes the small site's 40 systems 300, and each process keeps the
        answers it reads up to a bound. Of a site that has its size (``--keep``) web processes
        stayed at 985 to 988 MB."""
        return self.sixths[-1] - self.sixths[min(3, len(self.sixths) - 1)] if self.sixths else 0.0


def memory_of(roots: list[int]) -> float:
    kilobytes = 0
    for process in _with_children(roots):
        with suppress(OSError, ValueError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    kilobytes += int(line.split()[1])
    return kilobytes / 1000


def _with_children(roots: list[int]) -> set[int]:
    above: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            above[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found = set(roots) & above.keys()
    while more := {process for process, parent in above.items() if parent in found} - found:
        found |= more
    return found


@dataclass
class Watch:
    """A thread beside the load. ``statistics`` are rows' times, noted as they end, because rows are
    written again."""

    roots: dict[str, list[int]]
    memory: dict[str, Memory] = field(default_factory=lambda: defaultdict(Memory))
    processor: dict[str, float] = field(default_factory=dict)
    load_averages: list[float] = field(default_factory=list)
    share_stolen: float = 0.0
    statistics: dict[tuple[int, datetime], tuple[str, datetime, float]] = field(
        default_factory=dict
    )
    most_waiting: Counter[str] = field(default_factory=Counter)

    def __enter__(self) -> Watch:
        self._over = threading.Event()
        self._ticks = ticks()
        self._before = {part: processor_seconds(roots) for part, roots in self.roots.items()}
        for part, roots in self.roots.items():
            self.memory[part].begin = memory_of(roots)
        self._thread = threading.Thread(target=self._look_again_and_again)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()
        for part, roots in self.roots.items():
            self.memory[part].end = memory_of(roots)

    def load_is_over(self) -> None:
        """What the parts took until now is what they took under the load; what waits is worked off
        after it."""
        self.share_stolen = share_stolen(self._ticks)
        self.processor = {
            part: processor_seconds(roots) - self._before[part]
            for part, roots in self.roots.items()
        }

    def _look_again_and_again(self) -> None:
        from django.db import connection

        try:
            while not self._over.wait(LOOKED_EVERY_SECONDS):
                self._look()
        finally:
            connection.close()

    def _look(self) -> None:
        from leaderboard.challenges.models import Submission
        from leaderboard.models import Analysis
        from workers.models import MetricRun

        for part, roots in self.roots.items():
            self.memory[part].under_load.append(memory_of(roots))
        self.load_averages.append(float(Path("/proc/loadavg").read_text().split()[0]))
        ended = Analysis.objects.filter(computed_at__isnull=False)
        for key, kind, asked, at, seconds in ended.values_list(
            "pk", "kind", "waits_since", "computed_at", "seconds"
        ):
            if asked < at:
                self.statistics[key, at] = (kind, asked, seconds or 0.0)
        for name, rows in (
            ("metric runs", MetricRun.objects.filter(state="pending")),
            ("submissions", Submission.objects.filter(state="received")),
            ("statistics", Analysis.objects.filter(state="pending")),
        ):
            self.most_waiting[name] = max(self.most_waiting[name], rows.count())


# --- queue delays, from the rows ------------------------------------------------------------------


def delays(since: datetime, watch: Watch) -> dict[str, list[float]]:
    """Seconds: from a row's making to its claim, and from there to its end."""
    from leaderboard.challenges.models import Submission
    from workers.models import MetricRun

    found: dict[str, list[float]] = defaultdict(list)
    runs = MetricRun.objects.filter(created_at__gte=since, state="done")
    for queue, made, begun, done in runs.values_list(
        "queue", "created_at", "started_at", "finished_at"
    ):
        found[f"metric run ({queue}): waits"].append((begun - made).total_seconds())
        found[f"metric run ({queue}): computed"].append((done - begun).total_seconds())
    submissions = Submission.objects.filter(received_at__gte=since, state="scored")
    for made, begun, scoring, ended in submissions.values_list(
        "received_at", "validating_at", "scoring_at", "ended_at"
    ):
        found["submission: waits"].append((begun - made).total_seconds())
        found["submission: checked and stored"].append((scoring - begun).total_seconds())
        found["submission: scored"].append((ended - scoring).total_seconds())
        found["submission: from upload to score"].append((ended - made).total_seconds())
    for (_, at), (_, asked, seconds) in watch.statistics.items():
        if at >= since:
            found["statistic: waits"].append(max(0.0, (at - asked).total_seconds() - seconds))
            found["statistic: computed"].append(seconds)
    return dict(found)


# --- slow statements ------------------------------------------------------------------------------

_LINE = re.compile(
    r"duration: ([0-9.]+) ms\s+(?:statement|execute [^:]*|parse [^:]*|bind [^:]*): (.*)"
)
LONGEST_SHOWN = 300


def slow_statements(log: Path, from_byte: int) -> list[tuple[str, int, float, float]]:
    """(statement, times, ms in all, longest ms), by time in all: those that took longer than the
    log's threshold."""
    times: dict[str, list[float]] = defaultdict(list)
    with log.open("rb") as file:
        file.seek(from_byte)
        for line in file.read().decode(errors="replace").splitlines():
            if match := _LINE.search(line):
                times[_without_values(match[2])].append(float(match[1]))
    rows = [(statement, len(took), sum(took), max(took)) for statement, took in times.items()]
    return sorted(rows, key=lambda row: -row[2])


def _without_values(statement: str) -> str:
    return re.sub(r"'[^']*'|\b\d+\b", "?", re.sub(r"(\$\d+, )+\$\d+", "$…", statement))[
        :LONGEST_SHOWN
    ]
