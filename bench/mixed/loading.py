"""What is loaded once: a corpus with a million ratings of 500 systems, one of ComperDial's size, a
challenge that has been going on, and the people. A folder that has all of it already is used as it
is.

Ratings go in by COPY: a million rows by ``bulk_create`` take minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.made_corpus import COMPERDIAL, SEED, Size, configurations, make_corpus, store_scores

BIG, SMALL, TASK = "made", "comperdial", "task"
CHALLENGE, ROUND = "open", "main"
SCORED = 20
"""Metrics whose scores are stored beforehand; the others are left to be asked for."""
DIALOGUE_RATERS = 5
ROUND_METRICS = ["word_f1", "bleu_4", "rouge_l", "bertscore_f1"]
PASSWORD = "the bench's own words"


@dataclass(frozen=True)
class Amount:
    systems: int = 500
    ratings: int = 1_000_000
    teams: int = 40
    prior_submissions: int = 60

    @property
    def size(self) -> Size:
        """15 dialogues of seven turns, as in ComperDial; as many raters an item as make that many
        ratings."""
        of_dialogues = 15 * self.systems * DIALOGUE_RATERS
        an_item = max(1, round((self.ratings - of_dialogues) / (15 * 7 * self.systems)))
        return Size(
            systems=self.systems, raters=max(100, 2 * an_item), raters_an_item=(an_item, an_item)
        )


FULL = Amount()
LITTLE = Amount(systems=40, ratings=10_000, teams=8, prior_submissions=10)


def load(amount: Amount) -> None:
    """Leave out what is there already."""
    from annotations.models import Corpus, CorpusVersion, Dialogue
    from leaderboard.challenges.models import Challenge

    started = time.perf_counter()
    for slug, size in ((BIG, amount.size), (SMALL, COMPERDIAL)):
        if not Corpus.objects.filter(slug=slug).exists():
            version = make_corpus(slug, size, rate_by_copy)
            store_scores(version, configurations(SCORED))
            _say(f"{slug} is loaded", started)
    if not Corpus.objects.filter(slug=TASK).exists():
        version = make_corpus(TASK, Size(systems=1, raters=1, raters_an_item=(1, 1)))
        CorpusVersion.objects.filter(pk=version.pk).update(digest="2" * 64)
        assert Dialogue.objects.filter(version=version).count() == COMPERDIAL.dialogues
    if not Challenge.objects.filter(slug=CHALLENGE).exists():
        _challenge(amount)
        _say("the challenge has teams and files", started)
    _vacuum()


def _say(what: str, started: float) -> None:
    print(f"  {what}, {time.perf_counter() - started:.0f} s", flush=True)


# --- ratings --------------------------------------------------------------------------------------


def rate_by_copy(
    responses: list[Any],
    systems: list[Any],
    dialogues: list[Any],
    raters: list[Any],
    size: Size,
    random: Any,
) -> None:
    """Raters see a system's quality through noise; as many for each item as ``size`` says, drawn
    anew."""
    from django.db import connection

    quality = {system.pk: 3 + random.normal(scale=0.8) for system in systems}
    keys = np.array([rater.pk for rater in raters])
    low, high = size.raters_an_item

    def given(quality_of_it: float, most: int) -> Iterator[tuple[int, float]]:
        chosen = random.choice(
            keys, random.integers(min(low, most), min(high, most) + 1), replace=False
        )
        scores = np.clip(np.round(quality_of_it + random.normal(size=len(chosen))), 1, 5)
        return zip(chosen.tolist(), scores.tolist(), strict=True)

    with connection.cursor() as cursor:
        into = (
            "COPY annotations_rating (rater_id, aspect, {}, score, comment, created_at) FROM STDIN"
        )
        with cursor.copy(into.format("response_id")) as copy:
            for response in responses:
                ratings = given(quality[response.system_id], len(keys))
                copy.write(
                    "".join(
                        f"{who}\toverall\t{response.pk}\t{score}\t\tnow\n" for who, score in ratings
                    )
                )
        with cursor.copy(into.format("system_id, dialogue_id")) as copy:
            for system in systems:
                for dialogue in dialogues:
                    ratings = given(quality[system.pk], DIALOGUE_RATERS)
                    item = f"{system.pk}\t{dialogue.pk}"
                    copy.write(
                        "".join(
                            f"{who}\toverall\t{item}\t{score}\t\tnow\n" for who, score in ratings
                        )
                    )


def _vacuum() -> None:
    """As autovacuum does within minutes; the run must not wait for it, nor measure it."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


# --- a challenge that has been going on -----------------------------------------------------------


def _challenge(amount: Amount) -> None:
    """Teams, and files that wait for the workers to check and score them."""
    from annotations.models import CorpusVersion
    from leaderboard.challenges.actions.receiving import receive
    from leaderboard.challenges.models import Team
    from leaderboard.challenges.uploads import upload_from_bytes
    from tests.challenges.sets import open_challenge, open_round, team_with_member

    version = CorpusVersion.objects.get(corpus__slug=TASK)
    challenge = open_challenge(CHALLENGE, name="The bench's challenge")
    round = open_round(
        version,
        challenge,
        slug=ROUND,
        tracks=["gpu"],
        metrics=ROUND_METRICS,
        ranking_metric="word_f1",
        public_share=0.5,
        daily_limit=100_000,
        total_limit=1_000_000,
    )
    for number in range(amount.teams):
        team_with_member(challenge, f"member-{number}", f"Team {number}")
    teams = list(Team.objects.filter(challenge=challenge).order_by("pk"))
    files = responses_files(version, SEED)
    for number in range(amount.prior_submissions):
        team = teams[number % len(teams)]
        user = team.members.select_related("user").get().user
        upload = upload_from_bytes(next(files), "responses.jsonl")
        receive(
            round, team, user, track="gpu", name=f"system {number}", description="", upload=upload
        )


def responses_files(version: Any, seed: int) -> Iterator[bytes]:
    """JSON lines without end, no two alike, answers of five to twenty-five words."""
    import json

    from bench.made_corpus import sentence

    places = [
        (dialogue.external_id, turn.number)
        for dialogue in version.dialogues.order_by("position").prefetch_related("turns")
        for turn in dialogue.turns.all()
    ]
    random = np.random.default_rng(seed)
    while True:
        lines = (
            {"dialog_id": name, "turn": turn, "response": sentence(random)} for name, turn in places
        )
        yield ("\n".join(map(json.dumps, lines)) + "\n").encode()
