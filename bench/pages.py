"""How long a page takes at ComperDial's size: ``python -m bench.pages [--services] [--million]
[--conversations] [--profile PAGE]``.

A site in a temporary folder (SQLite; with --services PostgreSQL) gets 99 systems × 15 dialogues × 7
turns = 10,395 responses, 3 to 6 ratings each, ratings of whole dialogues, and 30 metrics' finished
runs (as many as the registry's switches allow). Each page is asked for by Django's test client,
gzip as a browser wants it:

* after a change: the revision has moved on, so stored answers are out of date. What is computed
  anew is timed too.
* warm: the median and the 95th percentile of 30 requests.
* gunicorn: the median of 30 requests over a socket to a server of its own.

--million asks for some of the pages of a corpus with a million ratings instead, --conversations of
one with 10,000 conversations of five turns, whose p95 is to be below 50 ms.
"""

from __future__ import annotations

import argparse
import cProfile
import gzip
import os
import pstats
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.made_corpus import (
    COMPERDIAL,
    CONVERSATIONS,
    MILLION,
    PROJECT,
    configurations,
    home_of_its_own,
    make_corpus,
    store_scores,
)
from tests.conftest import lookers_compute

REQUESTS = 30
WARM_LIMIT, COLD_LIMIT, P95_LIMIT = 0.100, 2.0, 0.050
SLUG = "made"
PAGES = {
    "home": "/",
    "corpus": f"/corpora/{SLUG}/",
    "dialogues": f"/corpora/{SLUG}/dialogues/",
    "dialogue": f"/corpora/{SLUG}/dialogues/7/",
    "metric leaderboard": f"/corpora/{SLUG}/metrics/",
    "its plots": f"/corpora/{SLUG}/metrics/plots/",
    "system leaderboard": f"/corpora/{SLUG}/systems/",
    "agreement": f"/corpora/{SLUG}/agreement/",
    "agreement, dialogue": f"/corpora/{SLUG}/agreement/?level=dialogue",
    "runs": f"/corpora/{SLUG}/runs/",
    "all runs": "/runs/",
    "metrics.csv": f"/corpora/{SLUG}/metrics/?download=metric-leaderboard.csv",
    "systems.csv": f"/corpora/{SLUG}/systems/?download=system-leaderboard.csv",
    "turn points.csv": f"/corpora/{SLUG}/metrics/plots/?download=scatter-turn-data.csv",
}
COMES_AFTER = {"its plots": "metric leaderboard", "turn points.csv": "its plots"}
"""The leaderboard's page asks for its plots, so they never meet a change that the page has not
met."""
AT_A_MILLION = (
    "home",
    "corpus",
    "dialogues",
    "dialogue",
    "agreement",
    "agreement, dialogue",
    "runs",
)
OF_CONVERSATIONS = ("corpus", "dialogues", "dialogue", "late dialogue", "runs", "all runs")
PAGES["late dialogue"] = f"/corpora/{SLUG}/dialogues/9000/"


@dataclass(frozen=True)
class Timing:
    page: str
    after_change: float
    warm: list[float]
    size: int
    sent: int
    queries: int

    @property
    def median(self) -> float:
        return statistics.median(self.warm)

    @property
    def p95(self) -> float:
        return sorted(self.warm)[int(0.95 * (len(self.warm) - 1))]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def page_timing(client: Any, name: str, address: str, version: Any, requests: int) -> Timing:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from annotations.corpora.actions import data_changed

    def ask() -> Any:
        response = client.get(address, headers=_headers(name))
        assert response.status_code == 200, (name, response.status_code)
        return response

    ask()  # templates are compiled and modules loaded once a process, not once a change
    data_changed([version.pk])
    if name in COMES_AFTER:
        client.get(PAGES[COMES_AFTER[name]], headers=_headers(COMES_AFTER[name]))
    after_change, _ = timed(ask)
    warm = [timed(ask)[0] for _ in range(requests)]
    with CaptureQueriesContext(connection) as captured:
        response = ask()
    return Timing(
        name,
        after_change,
        warm,
        len(_plain(response.content)),
        len(response.content),
        len(captured),
    )


def _headers(name: str) -> dict[str, str]:
    return {"accept-encoding": "gzip", **({"hx-request": "true"} if name == "its plots" else {})}


