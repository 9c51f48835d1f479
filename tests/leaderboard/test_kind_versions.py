"""A changed answer of a stored statistic comes with a raised version (``Kind.version``), or sites
go on showing the numbers of the code before.

``kind_answers.json`` holds an answer of each kind, of small made-up data, as the code gave it when
its version was last raised. After a change that is meant, raise the version beside the function
that computes the kind, and run this file with ``DIALEVAL_WRITE_ANSWERS=1``: it writes the answers
of kinds whose version is another one, and of no others.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from annotations.campaigns.models import Battle
from annotations.campaigns.queries.ratings import aspects_of
from annotations.formats.records import DialogueRecord, TurnRecord, Utterance
from annotations.models import Corpus, CorpusVersion, Response
from leaderboard.reproduction.fbd import OURS
from leaderboard.results.computing import answer_of
from leaderboard.results.kinds import all_kinds
from tests.annotations.stored import Scores, rated_corpus, stored
from tests.campaigns.arenas import made_arena, made_battle
from tests.campaigns.judged import table
from tests.campaigns.sets import made_campaign, made_raters
from tests.challenges.boards import around, board_round, scored_with, team_of_one
from tests.challenges.sets import small_version
from tests.leaderboard.judged import JUDGE, judged_run
from tests.leaderboard.preferred import preferred_version
from tests.workers.conftest import odd_metrics  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db

FILE = Path(__file__).with_name("kind_answers.json")
LEAST_DIFFERENCE = 1e-6
"""Relative. Builds of numpy and scipy for other processors differ by less."""
OTHER_EACH_TIME = {"seconds_per_1000", "submission", "team_id"}
"""Keys of the documents: measured, or drawn by chance."""
ROWS = {"dialogue", "system", "turn"}
"""Where these hold a number it may be a row's key, which the database gives."""
METRICS = "length,word_f1"
OF_METRICS = {"aspect": "overall", "metric": "length"}
OF_A_PAIR = {"aspect": "overall", "first": "length", "second": "word_f1"}
OF_A_JUDGE = {"aspect": "overall", "text": JUDGE}


def rated_version(folder: Path) -> CorpusVersion:
    """Four systems, one of which gives the references, on eight dialogues of two turns, rated by
    three raters; scored by two metrics and a judge."""
    drawn = random.Random(0)  # one stream: texts and ratings
    words = [
        "we",
        "took",
        "the",
        "train",
        "home",
        "and",
        "it",
        "rained",
        "all",
        "day",
        "in",
        "spring",
    ]
    said, dialogues = {}, []
    ratings: Scores = {}
    for number in range(8):
        references = [" ".join(drawn.choices(words, k=6)) for _ in range(2)]
        turns = [
            TurnRecord(turn, (Utterance("A", "And you?"),), (one,))
            for turn, one in enumerate(references)
        ]
        dialogues.append(DialogueRecord(f"d{number}", (), (), tuple(turns)))
        for turn, reference in enumerate(references):
            for strength, system in enumerate(("dull", "echo", "keen", "gold")):
                place = (f"d{number}", turn, system)
                said[place] = (
                    reference
                    if system == "gold"
                    else " ".join(drawn.choices(words, k=2 + 2 * strength))
                )
                level = 1 + strength + drawn.choice((-0.5, 0.5))
                ratings[place] = {
                    rater: float(min(5, max(1, round(level + drawn.choice((-1, 0, 0, 1))))))
                    for rater in "abc"
                }
    version = stored(rated_corpus(dialogues, said, ratings), folder)
    call_command("score", corpus="small", metrics=METRICS, inline=True)
    for system in version.systems.all():
        judged_run(system, [float(drawn.randint(1, 10)) for _ in range(16)])
    version.refresh_from_db()
    return version


Given = tuple[CorpusVersion, dict[str, Any]]


def of_a_campaign(_folder: Path) -> Given:
    campaign = made_campaign(
        systems=["one", "two"], dialogues=2, turns=1, slug="pilot", axes_below=3
    )
    raters = made_raters(campaign, 3)
    table(campaign, raters, {0: [1, 2, 4, 5], 1: [1, 2, 4, None], 2: [None, None, None, 1]})
    parameters = {
        "campaign": campaign.pk,
        "aspect": aspects_of(campaign)[0][0],
        "system": "",
        "excluded": False,
    }
    return campaign.version, parameters


def of_a_round(_folder: Path) -> Given:
    round = board_round(version=small_version(4, 2, slug="held"))
    for name, score in (("Ours", 0.5), ("Theirs", 0.4)):
        scored_with(round, team_of_one(round, name), around(score))
    return round.version, {"round": round.pk, "part": "public"}


def of_preferences(folder: Path) -> Given:
    version = preferred_version(folder)
    call_command("score", corpus="small", metrics="response_length,word_f1", inline=True)
    return version, {}


def of_a_published_corpus(folder: Path) -> Given:
    version = rated_version(folder)
    Corpus.objects.update(slug="personam")
    call_command("score", corpus="personam", metrics=OURS["BLEU"], inline=True)
    return CorpusVersion.objects.get(pk=version.pk), {}


