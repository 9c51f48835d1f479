"""How long a round's leaderboard takes: ``python -m bench.boards [--teams 100] [--each 3]``.

A site in a temporary folder (SQLite) gets a round on 250 dialogues of 7 turns, 100 teams with some
scored submissions each, and 10 metrics' finished runs. Measured in processor time and wall time, of
one process:

* the document, computed anew (as after a submission was scored): all submissions of a team are
  compared
* the page where the document is stored: the median of 20 requests by Django's test client
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from typing import Any

import pytest

from bench.made_corpus import home_of_its_own
from tests.conftest import lookers_compute

DIALOGUES, TURNS, REQUESTS = 250, 7, 20
METRICS = [
    "word_f1", "word_precision", "word_recall", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_1",
    "rouge_2", "rouge_l",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teams", type=int, default=100)
    parser.add_argument("--each", type=int, default=3, help="scored submissions of a team")
    asked = parser.parse_args()
    with home_of_its_own(), pytest.MonkeyPatch.context() as patch:
        lookers_compute(patch)  # there is no worker: who looks computes
        round = _round(asked.teams, asked.each)
        print(
            f"{asked.teams} teams × {asked.each} submissions × {len(METRICS)} metrics × "
            f"{DIALOGUES * TURNS} turns"
        )
        _measure(round)


def _measure(round: Any) -> None:
    from django.contrib.auth.models import AnonymousUser
    from django.test import Client
    from django.urls import reverse

    from leaderboard.challenges.queries.board import round_board

    wall, cpu = time.perf_counter(), time.process_time()
    document = round_board(round, AnonymousUser())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"document, computed anew: {wall:.2f} s ({cpu:.2f} s of processor time), "
        f"{len(document.entries)} entries"
    )
    client, address, took = (
        Client(SERVER_NAME="localhost"),
        reverse("board", args=[round.challenge.slug, round.slug]),
        [],
    )
    assert document.entries
    for _ in range(REQUESTS):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        assert client.get(address).status_code == 200
        took.append((time.perf_counter() - begin, time.process_time() - begin_cpu))
    wall, cpu = (statistics.median(one[kind] for one in took) * 1000 for kind in (0, 1))
    print(f"page, stored: median {wall:.0f} ms ({cpu:.0f} ms of processor time)")


def _round(teams: int, each: int) -> Any:
    from annotations.models import Dialogue, Turn
    from leaderboard.challenges.models import Team
    from tests.challenges.boards import board_round, finished_run, scored_with

    random.seed(0)
    round = board_round(1, 1, metrics=METRICS, public_share=0.6)
    Dialogue.objects.filter(version=round.version).delete()
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(version=round.version, position=place, external_id=f"d{place}")
        for place in range(DIALOGUES)
    )
    Turn.objects.bulk_create(
        Turn(dialogue=one, number=number, context=[])
        for one in dialogues
        for number in range(TURNS)
    )
    for place in range(teams):
        team = Team.objects.create(challenge=round.challenge, name=f"Team {place}")
        for number in range(each):
            submission = scored_with(round, team, _scores(), number)
            for metric in METRICS[1:]:
                finished_run(submission.system, metric, _scores())
    return type(round).objects.select_related("challenge", "version__corpus").get(pk=round.pk)


def _scores() -> list[float]:
    level = random.uniform(0.2, 0.4)
    return [min(1.0, max(0.0, random.gauss(level, 0.15))) for _ in range(DIALOGUES * TURNS)]


if __name__ == "__main__":
    main()
