"""``python -m tests.suite``: a step of ``make test``.

Where ``CI`` is set, as services that test what is pushed set it, every test there is: on PostgreSQL
and Redis, which is what sites run on in earnest, but for browsers, whose sites are folders with
SQLite; and on SQLite again what SQLite could do otherwise (the marker ``sqlite``). On a workstation
what one waits for while one works: on SQLite, without the slow ones. What that leaves out is said
at the end.

Tests of three kinds run side by side: the many that keep a processor busy, those with browsers, and
those with sites whose processes are killed, which wait as much as they work. The first give way to
the second, and both to the third: nothing of theirs has a time limit that somebody waits for.

A stage that fails stops nothing, so that one run tells all that is wrong. Each line names its
stage; at the end stands which tests failed, what became of each stage, and how long it took: of a
long run one often sees the end alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.ci import IS_LONG, is_ci

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
BUSY = min(8, CORES)
"""Redis has databases for eight."""
WAITING = min(4, max(2, CORES // 2))
"""A browser and a site are several processes each: half as many as there are cores, two at least
(the walks wait) and four at most (PostgreSQL's 100 connections)."""

FOLDER_BROKER = ("tests/faults/test_run.py", "tests/faults/test_folder_broker.py")
"""Whose sites have SQLite and the folder broker, wherever they run."""
_FAULTS_OF_ONE_WRITER = (
    "imports",
    "rating_crowd_http",
    "read_only",
    "full_database",
    "killed_writes",
    *(
        (
            "backups",
            "clock",
            "old_worker",
            "workers",
            "submissions",
            "analyses",
            "backups_into_older",
        )
        if IS_LONG
        else ()
    ),
)
"""The last ones meet in SQLite what they meet in PostgreSQL: they run twice where nobody waits."""
ON_SQLITE = (
    *FOLDER_BROKER,
    *(f"tests/faults/test_{name}.py" for name in _FAULTS_OF_ONE_WRITER),
    "tests/annotations/test_audit.py",
    "tests/dialeval_site/test_settings.py",
    "tests/upgrades/test_upgrades.py",
)
"""Files that run on SQLite, too: its one writer, its file or the folder broker has a say in them.
``tests/conftest.py`` adds to them."""


@dataclass(frozen=True)
class Stage:
    name: str
    arguments: tuple[str, ...]
    nice: int = 0
    """How far it gives way to the others."""

    @property
    def command(self) -> list[str]:
        return [
            *(("nice", "-n", str(self.nice)) if self.nice else ()),
            sys.executable,
            "-u",
            "-m",
            *self.arguments,
        ]


ALL = "" if IS_LONG else "not long"
ON_SQLITE_ALONE = "sqlite" if IS_LONG else "sqlite and not long"
QUICK = "not slow and not long"


def _pytest(processes: int, *arguments: str, marked: str = ALL) -> tuple[str, ...]:
    """Files stay whole: what a module has made serves all its tests."""
    return ("pytest", "-n", str(processes), "--dist", "loadfile", "-m", marked, *arguments)


NEITHER_BROWSERS_NOR_FAULTS = ("--ignore", "tests/browser", "--ignore", "tests/faults")
LINT = Stage("lint", ("tests.lint",), nice=2)
"""One process, which leaves the other cores to the tests."""
FAULTS = ("tests/faults", *(f"--ignore={path}" for path in FOLDER_BROKER))
WHOLE = (
    (
        Stage(
            "PostgreSQL", ("tests.services", *_pytest(BUSY, *NEITHER_BROWSERS_NOR_FAULTS)), nice=4
        ),
    ),
    (
        Stage("browsers", _pytest(WAITING, "tests/browser"), nice=2),
        Stage(
            "SQLite",
            _pytest(WAITING, "--ignore", "tests/browser", marked=ON_SQLITE_ALONE),
            nice=2,
        ),
    ),
    (Stage("faults", ("tests.services", *_pytest(WAITING, *FAULTS))),),
    (LINT,),
)
"""What is in one lane runs one after the other. Faults go first, for they have the most limits of
time; in process, where nothing waits, tests take what the others leave of the processors, and have
work for all of them when the others have ended."""

EVERYDAY = (
    (Stage("SQLite", _pytest(BUSY, *NEITHER_BROWSERS_NOR_FAULTS, marked=QUICK), nice=4),),
    (Stage("browsers", _pytest(WAITING, "tests/browser", marked=QUICK)),),
    (LINT,),
)
LEFT_OUT = (
    "Left out: slow tests, PostgreSQL and Redis, sites whose processes are killed. `CI=true make "
    "test` runs them, too."
)


SECONDS_FOR_THE_REST = 5
"""What a stage said last is read after its end."""
MAX_LINE_LENGTH = 500


@dataclass
class Outcome:
    stage: Stage
    status: int
    seconds: float
    said: str
    """The last line: pytest's count."""
    wrong: Sequence[str] = ()
    """A line of pytest's summary for each test that failed."""


@dataclass
class Suite:
    lanes: Sequence[Sequence[Stage]]
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    printing: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> list[Outcome]:
        """Of all stages, in the order of the lanes."""
        with ThreadPoolExecutor(len(self.lanes)) as threads:
            lanes = [threads.submit(self._lane, lane) for lane in self.lanes]
            try:
                return [outcome for lane in lanes for outcome in lane.result()]
            except KeyboardInterrupt:  # what runs has heard it, too, and tidies up
                self.stopped.set()
                raise
            except SystemExit:
                self.stop()
                raise

    def stop(self) -> None:
        """And with a stage the services it started."""
        self.stopped.set()
        for process in list(self.running):
            process.terminate()

    def _lane(self, stages: Sequence[Stage]) -> list[Outcome]:
        return [self._stage(stage) for stage in stages if not self.stopped.is_set()]

    def _stage(self, stage: Stage) -> Outcome:
        begun, said, wrong = time.monotonic(), [""], list[str]()
        process = subprocess.Popen(
            stage.command,
            env={**os.environ, "OMP_NUM_THREADS": "1"},  # there are as many processes as cores
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.running.add(process)
        if self.stopped.is_set():  # in the moment before
            process.terminate()
        reader = threading.Thread(
            target=self._read, args=(stage, process, said, wrong), daemon=True
        )
        reader.start()
        status = process.wait()
        reader.join(SECONDS_FOR_THE_REST)
        self.running.discard(process)
        return Outcome(stage, status, time.monotonic() - begun, said[-1], tuple(wrong))

    def _read(
        self, stage: Stage, process: subprocess.Popen[str], said: list[str], wrong: list[str]
    ) -> None:
        """Whoever outlives the stage and still has its output is not waited for."""
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                said.append(line.strip())
            if line.startswith(("FAILED ", "ERROR ")):
                wrong.append(line.strip())
            self._print(f"{stage.name:<{self._width}} | {line.rstrip()}")

    @property
    def _width(self) -> int:
        return max(len(stage.name) for lane in self.lanes for stage in lane)

    def _print(self, line: str) -> None:
        with self.printing:
            print(line, flush=True)


def report(outcomes: Sequence[Outcome]) -> str:
    width = max(len(one.stage.name) for one in outcomes)
    lines = [
        f"{one.stage.name:<{width}}  {line[:MAX_LINE_LENGTH]}"
        for one in outcomes
        for line in one.wrong
    ]
    for one in outcomes:
        ended = "passed" if one.status == 0 else f"FAILED ({one.status})"
        minutes, seconds = divmod(round(one.seconds), 60)
        lines.append(
            f"{one.stage.name:<{width}}  {ended:<12}  {minutes:3d}:{seconds:02d}  "
            f"{one.said.strip('= ')}"
        )
    return "\n".join(lines)


def main(lanes: Sequence[Sequence[Stage]]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    outcomes = Suite(lanes).run()
    print("\n" + report(outcomes))
    if lanes is EVERYDAY:
        print(LEFT_OUT)
    return int(any(one.status for one in outcomes))


def lanes_of(environment: Mapping[str, str]) -> Sequence[Sequence[Stage]]:
    return WHOLE if is_ci(environment) else EVERYDAY


if __name__ == "__main__":
    sys.exit(main(lanes_of(os.environ)))
