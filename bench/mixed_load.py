"""The whole site under a mixed load: ``python -m bench.mixed_load [--small] [--keep FOLDER] [--json
FILE]``.

PostgreSQL and Redis (from pip packages), gunicorn and a worker for each queue run as in production,
in a folder of their own. A million ratings of 500 systems are loaded, statistics are computed by
the workers, and then for five minutes come, whether or not earlier ones are answered:

* readers of boards, plots, agreement, dialogues, challenge pages and tables (4 pages a second, and
  what pages ask for);
* raters who log in, read, rate and take the next item (20 people, an item every 5 s each);
* teams that hand in files by the form and by the API and follow them (one every 10 s);
* an organiser who asks for a metric on all systems (once a minute): statistics go out of date and
  are made anew.

Then what waits is waited for, and rows are held against what was acknowledged: nothing lost,
nothing doubled, nothing left in hand. Printed as Markdown. --small: 10,000 ratings of 40 systems,
20 s. --no-drain ends with the load, for what one wants to know of the load itself (memory): of rows
only ratings are counted. With --keep the loaded site stays in the folder and is used again: interrupt it whenever you
like. The generator is a process of its own on the same cores.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import fixed_work_seconds
from bench.made_corpus import PROJECT

READY_WITHIN_SECONDS = 3600
WARM_SECONDS = 20


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stop everything, too
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="dialeval-load-"))
        )
        found = measured(folder.resolve(), options)
    from bench.mixed.report import markdown

    print(markdown(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1, default=str))
    return 1 if found["faults"] or found["wrong"] or found["too_slow"] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="10,000 ratings of 40 systems, and 20 s of load"
    )
    parser.add_argument(
        "--seconds", type=float, help="how long the load goes on (300; with --small 20)"
    )
    parser.add_argument("--pages", type=float, default=4.0, help="pages a second that readers open")
    parser.add_argument("--raters", type=int, default=20)
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="the loaded site stays there and is used again"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures as JSON, too")
    parser.add_argument(
        "--no-drain", action="store_true", help="end with the load: do not wait for the workers"
    )
    parser.add_argument("--workers-nice", type=int, default=10, help="niceness of the workers (10)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.seconds = options.seconds or (20.0 if options.small else 300.0)
    return options


def measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    from bench.mixed import site as sites

    with sites.services(folder) as site:
        from bench.mixed.loading import FULL, LITTLE, load

        print("loading", flush=True)
        started = time.perf_counter()
        load(LITTLE if options.small else FULL)
        told: dict[str, Any] = {"loaded_seconds": time.perf_counter() - started}
        with sites.web_and_workers(site, options.workers_nice):
            return under_load(site, told, options)


def under_load(site: Any, told: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    from django.utils import timezone

    from bench.mixed import checking, mix, people, report, watching
    from bench.stolen import StolenTime

    rates = mix.Rates(pages_a_second=options.pages, raters=options.raters)
    known = people.known(site.address)
    told["statistics_seconds"] = _ready(site, mix.visits(rates, 60, known, options.seed + 1), known)
    who = people.people(options.raters)
    checking.drained()
    _generated(
        site,
        _plan(
            site,
            mix.plan_of(
                rates, WARM_SECONDS, known, {**who, "raters": [], "runs": []}, options.seed + 2
            ),
            0,
        ),
    )
    checking.drained()
    told["fixed_work_seconds"] = fixed_work_seconds()
    plan = _plan(site, mix.plan_of(rates, options.seconds, known, who, options.seed), 1)
    print(f"load for {options.seconds:.0f} s", flush=True)
    since, log_from = timezone.now(), site.database_log.stat().st_size
    with watching.Watch(site.roots) as watch:
        with StolenTime() as stolen:
            answers = _generated(site, plan)
        watch.load_is_over()
        if not options.no_drain:
            told["drained_seconds"] = checking.drained()
    told |= {
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join(["python -m bench.mixed_load", *sys.argv[1:]]),
        "seconds": options.seconds,
        "rates": rates.__dict__,
        "amount": _amount(),
        "faults": checking.faults(answers, who["campaign"], drained=not options.no_drain),
    }
    slow = watching.slow_statements(site.database_log, log_from)
    return report.document(
        answers, watch, watching.delays(since, watch), slow, told, stolen.stretches()
    )


def _ready(site: Any, sample: list[Any], known: Any) -> float:
    """Open pages until none waits for a statistic; what workers took for them is told, kind by
    kind."""
    import urllib.error
    import urllib.request

    from bench.mixed import checking
    from leaderboard.models import Analysis

    started = time.perf_counter()
    for _ in range(6):
        for path, token in sorted(
            {(visit.path, bool(visit.token)) for visit in sample if visit.kind != "archive"}
        ):
            headers = {"Authorization": f"Bearer {known.tokens[0]}"} if token else {}
            # A file of what is not computed yet: 503
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(
                    urllib.request.Request(site.address + path, headers=headers)
                ).read()
        if not any(checking.at_work().values()):
            break
        _wait_for_workers()
    seconds = time.perf_counter() - started
    for kind, took, slug in sorted(
        Analysis.objects.filter(seconds__gte=5).values_list(
            "kind", "seconds", "version__corpus__slug"
        ),
        key=lambda row: -row[1],
    ):
        print(f"  {kind} of {slug}: {took:.0f} s", flush=True)
    return seconds


def _wait_for_workers() -> None:
    from bench.mixed import checking

    end = time.monotonic() + READY_WITHIN_SECONDS
    while any(checking.at_work().values()) and time.monotonic() < end:
        time.sleep(1)


def _plan(site: Any, plan: dict[str, Any], number: int) -> Path:
    """The plan and the files that it hands in, written down for the generator."""
    from annotations.models import CorpusVersion
    from bench.mixed.loading import CHALLENGE, ROUND, TASK, responses_files

    folder = site.folder / f"plan-{number}"
    folder.mkdir(exist_ok=True)
    files = responses_files(CorpusVersion.objects.get(corpus__slug=TASK), time.time_ns() % 2**31)
    for order in plan["uploads"]:
        (folder / f"{order['file']}.jsonl").write_bytes(next(files))
    plan["page"] = f"/challenges/{CHALLENGE}/rounds/{ROUND}/submit/"
    plan["api"] = f"/api/v1/challenges/{CHALLENGE}/rounds/{ROUND}/submissions"
    (folder / "plan.json").write_text(json.dumps(plan))
    return folder


def _generated(site: Any, folder: Path) -> dict[str, Any]:
    answers = folder / "answers.json"
    command = [
        sys.executable,
        "-m",
        "bench.mixed.generator",
        site.address,
        folder / "plan.json",
        folder,
        answers,
    ]
    process = subprocess.Popen(list(map(str, command)), cwd=PROJECT, env=dict(os.environ))
    try:
        if process.wait():
            raise RuntimeError("the generator ended with a fault")
    finally:
        process.kill()
        process.wait()
    found: dict[str, Any] = json.loads(answers.read_text())
    return found


def _amount() -> dict[str, Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        counts = {}
        for name, table in {
            "ratings": "annotations_rating",
            "systems": "annotations_system",
            "submissions": "challenges_submission",
        }.items():
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[name] = cursor.fetchone()[0]
        cursor.execute("SELECT pg_database_size(current_database()) / 1e6")
        return {**counts, "database_mb": float(cursor.fetchone()[0])}


if __name__ == "__main__":
    sys.exit(main())