def of_an_arena(_folder: Path) -> Given:
    arena = made_arena(slug="pilot", name="Pilot", dialogues=6)
    for verdict in ("a", "b", "a", "tie", "both_bad", "a"):
        Battle.objects.filter(pk=made_battle(arena).pk).update(
            state="voted", vote=verdict, decision_ms=5_000, ended_at=timezone.now()
        )
    responses = iter(arena.version.dialogues.order_by("position"))
    for battle, dialogue in zip(arena.battles.order_by("number"), responses, strict=True):
        said = Response.objects.filter(turn__dialogue=dialogue).order_by("system__position")
        arms = dict(zip(("response_a", "response_b"), said, strict=True))
        Battle.objects.filter(pk=battle.pk).update(
            dialogue=dialogue, turn=arms["response_a"].turn, **arms
        )
    return arena.version, {"arena": arena.pk}


def of_the_corpus(**parameters: Any) -> Callable[[Path], Given]:
    return lambda folder: (rated_version(folder), parameters)


REQUESTED: dict[str, Callable[[Path], Given]] = {
    "arena": of_an_arena,
    "correlations": of_the_corpus(aspect="overall"),
    "cases": of_the_corpus(aspect="overall", seed=0),
    "comparisons": of_the_corpus(aspect="overall", level="turn"),
    "separating": of_the_corpus(aspect="overall"),
    "metric-correlations": of_the_corpus(),
    "systems": of_the_corpus(aspect="overall"),
    "misleading-metrics": of_the_corpus(aspect="overall"),
    "system-profile": of_the_corpus(),
    "score-spread": of_the_corpus(text="length"),
    "disagreement": of_the_corpus(aspect="overall", text="length"),
    "judged": of_the_corpus(**OF_A_JUDGE),
    "rater-effects": of_the_corpus(aspect="overall"),
    "prediction-powered": of_the_corpus(**OF_METRICS),
    "judge-hygiene": of_the_corpus(**OF_A_JUDGE),
    "agreement": of_the_corpus(aspect="overall", level="turn"),
    "campaign-agreement": of_a_campaign,
    "metric-pair": of_the_corpus(**OF_A_PAIR),
    "metric-pair-scatter": of_the_corpus(**OF_A_PAIR),
    "system-pair": of_the_corpus(aspect="overall", first="echo", second="keen"),
    "scatter": of_the_corpus(**OF_METRICS),
    "board": of_a_round,
    "preferences": of_preferences,
    "preference-metrics": of_preferences,
    "published-tables": of_a_published_corpus,
}
NEEDS_A_MODEL = {"response-map"}
"""Its points come from an encoder, which not every machine has: its answer is held in
``test_plot_pages``."""


def test_every_kind_has_an_answer_that_is_held() -> None:
    assert set(all_kinds()) == set(REQUESTED) | NEEDS_A_MODEL


@pytest.mark.parametrize("kind", REQUESTED)
def test_an_answer_changes_only_with_its_version(
    kind: str,
    tmp_path: Path,
    odd_metrics: None,  # noqa: F811
) -> None:
    version, parameters = REQUESTED[kind](tmp_path)
    text = all_kinds()[kind].to_json(answer_of(version, kind, **parameters))
    read_back = all_kinds()[kind].to_json(all_kinds()[kind].from_json(text))
    assert json.loads(read_back) == json.loads(text), "its type leaves something out"
    answer = json.loads(
        text.replace(settings.VERSION, "VERSION").replace(version.corpus.slug, "CORPUS")
    )
    held = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    current = all_kinds()[kind].version
    if (
        os.environ.get("DIALEVAL_WRITE_ANSWERS") == "1"
        and held.get(kind, {}).get("version") != current
    ):
        held[kind] = {"version": current, "answer": answer}
        lines = [
            f"{json.dumps(name)}: {json.dumps(held[name], sort_keys=True)}" for name in sorted(held)
        ]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert held[kind]["version"] == current, "run this file with DIALEVAL_WRITE_ANSWERS=1"
    differing = list(differences(held[kind]["answer"], answer))
    assert not differing, (
        f"raise the version of {kind!r}, whose answer changed at {', '.join(differing[:5])}"
    )


def differences(held: Any, found: Any, path: str = "") -> Any:
    """Where two JSON documents differ, numbers by more than ``LEAST_DIFFERENCE``."""
    if isinstance(held, dict) and isinstance(found, dict) and held.keys() == found.keys():
        for key in held.keys() - OTHER_EACH_TIME:
            if key in ROWS and isinstance(held[key], int) and isinstance(found[key], int):
                continue
            yield from differences(held[key], found[key], f"{path}.{key}")
    elif isinstance(held, list) and isinstance(found, list) and len(held) == len(found):
        for place, (one, other) in enumerate(zip(held, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif isinstance(held, float) and isinstance(found, float):
        if found != pytest.approx(held, rel=LEAST_DIFFERENCE, abs=LEAST_DIFFERENCE):
            yield path
    elif isinstance(held, dict) and isinstance(found, dict):
        yield f"{path} (its keys {', '.join(sorted(held.keys() ^ found.keys()))})"
    elif held != found:
        yield path
