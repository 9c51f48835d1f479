"""How long raters wait while something large is written: ``python -m bench.long_writes [--database
SQLite]``.

A site as in production (gunicorn; everything on this machine, clients too), with twenty raters
who pause for a second on average. Meanwhile each of these is done by a process of its own, on a
corpus of 100,000 responses and as many ratings: it is imported, exported, a campaign on all of
it is opened, its 100,000 ratings are published and taken back, metric runs are asked for, the
campaign is deleted, a new version of the corpus is imported, the corpus is deleted, the site is
backed up. Told are seconds until that is done, the longest of its transactions, and what raters
waited for the answer to a rating, which brings the next item, while it was being done.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from bench.made_corpus import PROJECT, SEED, home_of_its_own, sentence

RATERS, PAUSE_SECONDS, SITTING_SECONDS = 20, 1.0, 15.0
SLUG = "large"
STEPS = (
    "import",
    "export",
    "open",
    "publish",
    "unpublish",
    "runs",
    "campaign",
    "again",
    "delete",
    "backup",
)


# --- what is done ---------------------------------------------------------------------------------


def write_file(path: Path, responses: int, changed: bool = False) -> None:
    """Dialogues of five turns, twenty systems, one rating a response; ``changed`` by its last
    response."""
    import numpy as np

    chance = np.random.default_rng(SEED)
    texts = [sentence(chance) for _ in range(500)]
    systems, turns = 20, 5
    with path.open("w") as file:

        def line(**values: object) -> None:
            file.write(json.dumps(values) + "\n")

        line(type="corpus", name="Made up")
        for system in range(systems):
            line(type="system", name=f"system {system}")
        line(type="rater", name="ann")
        for place in range(responses // (systems * turns)):
            dialogue = f"d{place}"
            contexts = [
                [{"speaker": "A", "text": texts[(place + number) % 500]}] for number in range(turns)
            ]
            spoken = [
                {"number": number, "context": context} for number, context in enumerate(contexts)
            ]
            line(
                type="dialogue",
                id=dialogue,
                persona=texts[:5],
                partner_persona=texts[5:9],
                turns=spoken,
            )
            for number in range(turns):
                for system in range(systems):
                    of = {"dialogue_id": dialogue, "turn": number, "system": f"system {system}"}
                    text = texts[(place * 7 + number * 3 + system) % 500] + (
                        " Changed." if changed else ""
                    )
                    line(type="response", **of, text=text)
                    line(
                        type="rating",
                        **of,
                        rater="ann",
                        aspect="overall",
                        score=1 + (place + system) % 5,
                    )


@contextmanager
def transaction_seconds() -> Iterator[list[float]]:
    """What each transaction of this process takes, savepoints in it included."""
    from django.db import connection, transaction

    seconds: list[float] = []
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__
    begun = 0.0

    def entered(self: transaction.Atomic) -> None:
        nonlocal begun
        is_outermost = not connection.in_atomic_block
        enter(self)
        if is_outermost:
            begun = time.monotonic()

    def left(self: transaction.Atomic, *problem: Any) -> None:
        leave(self, *problem)
        if not connection.in_atomic_block:
            seconds.append(time.monotonic() - begun)

    with (
        mock.patch.object(transaction.Atomic, "__enter__", entered),
        mock.patch.object(transaction.Atomic, "__exit__", left),
    ):
        yield seconds


def do(step: str, home: Path) -> None:
    from django.core.management import call_command

    from annotations.campaigns.actions import publishing, setup
    from annotations.campaigns.models import Campaign, Guidelines
    from annotations.corpora.queries import select_systems, version_of
    from workers.metrics.common.configuration import parse
    from workers.runs import actions

    def campaign() -> Campaign:
        return Campaign.objects.get(slug=SLUG)

    quiet = {"verbosity": 0}
    if step == "import":
        call_command("import_corpus", "jsonl", str(home / "large.jsonl"), "--slug", SLUG, **quiet)
    elif step == "again":
        call_command("import_corpus", "jsonl", str(home / "changed.jsonl"), "--slug", SLUG, **quiet)
    elif step == "export":
        call_command("export_corpus", SLUG, "--to", str(home / "exported"), **quiet)
    elif step == "open":
        made = Campaign.objects.create(
            slug=SLUG,
            name=SLUG,
            kind="turn",
            version=version_of(SLUG),
            raters_per_item=1,
            seed=SEED,
        )
        made.systems.set(made.version.systems.all())
        Guidelines.objects.create(
            campaign=made, number=1, text="Read the dialogue. Rate the last answer."
        )
        setup.open_campaign(made)
    elif step == "publish":
        publishing.publish(campaign())
    elif step == "unpublish":
        publishing.unpublish(campaign())
    elif step == "runs":
        actions.request([parse("word_f1")], select_systems(version_of(SLUG)), hint=False)
    elif step == "campaign":
        setup.delete(campaign(), SLUG)
    elif step == "delete":
        call_command("delete_corpus", SLUG, "--force", **quiet)
    elif step == "backup":
        call_command("backup", "--to", str(home / "site.backup"), **quiet)


def rate_all_of_it() -> None:
    """Of the campaign that was opened, so that there is something to publish; then it is closed."""
    from annotations.campaigns.actions import setup
    from annotations.campaigns.models import Campaign
    from bench.rating_site import rate_slots, raters

    campaign = Campaign.objects.get(slug=SLUG)
    rate_slots(campaign, 1000, raters(campaign, 1))
    setup.close(campaign)


# --- who waits ------------------------------------------------------------------------------------


class Raters:
    """Each in a thread; what each request took stands beside the moment in which it was sent."""

    def __init__(self, pairs: list[Callable[[], None]]) -> None:
        self.waits: list[tuple[float, float]] = []
        self.errors = Counter[str]()
        self.under_way: set[int] = set()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=one, daemon=True) for one in enumerate(pairs)
        ]

    def __enter__(self) -> Raters:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _work(self, place: int, pair: Callable[[], None]) -> None:
        chance = random.Random(place)
        while not self._stopping.wait(chance.expovariate(1 / PAUSE_SECONDS)):
            sent = time.monotonic()
            self.under_way.add(place)
            try:
                pair()
                self.waits.append((sent, time.monotonic() - sent))
            except Exception as problem:  # a server's failure is a result, too
                self.errors[f"{type(problem).__name__}: {problem}"[:60]] += 1
            self.under_way.discard(place)

    def settle(self) -> None:
        """Wait until everybody who was waiting at this moment has an answer."""
        waiting = set(self.under_way)
        while waiting:
            time.sleep(0.05)
            waiting &= self.under_way

    def waited(self, begun: float, ended: float) -> str:
        """Those whose request was under way at some moment between the two."""
        took = sorted(
            seconds for sent, seconds in self.waits if sent < ended and sent + seconds > begun
        )
        if not took:
            return "no rating"
        p50, p95 = (took[min(len(took) - 1, int(q * len(took)))] for q in (0.5, 0.95))
        return (
            f"{len(took):>5} ratings   p50 {p50:>6.3f}   p95 {p95:>6.3f}   longest {took[-1]:>6.3f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["SQLite", "PostgreSQL"], default="SQLite")
    parser.add_argument("--responses", type=int, default=100_000)
    parser.add_argument(
        "--steps", default=",".join(STEPS), help="separated by commas; later ones need earlier ones"
    )
    parser.add_argument("--do", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.do:
        import django

        django.setup()
        with transaction_seconds() as seconds:
            do(options.do, Path(os.environ["DIALEVAL_HOME"]))
        print(f"{max(seconds, default=0):.2f}")
        return 0
    # Sessions made here are valid at the site
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
    with home_of_its_own(options.database == "PostgreSQL") as home:
        from bench.rating import rater_pairs
        from bench.rating_site import campaign_of_tasks, production_site, raters, usr_tasks

        write_file(home / "large.jsonl", options.responses)
        write_file(home / "changed.jsonl", options.responses, changed=True)
        sizes = (
            f"{options.responses:,} responses, {(home / 'large.jsonl').stat().st_size / 1e6:.0f} MB"
        )
        print(f"{options.database}, {sizes}; seconds", flush=True)
        # Each of them may rate all of it: work for as many seconds as there are items, and more.
        campaign = campaign_of_tasks("usr", usr_tasks(), k=RATERS)
        with production_site(home, 3, 8) as (address, _):
            people = raters(campaign, RATERS)
            with Raters(rater_pairs(address, people)) as crowd:
                begun = time.monotonic()
                time.sleep(SITTING_SECONDS)
                print(
                    f"{'nothing beside':<16}{'':>8}   {crowd.waited(begun, time.monotonic())}",
                    flush=True,
                )
                for step in options.steps.split(","):
                    if step == "publish":
                        rate_all_of_it()
                        crowd.settle()
                    begun = time.monotonic()
                    again = [sys.executable, "-m", "bench.long_writes", "--do", step]
                    told = subprocess.run(
                        again, cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True
                    )
                    held = told.stdout.split()[-1]
                    ended = time.monotonic()
                    crowd.settle()
                    print(
                        f"{step:<16}{ended - begun:>8.1f}  "
                        f"transaction {held:>6}   {crowd.waited(begun, ended)}",
                        flush=True,
                    )
            print(f"errors: {dict(crowd.errors) or 'none'}", flush=True)
    return int(any("no item left" in error for error in crowd.errors))


if __name__ == "__main__":
    sys.exit(main())
