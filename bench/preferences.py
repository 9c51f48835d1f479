"""Bradley–Terry on a million battles of 50 systems, beside evalica on the same lists of names.

    python -m bench.preferences [--battles 1000000] [--evalica PYTHON]

``--evalica``: an interpreter whose environment has it (``pip install evalica``). Both get Python
lists of names and verdicts, and both are timed by the processor, best of some rounds. Strengths
must agree with evalica's at a tight tolerance to 1e-8. Then 1,000 resamples of whole conversations
(50 battles each), the clustered intervals, and the page of the stored answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.statistics.preferences.battles import Battles, battles_of_names
from leaderboard.statistics.preferences.bradley_terry import resampled_strengths, strengths
from leaderboard.statistics.preferences.covariates import CovariateFit
from leaderboard.statistics.preferences.uncertainty import clustered

SYSTEMS, PER_CONVERSATION, SEED = 50, 50, 71
ROUNDS = 5
NEAR = 1e-8

Lists = tuple[list[str], list[str], list[str]]

PEER = """
import json, sys, time
import evalica
from evalica import Winner
a, b, verdicts = json.load(open(sys.argv[1]))
winner = {"a": Winner.X, "b": Winner.Y, "tie": Winner.Draw}
winners = [winner[one] for one in verdicts]
best = None
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    evalica.bradley_terry(a, b, winners)
    taken = time.process_time() - start
    best = taken if best is None else min(best, taken)
tight = evalica.bradley_terry(a, b, winners, tolerance=1e-13, limit=100000)
print(json.dumps({"seconds": best, "scores": dict(tight.scores)}))
"""


def drawn_lists(battles: int) -> Lists:
    """Systems meet at random; ties by Davidson's model with ν = 0.4."""
    random = np.random.default_rng(SEED)
    strength = np.linspace(1.5, -1.5, SYSTEMS)
    a = random.integers(0, SYSTEMS, battles)
    b = (a + random.integers(1, SYSTEMS, battles)) % SYSTEMS
    half = (strength[a] - strength[b]) / 2
    wins, loses = np.exp(half), np.exp(-half)
    total = wins + loses + 0.4
    chance = random.random(battles)
    verdict = np.where(chance < wins / total, 0, np.where(chance < (wins + loses) / total, 1, 2))
    names = [f"s{number:02}" for number in range(SYSTEMS)]
    return (
        [names[one] for one in a.tolist()],
        [names[one] for one in b.tolist()],
        [("a", "b", "tie")[one] for one in verdict.tolist()],
    )


def processor_seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The best of some rounds."""
    taken = []
    for _round in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def beside(interpreter: str, lists: Lists) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.json"
        path.write_text(json.dumps(lists), encoding="utf-8")
        command = [interpreter, "-c", PEER, str(path), str(ROUNDS)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def fitted(lists: Lists) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float64]]]:
    names, battles = battles_of_names(*lists)
    return names, strengths(battles.wins())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--evalica", metavar="PYTHON", help="an interpreter that has evalica")
    parser.add_argument("--page", action="store_true", help="the page of a stored answer, too")
    options = parser.parse_args()
    lists = drawn_lists(options.battles)
    own = processor_seconds(lambda: fitted(lists))
    print(f"{options.battles:,} battles of {SYSTEMS} systems, processor seconds, best of {ROUNDS}")
    print(f"one fit from lists of names        {own:8.3f}")
    if options.evalica:
        peer = beside(options.evalica, lists)
        names, strength = fitted(lists)
        scores = np.log([peer["scores"][name] for name in names])
        apart = float(np.abs(strength - (scores - scores.mean())).max())
        print(f"evalica on the same lists          {peer['seconds']:8.3f}")
        print(f"  evalica over ours                {peer['seconds'] / own:8.1f}  (wanted: 2)")
        print(f"  strengths differ by              {apart:8.1e}  (wanted: {NEAR:.0e})")
        if apart > NEAR:
            sys.exit("the strengths differ")
    _, plain = battles_of_names(*lists)
    conversation = np.arange(len(plain)) // PER_CONVERSATION
    battles = Battles(SYSTEMS, plain.a, plain.b, plain.won, conversation, conversation)
    fit = CovariateFit(strengths(battles.wins()), np.empty(0))
    intervals = processor_seconds(lambda: clustered(battles, fit, conversation), 3)
    print(f"clustered intervals                {intervals:8.3f}")
    resampling = processor_seconds(lambda: resampled_strengths(battles, 1000, SEED), 1)
    print(f"1,000 resamples of conversations   {resampling:8.3f}  (wanted: 2)")
    if options.page:
        _page(battles)


def _page(battles: Battles) -> None:
    """The page of systems from a stored answer with so many votes, as a visitor gets it: the 95th
    percentile of 200 requests in one process, without a network."""
    import os

    folder = tempfile.mkdtemp(prefix="bench-preferences-")
    os.environ["DIALEVAL_HOME"] = folder
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from annotations.models import Corpus, CorpusVersion, Dialogue, Preference, Rater, System
    from leaderboard.queries.preference_board import preference_leaderboard
    from leaderboard.results.computing import answer_of

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    corpus = Corpus.objects.create(slug="million", name="A million battles")
    version = CorpusVersion.objects.create(
        corpus=corpus, number=1, digest="0" * 64, format="jsonl", aspects=["overall"],
        main_aspect="overall", language="en",
    )  # fmt: skip
    systems = System.objects.bulk_create(
        System(version=version, position=place, name=f"s{place:02}") for place in range(SYSTEMS)
    )
    raters = Rater.objects.bulk_create(
        Rater(version=version, position=place, name=f"r{place}") for place in range(100)
    )
    count = int(battles.conversation.max()) + 1
    dialogues = Dialogue.objects.bulk_create(
        (
            Dialogue(version=version, position=place, external_id=f"d{place}")
            for place in range(count)
        ),
        batch_size=5000,
    )
    word = {1.0: "a", 0.0: "b", 0.5: "tie"}
    seen: set[tuple[int, int, int, int]] = set()

    def rows() -> Any:
        for place in range(len(battles)):
            key = int(battles.conversation[place]), int(battles.a[place]), int(battles.b[place])
            rater = place % len(raters)
            if (*key, rater) in seen:
                continue
            seen.add((*key, rater))
            yield Preference(
                rater=raters[rater], aspect="overall", preferred=word[float(battles.won[place])],
                dialogue=dialogues[key[0]], system_a=systems[key[1]], system_b=systems[key[2]],
            )  # fmt: skip

    Preference.objects.bulk_create(rows(), batch_size=5000)
    start = time.process_time()
    answer_of(version, preference_leaderboard)
    print(f"the stored answer, from {len(seen):,} rows  {time.process_time() - start:6.1f}")
    client = Client()
    address = "/corpora/million/systems/preferences/"
    for path in (address, f"{address}?style_control=yes", f"{address}?sort=-win-rate"):
        assert client.get(path).status_code == 200
        taken, of_processor = [], []
        for _request in range(200):
            begin, busy = time.perf_counter(), time.process_time()
            client.get(path)
            taken.append(time.perf_counter() - begin)
            of_processor.append(time.process_time() - busy)
        p95, busy_p95 = (statistics.quantiles(one, n=20)[-1] for one in (taken, of_processor))
        print(
            f"p95 of {path}: {1000 * p95:.1f} ms, of the processor {1000 * busy_p95:.1f} ms  "
            "(wanted: 50)"
        )


if __name__ == "__main__":
    main()