def _plain(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def organiser_client() -> Any:
    from django.contrib.auth import get_user_model
    from django.test import Client

    user = get_user_model().objects.create_superuser("bench", password="bench")
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


@contextmanager
def gunicorn(home: Path) -> Iterator[str]:
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
    command += ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "4"]
    with (home / "web.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=PROJECT, env=dict(os.environ), stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(
            lambda: answers(f"http://127.0.0.1:{port}/health/"), 60, "the web server answers"
        )
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def over_gunicorn(address: str, session: str, names: list[str], requests: int) -> dict[str, float]:
    def ask(name: str) -> None:
        headers = {**_headers(name), "Cookie": f"sessionid={session}"}
        with urllib.request.urlopen(
            urllib.request.Request(address + PAGES[name], headers=headers)
        ) as response:
            response.read()

    medians = {}
    for name in names:
        ask(name)
        medians[name] = statistics.median(
            timed(lambda name=name: ask(name))[0] for _ in range(requests)
        )
    return medians


def show_profile(client: Any, name: str) -> None:
    client.get(PAGES[name], headers=_headers(name))
    profile = cProfile.Profile()
    profile.enable()
    client.get(PAGES[name], headers=_headers(name))
    profile.disable()
    pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


def print_timings(timings: list[Timing], web: dict[str, float]) -> bool:
    print(
        f"{'page':<22}{'after a change':>15}{'warm':>10}{'p95':>10}{'gunicorn':>10}"
        f"{'queries':>9}{'page':>11}{'sent':>10}"
    )
    for one in timings:
        print(
            f"{one.page:<22}{one.after_change * 1000:>12.0f} ms{one.median * 1000:>7.0f} "
            f"ms{one.p95 * 1000:>7.0f} ms{web.get(one.page, float('nan')) * 1000:>7.0f} "
            f"ms{one.queries:>9}{one.size / 1000:>8.0f} kB{one.sent / 1000:>7.0f} kB"
        )
    slow = [one.page for one in timings if one.median > WARM_LIMIT or one.after_change > COLD_LIMIT]
    print(
        f"Slower than {WARM_LIMIT * 1000:.0f} ms warm or {COLD_LIMIT:.0f} s after a change: "
        f"{', '.join(slow) or 'none'}"
    )
    return not slow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", action="store_true", help="PostgreSQL in place of SQLite")
    parser.add_argument("--million", action="store_true", help="a corpus with a million ratings")
    parser.add_argument("--conversations", action="store_true", help="a corpus with 10,000 of them")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--pages", help="only these, separated by commas")
    parser.add_argument(
        "--profile", metavar="PAGE", help="where this page's time goes, and nothing else"
    )
    options = parser.parse_args()
    size, names = COMPERDIAL, [name for name in PAGES if name != "late dialogue"]
    if options.million:
        size, names = MILLION, list(AT_A_MILLION)
    elif options.conversations:
        size, names = CONVERSATIONS, list(OF_CONVERSATIONS)
    if options.pages:
        names = [name.strip() for name in options.pages.split(",")]
    with home_of_its_own(options.services) as home, pytest.MonkeyPatch.context() as patch:
        from annotations.corpora.queries import counts_of

        lookers_compute(patch)  # there is no worker: who looks computes

        seconds, version = timed(lambda: make_corpus(SLUG, size))
        wanted = configurations(2 if options.million else 30)
        stored = store_scores(version, wanted)
        counts = counts_of(version)
        print(
            f"{'PostgreSQL' if options.services else 'SQLite'}: {counts.systems} systems, "
            f"{counts.responses:,} responses, {counts.ratings:,} ratings of {counts.raters} "
            f"raters, {len(wanted)} metrics, {stored:,} runs; made in {seconds:.0f} s"
        )
        client = organiser_client()
        if options.profile:
            show_profile(client, options.profile)
            return 0
        timings = [
            page_timing(client, name, PAGES[name], version, options.requests) for name in names
        ]
        with gunicorn(home) as address:
            web = over_gunicorn(address, client.cookies["sessionid"].value, names, options.requests)
        is_met = print_timings(timings, web)
        if options.conversations:
            slow = [one.page for one in timings if one.p95 > P95_LIMIT]
            print(f"p95 above {P95_LIMIT * 1000:.0f} ms: {', '.join(slow) or 'none'}")
            is_met = is_met and not slow
        return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
