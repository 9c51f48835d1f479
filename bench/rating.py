"""How fast raters are served: ``python -m bench.rating [--label-studio PYTHON] [--only PART]``.

A site as in production (gunicorn, PostgreSQL from a package; everything on this machine, clients
too). A *pair* is what a rater waits for after Enter: the rating is stored and the next item is in
hand.

* throughput: 1, 10 and 50 raters without a pause, on USR's responses (DIALEVAL_DATA; else made-up
  ones of that shape). ``--label-studio PYTHON`` names the interpreter of an environment with Label
  Studio: it is started, gets the same texts, and serves its own submit and next-task calls to as
  many clients in the same run. The ratio is that of pairs/s.
* thinking: 50 raters who pause between answer and submit, exponentially, 2 s and 1 s on average.
* questions: the same in a campaign whose form asks ten questions.
* slots: the next item in campaigns of 1,000 and 1,000,000 slots, at their beginning, half rated,
  and with a tenth left; by a new rater, and by one who has rated nearly every item. PostgreSQL and
  SQLite.
* profile: where the time of a pair goes, in one process.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.label_studio import Annotator, has_gunicorn, label_studio, load_project, version
from bench.load import Load, Pair, processor_seconds, under_load
from bench.made_corpus import PROJECT, home_of_its_own

PARTS = ("throughput", "thinking", "questions", "slots", "profile")
K = 2
P95_WANTED_MS, RATIO_WANTED = 60, 5
RATERS, PAUSES = 50, (2.0, 1.0)
TEN_QUESTIONS = tuple(f"question_{number}" for number in range(1, 11))
"""A campaign on the scale reads none of their fields."""
SLOT_COUNTS = (1_000, 1_000_000)
STAGES = {"at the beginning": 0, "half rated": 500, "a tenth left": 900}
PAIRS_TIMED = 150


# --- clients --------------------------------------------------------------------------------------


def rater_pairs(address: str, participations: list[Any]) -> list[Pair]:
    """Each opens the page once; a pair then is one POST."""
    from tests.campaigns.http_rater import HttpRater, sessions_of

    sessions = sessions_of([one.user for one in participations])
    clients = [
        HttpRater(address, one.campaign.slug, session)
        for one, session in zip(participations, sessions, strict=True)
    ]
    for client in clients:
        client.open()
    return [_pair(client, place) for place, client in enumerate(clients)]


def _pair(client: Any, place: int) -> Pair:
    def pair() -> None:
        if not client.in_hand:
            raise RuntimeError(f"no item left: {client.ended}")
        score = (place + len(client.in_hand)) % 5 + 1
        answers = {f"q.{name}": str(score) for name in TEN_QUESTIONS}
        answer = client.rate(score, guidelines="1", form="1", **answers)
        if not answer.stored:
            raise RuntimeError(f"{answer.status} {answer.content}")

    return pair


# --- throughput -----------------------------------------------------------------------------------


def throughput(options: argparse.Namespace) -> bool:
    from bench.rating_site import campaign_of_tasks, production_site, raters, usr_tasks

    tasks = usr_tasks()
    own: dict[int, Load] = {}
    print(
        f"\nThroughput: {len(tasks):,} responses, no pauses, {options.seconds:.0f} s each",
        flush=True,
    )
    with home_of_its_own(True) as home:
        campaigns = [campaign_of_tasks(f"usr-{clients}", tasks, k=K) for clients in options.clients]
        with production_site(home, options.workers, options.threads) as (address, servers):
            for clients, campaign in zip(options.clients, campaigns, strict=True):
                pairs = rater_pairs(address, raters(campaign, clients))
                own[clients] = under_load(pairs, options.seconds, servers=servers)
                print(f"dialeval, {clients:>2} clients       {own[clients]}", flush=True)
    if not options.label_studio:
        print(
            "Label Studio was not run: name the interpreter of its environment with --label-studio."
        )
        return True
    return _beside_label_studio(options, tasks, own)


def _beside_label_studio(
    options: argparse.Namespace, tasks: list[dict[str, str]], own: dict[int, Load]
) -> bool:
    python = options.label_studio
    enough = True
    print(f"Label Studio {version(python)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="label-studio-") as folder:
        for server in ("own", "gunicorn") if has_gunicorn(python) else ("own",):
            with label_studio(python, Path(folder), server, options.workers, options.threads) as (
                address,
                process,
            ):
                for clients, load in own.items():
                    project = load_project(address, tasks)
                    pairs = [Annotator(address, project).pair for _ in range(clients)]
                    peer = under_load(pairs, options.seconds, servers=[process])
                    ratio = (
                        load.pairs_a_second / peer.pairs_a_second
                        if peer.pairs_a_second
                        else float("inf")
                    )
                    enough = enough and (ratio >= RATIO_WANTED or server != "own")
                    print(
                        f"  {server:<8} server, {clients:>2} clients {peer}   ratio {ratio:.1f}",
                        flush=True,
                    )
    answer = "yes" if enough else "NO"
    print(
        f"At least {RATIO_WANTED} times the pairs/s of Label Studio as its own command serves it: "
        f"{answer}",
        flush=True,
    )
    return enough


# --- thinking -------------------------------------------------------------------------------------


def thinking(options: argparse.Namespace, questions: tuple[str, ...] = ()) -> bool:
    from bench.rating_site import campaign_of_tasks, production_site, raters, usr_tasks

    quick = True
    print(
        f"\nThinking: {RATERS} raters, {len(questions) or 1} questions, exponential pauses, "
        f"{options.seconds:.0f} s each",
        flush=True,
    )
    with home_of_its_own(True) as home:
        campaign = campaign_of_tasks("usr", usr_tasks(), k=K, questions=questions)
        with production_site(home, options.workers, options.threads) as (address, servers):
            pairs = rater_pairs(address, raters(campaign, RATERS))
            for pause in PAUSES:
                load = under_load(pairs, options.seconds, pause, servers)
                quick = quick and load.quantile(0.95) < P95_WANTED_MS
                print(f"{pause:.0f} s on average  {load}", flush=True)
    print(f"p95 under {P95_WANTED_MS} ms: {'yes' if quick else 'NO'}", flush=True)
    return quick


# --- slots ----------------------------------------------------------------------------------------


def slots(options: argparse.Namespace) -> bool:
    print(
        "\nSlots: milliseconds; one rater at a time; fill_queue and rate as calls, the pair over "
        "HTTP",
        flush=True,
    )
    print(f"{'':<62}{'fill_queue':>18}{'rate':>18}{'pair':>18}", flush=True)
    print(f"{'':<62}{'p50':>9}{'p95':>9}{'p50':>9}{'p95':>9}{'p50':>9}{'p95':>9}", flush=True)
    for database in options.databases:  # Django reads its settings once a process
        for count in options.slots:
            again = [
                sys.executable,
                "-m",
                "bench.rating",
                "--slots-on",
                database,
                "--slots",
                str(count),
            ]
            again += ["--workers", str(options.workers), "--threads", str(options.threads)]
            subprocess.run(again, cwd=PROJECT, check=True)
    return True


def slots_on(database: str, count: int, options: argparse.Namespace) -> None:
    from bench.rating_site import campaign_of_slots, production_site, rate_slots, raters

    with home_of_its_own(database == "PostgreSQL") as home:
        start = time.perf_counter()
        campaign = campaign_of_slots("slots", count)
        print(
            f"{database}, {campaign.slots.count():,} slots, laid out in "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )
        old = raters(campaign, campaign.raters_per_item)
        with production_site(home, options.workers, options.threads) as (address, _):
            for stage, thousandths in STAGES.items():
                if thousandths:
                    rate_slots(campaign, thousandths, old)
                _print_times(f"  {stage}, a new rater", address, lambda: raters(campaign, 1)[0])
                if thousandths == max(STAGES.values()):
                    done = old[0].assignments.filter(state="done").count()
                    _print_times(f"  {stage}, who has rated {done:,}", address, lambda: old[0])


def _print_times(words: str, address: str, rater: Callable[[], Any]) -> None:
    from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate

    participation = rater()
    filling, rating = [], []
    desk = fill_queue(participation)
    for _ in range(PAIRS_TIMED):
        if not desk.assignments:
            break
        judgement = Judgement(key=secrets.token_hex(8), score=3)
        rating.append(
            _seconds(
                lambda d=desk, j=judgement: rate(participation, d.assignments[0].item.public_id, j)
            )
        )
        filled: list[Any] = []
        filling.append(_seconds(lambda kept=filled: kept.append(fill_queue(participation))))
        desk = filled[0]
    asked = rater()
    (pair,) = rater_pairs(address, [asked])
    pairs = []
    for _ in range(PAIRS_TIMED):
        try:
            pairs.append(_seconds(pair))
        except RuntimeError:  # no item left
            break
    cells = "".join(
        f"{_quantile(times, q):>9.1f}" for times in (filling, rating, pairs) for q in (0.5, 0.95)
    )
    print(f"{words:<62}{cells}   (n = {len(filling)}, {len(pairs)})", flush=True)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _quantile(seconds: list[float], q: float) -> float:
    return (
        1000 * sorted(seconds)[min(len(seconds) - 1, int(q * len(seconds)))]
        if seconds
        else float("nan")
    )


# --- profile --------------------------------------------------------------------------------------


def profile(_: argparse.Namespace) -> bool:
    """A pair through Django's test client: its statements with their times, then functions by the
    time they take."""
    import cProfile
    import pstats
    from collections import Counter

    from bench.rating_site import campaign_of_tasks, database_process, raters, usr_tasks

    with home_of_its_own(True):
        from django.db import connection
        from django.test import Client
        from django.test.utils import CaptureQueriesContext

        (rater,) = raters(campaign_of_tasks("usr", usr_tasks(), k=K), 1)
        client = Client(headers={"host": "localhost", "accept": "application/json"})
        client.force_login(rater.user)
        have: list[str] = []

        def pair(item: str) -> str:
            nonlocal have
            form = {
                "item": item,
                "key": secrets.token_hex(8),
                "score": "3",
                "guidelines": "1",
                "have": [one for one in have if one != item],
            }
            answer = client.post("/rate/usr/submit/", form).json()
            have = [one["item"] for one in answer["next"]]
            return have[0]

        item = pair("nobody-has-this")
        for _ in range(20):
            item = pair(item)
        rounds = 100
        postgres = database_process()
        start, own, theirs = time.perf_counter(), time.process_time(), processor_seconds(postgres)
        for _ in range(rounds):
            item = pair(item)
        spent = (
            time.perf_counter() - start,
            time.process_time() - own,
            processor_seconds(postgres) - theirs,
        )
        wall, own, theirs = (1000 * seconds / rounds for seconds in spent)
        print(
            f"\nA pair without a web server: {wall:.1f} ms, processor {own:.1f} ms here, "
            f"{theirs:.1f} ms in PostgreSQL"
        )
        with CaptureQueriesContext(connection) as captured:
            item = pair(item)
        print(
            f"{len(captured)} statements, "
            f"{sum(float(one['time']) for one in captured.captured_queries) * 1000:.0f} ms:"
        )
        for one in captured.captured_queries:
            print(f"  {float(one['time']) * 1000:5.1f} ms  {one['sql'][:260]}")
        kinds = Counter(one["sql"].split()[0] for one in captured.captured_queries)
        print(f"  {dict(kinds)}")
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(rounds):
            item = pair(item)
        profiler.disable()
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", choices=PARTS, help="only this part; all but the profile where it is left out"
    )
    parser.add_argument(
        "--label-studio", metavar="PYTHON", help="interpreter of an environment with Label Studio"
    )
    parser.add_argument(
        "--clients",
        default="1,10,50",
        help="numbers of clients without pauses, separated by commas",
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--slots", default=",".join(map(str, SLOT_COUNTS)))
    parser.add_argument("--databases", default="PostgreSQL,SQLite")
    parser.add_argument("--workers", type=int, default=2, help="processes of gunicorn")
    parser.add_argument("--threads", type=int, default=2, help="threads of each")
    parser.add_argument("--slots-on", choices=["PostgreSQL", "SQLite"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.clients = [int(number) for number in options.clients.split(",")]
    options.slots = [int(number) for number in options.slots.split(",")]
    options.databases = options.databases.split(",")
    # Sessions made here are valid at the site
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
    if options.slots_on:
        slots_on(options.slots_on, options.slots[0], options)
        return 0
    parts: dict[str, Callable[[argparse.Namespace], bool]] = {
        "throughput": throughput,
        "thinking": thinking,
        "questions": lambda options: thinking(options, TEN_QUESTIONS),
        "slots": slots,
        "profile": profile,
    }
    if options.only:
        return 0 if parts[options.only](options) else 1
    met = []
    for name in PARTS[:-1]:  # each part is a site of its own, and so a process of its own
        again = [sys.executable, "-m", "bench.rating", "--only", name, *sys.argv[1:]]
        met.append(subprocess.run(again, cwd=PROJECT, check=False).returncode == 0)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
