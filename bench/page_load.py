"""Leaderboard pages at a steady rate: ``python -m bench.page_load [--small] [--keep FOLDER] [--rate
20]``.

A site in a temporary folder (SQLite; with --services PostgreSQL) gets 99 systems × 15 dialogues × 7
turns, a million ratings (--small: 3 to 6 a response) and 40 metrics' finished runs. What the pages
show is computed first, as workers do it; how long that takes is told. Then gunicorn is started as
``manage.py run`` starts it, two processes with its threads, and asked ``--rate`` times a second, at
moments drawn from a Poisson process, whether or not earlier requests are answered. A request's time
counts from its moment on: what waits in a queue is counted as a reader would.

No two requests in a row are alike: page, sort, columns, coefficient, level, kind and metric are
drawn with a seed from some thousand combinations; how many different addresses were asked is told.
The server has been asked others at the same rate before. What is asked for the *first* time has to
be written, what is asked *again* was kept by the process that answered it (of two, so that a second
request may find nothing): the two are told apart. The generator runs on the same cores; told beside
are the processor time that the server took for a request, the load of the machine, and what share
of it the host gave to others meanwhile: where that is several percent, the times are those of the
host.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from bench.machine import share_stolen, ticks
from bench.made_corpus import (
    COMPERDIAL,
    MILLION,
    PROJECT,
    configurations,
    home_of_its_own,
    make_corpus,
    store_scores,
)

METRICS, SLUG, LIMIT = 40, "made", 0.050
CLIENTS = 32


@dataclass
class Took:
    """``first``: of addresses that the server had not been asked before; ``again``: of the others.
    By page."""

    first: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    again: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    sizes: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def requests_at_random(seed: int, metrics: list[str]) -> Iterator[tuple[str, str]]:
    """(page, address) without end."""
    draw = random.Random(seed)
    corpus = f"/corpora/{SLUG}"
    coefficients, levels = ["pearson", "spearman", "kendall"], ["turn", "dialogue", "system"]
    while True:
        page = draw.choices(
            ["metric board", "system board", "agreement", "metric pair", "system pair", "heat map"],
            [5, 5, 2, 1, 1, 1],
        )[0]
        asked: dict[str, str] = {}
        path = {
            "metric board": f"{corpus}/metrics/",
            "system board": f"{corpus}/systems/",
            "agreement": f"{corpus}/agreement/",
            "metric pair": f"{corpus}/metrics/compare/",
            "system pair": f"{corpus}/systems/compare/",
            "heat map": f"{corpus}/metrics/heat-map/",
        }[page]
        if page in ("metric board", "heat map"):
            asked["coefficient"] = draw.choice(coefficients)
            asked["level"] = draw.choice(levels)
        if page == "metric board" and draw.random() < 0.5:
            asked["sort"] = draw.choice(["", "-"]) + draw.choice(
                ["metric", *(f"{one}-pearson" for one in levels)]
            )
        if page == "metric board" and draw.random() < 0.3:
            asked["columns"] = ",".join(f"{one}-{draw.choice(coefficients)}" for one in levels)
        if page == "system board":
            asked["sort"] = draw.choice(["", "-"]) + draw.choice(["system", "human", "rank"])
            if draw.random() < 0.5:
                asked["kind"] = draw.choice(["agent", "human"])
            if draw.random() < 0.3:
                asked["metric"] = draw.choice(metrics)
            if draw.random() < 0.3:
                asked["columns"] = ",".join(
                    ["human", "rank", *(f"metric-{one}" for one in draw.sample(metrics, 3))]
                )
        if page == "metric pair":
            asked["first"], asked["second"] = METRIC_PAIRS[draw.randrange(len(METRIC_PAIRS))]
        if page == "system pair":
            asked["first"], asked["second"] = SYSTEM_PAIRS[draw.randrange(len(SYSTEM_PAIRS))]
            asked["sort"] = draw.choice(["first", "second", "place"])
        if page == "agreement":
            asked["level"] = draw.choice(["turn", "dialogue"])
        yield page, f"{path}?{urlencode(asked, quote_via=quote)}"


def noted(stream: Iterator[tuple[str, str]], asked: list[str]) -> Iterator[tuple[str, str]]:
    for page, address in stream:
        asked.append(address)
        yield page, address


METRIC_PAIRS: list[tuple[str, str]] = []
SYSTEM_PAIRS: list[tuple[str, str]] = []


@contextmanager
def web_server(home: Path) -> Iterator[tuple[int, int]]:
    """(port, pid). As ``manage.py run`` starts it."""
    from tests.services import free_port
    from tests.site import answers, wait_until

    port = free_port()
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "dialeval_site.wsgi",
        "--config",
        "deploy/gunicorn.conf.py",
    ]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4"]
    with (home / "web.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=PROJECT, env=dict(os.environ), stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(
            lambda: answers(f"http://127.0.0.1:{port}/health/"), 60, "the web server answers"
        )
        yield port, server.pid
    finally:
        server.terminate()
        server.wait()


def ask(port: int, address: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def at_a_rate(
    port: int,
    rate: float,
    seconds: float,
    asked: Iterator[tuple[str, str]],
    seed: int,
    known: set[str],
) -> Took:
    """The moments are drawn beforehand; one that is missed because the machine is busy counts as
    late. ``known``: the addresses that the server was asked before, to which these are added."""
    draw, took, lock = random.Random(seed), Took(), threading.Lock()
    begin, moment = time.perf_counter() + 0.5, 0.0

    def one(due: float, page: str, address: str, group: dict[str, list[float]]) -> None:
        try:
            status, body = ask(port, address)
        except OSError as problem:
            with lock:
                took.failed.append(f"{address}: {problem}")
            return
        spent = time.perf_counter() - due
        with lock:
            group[page].append(spent)
            took.sizes[page] = len(body)
            if status != 200:
                took.failed.append(f"{address}: {status}")

    with ThreadPoolExecutor(CLIENTS) as clients:
        while moment < seconds:
            moment += draw.expovariate(rate)
            page, address = next(asked)
            time.sleep(max(0.0, begin + moment - time.perf_counter()))
            clients.submit(
                one, begin + moment, page, address, took.again if address in known else took.first
            )
            known.add(address)
    return took


def computed_beforehand(sample: list[str]) -> float:
    """Look at each page once and compute what it waits for, until none waits; the seconds of
    computing."""
    from django.test import Client

    from leaderboard.results.computing import compute_waiting

    client, spent = Client(headers={"host": "localhost"}), 0.0
    for _round in range(4):
        for address in sample:
            client.get(address)
        begun = time.perf_counter()
        done = compute_waiting()
        spent += time.perf_counter() - begun
        for row in done:
            print(
                f"  {row.kind} {row.question[:60]}: {row.state} in {row.seconds or 0:.1f} s "
                f"{row.error[:200]}"
            )
        if not done:
            break
    return spent


def waits(body: bytes) -> bool:
    return b'class="waiting' in (gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body)


def print_took(took: Took, rate: float, machine: str, spent: float) -> bool:
    first, again = (list(chain(*group.values())) for group in (took.first, took.again))
    everything = [*first, *again]
    print(f"{'page':<16}{'all':>6}{TIMES}{'first':>9}{TIMES}{'again':>9}{TIMES}{'sent':>10}")
    for page in sorted({*took.first, *took.again}):
        groups = (took.first.get(page, []), took.again.get(page, []))
        print(_line(page, list(chain(*groups)), *groups), f"{took.sizes[page] / 1000:>6.0f} kB")
    print(_line("all", everything, first, again))
    print(
        f"{rate:g} requests a second, mean {statistics.fmean(everything) * 1000:.0f} ms; "
        f"{spent / len(everything) * 1000:.0f} ms of processor a request; {machine}"
    )
    for line in took.failed[:5]:
        print("failed:", line)
    return not took.failed and quantile(everything, 0.95) <= LIMIT


TIMES = "   p50   p95   p99"
"""Milliseconds."""


def _line(page: str, everything: list[float], first: list[float], again: list[float]) -> str:
    told = [f"{len(everything):>6}{_times(everything)}"]
    told += [f"{len(group):>9}{_times(group)}" for group in (first, again)]
    return f"{page:<16}{''.join(told)}"


def _times(seconds: list[float]) -> str:
    if not seconds:
        return "     –" * 3
    return "".join(f"{quantile(seconds, q) * 1000:>6.0f}" for q in (0.5, 0.95, 0.99))


def prepare(small: bool) -> Any:
    from annotations.models import CorpusVersion

    left = CorpusVersion.objects.filter(corpus__slug=SLUG).first()
    if left is not None:
        return left
    version = make_corpus(SLUG, COMPERDIAL if small else MILLION)
    store_scores(version, forty_metrics())
    return version


def forty_metrics() -> list[Any]:
    """Those without a model in all their settings, then some with one: scores are made up for
    all."""
    from workers.metrics.common.configuration import Configuration
    from workers.metrics.registry import all_metrics

    found = configurations(METRICS)
    with_a_model = [
        one for one in all_metrics().values() if one.queue == "gpu" and "turn" in one.levels
    ]
    return [*found, *map(Configuration.of, with_a_model)][:METRICS]


def choose(version: Any) -> list[str]:
    from workers.models import MetricRun

    metrics = sorted(
        MetricRun.objects.filter(system__version=version)
        .values_list("configuration", flat=True)
        .distinct()
    )
    systems = list(version.systems.order_by("position").values_list("name", flat=True))
    draw = random.Random(1)
    METRIC_PAIRS[:] = [tuple(draw.sample(metrics, 2)) for _ in range(3)]
    SYSTEM_PAIRS[:] = [tuple(draw.sample(systems, 2)) for _ in range(3)]
    return metrics


def measure(home: Path, version: Any, rate: float, seconds: float) -> bool:
    from django.db import connections

    metrics = choose(version)
    stream = requests_at_random(0, metrics)
    sample = sorted({next(stream)[1] for _ in range(300)})
    spent = computed_beforehand(sample)
    print(f"computed in {spent:.0f} s; {len(sample)} addresses")
    connections.close_all()
    with web_server(home) as (port, pid):
        known: set[str] = set()
        # Each process loads its modules and templates
        for address in sample[:: max(1, len(sample) // 60)]:
            known.add(address)
            status, body = ask(port, address)
            if status != 200 or waits(body):
                print(f"not ready: {address} ({status})")
        # As a site that has been up for a while
        at_a_rate(port, rate, seconds / 2, requests_at_random(2, metrics), 3, known)
        before, ticks_before = processor_seconds(pid), ticks()
        asked: list[str] = []
        took = at_a_rate(
            port, rate, seconds, noted(requests_at_random(1, metrics), asked), 2, known
        )
        print(f"{len(set(asked))} different addresses in {len(asked)} requests")
        machine = (
            f"load average {os.getloadavg()[0]:.1f}; {share_stolen(ticks_before):.1%} taken by "
            "the host"
        )
        return print_took(took, rate, machine, processor_seconds(pid) - before)


def processor_seconds(pid: int) -> float:
    """Of the server's processes, which are children of this one."""
    spent = 0.0
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", action="store_true", help="PostgreSQL in place of SQLite")
    parser.add_argument(
        "--small", action="store_true", help="3 to 6 ratings a response in place of 100"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder for corpus and answers, which a later run takes up again",
    )
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    if options.keep and options.services:
        parser.error("--keep is of SQLite: PostgreSQL's data go with its servers")
    with home_of_its_own(options.services, options.keep) as home:
        return 0 if measure(home, prepare(options.small), options.rate, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
