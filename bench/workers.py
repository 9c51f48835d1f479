"""How fast metric runs go through real workers: ``python -m bench.workers [--case NAME] [--systems
99]``.

Each case is a site of its own in a process of its own: its database, its broker, one Celery worker
with two processes, started as ``manage.py run`` starts it. The corpus has ComperDial's size.
Measured are

* idle: from the request for one run to its result, on a site with nothing else to do (median of
  10);
* request: writing 990 rows (99 systems × 10 lexical metrics) and sending their hints;
* all: from the request to the last result, and runs a second;
* inline: the same runs in one process without a broker, in runs a second: what the way through the
  workers costs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.made_corpus import COMPERDIAL, PROJECT, home_of_its_own, make_corpus

METRICS = (
    "word_f1",
    "word_precision",
    "word_recall",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "rouge_1",
    "rouge_2",
    "rouge_l",
)
IDLE_METRIC, INLINE_METRICS = (
    "rouge_l[stem=true]",
    ("bleu_4[normalize=false]", "word_f1[normalize=false]"),
)
IDLE_RUNS, INLINE_SYSTEMS = 10, 50
PATIENCE_SECONDS = 500


@dataclass(frozen=True)
class Case:
    words: str
    with_services: bool = False
    poll_seconds: float = 0.1
    prefetch: int = 1


CASES = {
    "folder-0.1": Case("SQLite, folder every 0.1 s, 4 hints", poll_seconds=0.1, prefetch=4),
    "folder-0.1-1": Case("SQLite, folder every 0.1 s, 1 hint", poll_seconds=0.1),
    "folder-0.02-1": Case("SQLite, folder every 0.02 s, 1 hint", poll_seconds=0.02),
    "folder-1": Case("SQLite, folder every 1 s, 4 hints", poll_seconds=1.0, prefetch=4),
    "services": Case("PostgreSQL, Redis, 1 hint", with_services=True),
}
"""Hints: how many messages a worker holds for each of its processes."""


@contextmanager
def worker(home: Path, prefetch: int) -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "-A", "dialeval_site", "worker"]
    options = [
        "--queues",
        "cpu,gpu,llm",
        "--concurrency",
        "2",
        "--loglevel",
        "ERROR",
        "--without-mingle",
    ]
    options += ["--prefetch-multiplier", str(prefetch)]
    with (home / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options],
            cwd=PROJECT,
            env=dict(os.environ),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def wait_for(condition: Callable[[], bool], look_every: float) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the workers did not finish in time")
        time.sleep(look_every)


def measure(case: Case, systems_wanted: int) -> str:
    os.environ["DIALEVAL_POLL_SECONDS"] = str(case.poll_seconds)
    size = replace(COMPERDIAL, systems=systems_wanted, raters=3, raters_an_item=(1, 1))
    with home_of_its_own(case.with_services) as home:
        from annotations.corpora.queries import select_systems
        from workers.metrics.common.configuration import parse

        version = make_corpus("made", size)
        systems = select_systems(version)
        wanted = [parse(text) for text in METRICS]
        inline = inline_rate(systems[:INLINE_SYSTEMS])
        with worker(home, case.prefetch):
            idle = idle_latency(systems)
            request_seconds, all_seconds = throughput(wanted, systems)
    count = len(wanted) * len(systems)
    return (
        f"{case.words:<38}{idle:>7.2f} s{request_seconds:>8.2f} s{all_seconds:>8.1f} "
        f"s{count / all_seconds:>8.0f}/s{inline:>8.0f}/s"
    )


def inline_rate(systems: list[Any]) -> float:
    from workers.metrics.common.configuration import parse
    from workers.models import MetricRun
    from workers.runs import actions, execution

    wanted = [parse(text) for text in INLINE_METRICS]
    actions.request(wanted, systems, hint=False)
    waiting = list(MetricRun.objects.values_list("pk", flat=True))
    execution.compute(waiting[0])  # modules and the turns' texts are loaded once a process
    start = time.perf_counter()
    for run_id in waiting[1:]:
        execution.compute(run_id)
    return (len(waiting) - 1) / (time.perf_counter() - start)


def idle_latency(systems: list[Any]) -> float:
    from workers.metrics.common.configuration import parse
    from workers.models import MetricRun
    from workers.runs import actions

    wanted = parse(IDLE_METRIC)
    seconds = []
    for number, system in enumerate(systems[: IDLE_RUNS + 2]):
        start = time.perf_counter()
        actions.request([wanted], [system])
        run = MetricRun.objects.filter(
            system=system, configuration=wanted.text, state=MetricRun.State.DONE
        )
        wait_for(run.exists, look_every=0.005)
        # The first runs wait for the worker to start and for its processes to load the metric
        if number >= 2:
            seconds.append(time.perf_counter() - start)
        time.sleep(0.25)
    return median(seconds)


def throughput(wanted: list[Any], systems: list[Any]) -> tuple[float, float]:
    from workers.models import MetricRun
    from workers.runs import actions

    start = time.perf_counter()
    actions.request(wanted, systems)
    requested = time.perf_counter() - start
    left = MetricRun.objects.filter(configuration__in=METRICS).exclude(state=MetricRun.State.DONE)
    wait_for(lambda: not left.exists(), look_every=0.1)
    return requested, time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, help="only this one")
    parser.add_argument("--systems", type=int, default=COMPERDIAL.systems)
    options = parser.parse_args()
    if options.case:
        print(measure(CASES[options.case], options.systems), flush=True)
        return 0
    print(
        f"{'database, broker':<38}{'idle':>9}{'request':>10}{'all':>10}{'':>10}{'inline':>10}",
        flush=True,
    )
    for name in CASES:  # Django reads its settings once a process
        again = [
            sys.executable,
            "-m",
            "bench.workers",
            "--case",
            name,
            "--systems",
            str(options.systems),
        ]
        subprocess.run(again, cwd=PROJECT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
