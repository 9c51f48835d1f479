"""Every statistic and every page of meta-evaluation on corpora of which little can be said: nothing
fails, and what is not defined is never a number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils.http import urlencode

from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Rater,
    Rating,
    Response,
    System,
    Turn,
)
from leaderboard.models import Analysis, SubmittedMetric, SubmittedScores
from tests.challenges.boards import finished_run

pytestmark = pytest.mark.django_db
HOSTILE = "</script><script>alert(1)</script>=1+1\u202e\"'"


@dataclass
class Shape:
    """A corpus in numbers; ``None`` from a function: no score."""

    systems: int = 3
    dialogues: int = 4
    turns: int = 2
    raters: int = 2
    rate: Callable[..., float | None] = lambda random, *_: float(random.integers(1, 6))
    score: Callable[..., float | None] = lambda random, *_: float(random.normal())
    names: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("word_f1", "bleu_1")
    rater_kind: str = "identified"
    of_dialogues: bool = False
    handed_in: dict[str, str] = field(default_factory=dict)


def made(shape: Shape) -> CorpusVersion:
    random = np.random.default_rng(1)
    corpus = Corpus.objects.create(slug="odd", name="Odd", is_public=True)
    version = CorpusVersion.objects.create(
        corpus=corpus, number=1, digest="ab" * 32, format="jsonl", main_aspect="overall",
        aspects=["overall"], scales={"overall": [1, 5]},
    )  # fmt: skip
    dialogues = [
        Dialogue.objects.create(version=version, position=place, external_id=f"d{place}")
        for place in range(shape.dialogues)
    ]
    turns = [
        Turn.objects.create(
            dialogue=one, number=number, context=[["A", "Well?"]], references=["yes"]
        )
        for one in dialogues
        for number in range(shape.turns)
    ]
    raters = [
        Rater.objects.create(
            version=version, position=place, name=f"r{place}", kind=shape.rater_kind
        )
        for place in range(shape.raters)
    ]
    for place in range(shape.systems):
        name = shape.names[place] if place < len(shape.names) else f"s{place}"
        system = System.objects.create(version=version, position=place, name=name)
        for number, turn in enumerate(turns):
            response = Response.objects.create(system=system, turn=turn, text=f"I said {number}.")
            for rater_place, rater in enumerate(raters):
                given = shape.rate(random, place, number, rater_place)
                if given is not None and not shape.of_dialogues:
                    Rating.objects.create(
                        rater=rater, response=response, aspect="overall", score=given
                    )
        if shape.of_dialogues:
            for (number, one), (rater_place, rater) in product(
                enumerate(dialogues), enumerate(raters)
            ):
                given = shape.rate(random, place, number, rater_place)
                if given is not None:
                    Rating.objects.create(
                        rater=rater, system=system, dialogue=one, aspect="overall", score=given
                    )
        for metric in shape.metrics:
            finished_run(
                system,
                metric,
                [shape.score(random, place, number, metric) for number in range(len(turns))],
            )
    for name, level in shape.handed_in.items():
        metric = SubmittedMetric.objects.create(
            version=version, name=name, level=level, sha256="0" * 64
        )
        size = {"turn": len(turns), "dialogue": len(dialogues), "system": 1}[level]
        for place, system in enumerate(version.systems.order_by("position")):
            scores = [shape.score(random, place, number, name) for number in range(size)]
            given = [one for one in scores if one is not None]
            SubmittedScores.objects.create(
                metric=metric, system=system, scores=[] if level == "system" else scores,
                system_score=sum(given) / len(given) if given else None,
            )  # fmt: skip
    return version


SHAPES = {
    "nothing at all": Shape(systems=0, dialogues=0, raters=0),
    "no ratings": Shape(raters=0),
    "no metrics": Shape(metrics=()),
    "two systems": Shape(systems=2),
    "one turn of one dialogue": Shape(dialogues=1, turns=1),
    "equal ratings": Shape(rate=lambda *_: 3.0),
    "scores equal but for a hair": Shape(
        score=lambda random, *_: 0.5 + float(random.normal()) * 1e-15
    ),
    "systems equal": Shape(
        rate=lambda _, _s, turn, _r: float(1 + turn % 5), score=lambda _, _s, turn, _m: float(turn)
    ),
    "no score": Shape(score=lambda *_: None),
    "few scores": Shape(
        score=lambda random, *_: float(random.normal()) if random.random() < 0.2 else None
    ),
    "huge scores": Shape(
        score=lambda random, *_: float(random.normal()) * 1e200, handed_in={"mine": "turn"}
    ),
    "raters apart": Shape(
        raters=3,
        rate=lambda random, system, _t, rater: (
            float(random.integers(1, 6)) if rater == system else None
        ),
    ),
    "anonymous raters": Shape(rater_kind="anonymous"),
    "one whole dialogue": Shape(of_dialogues=True, dialogues=1),
    "perfect metric": Shape(
        rate=lambda _, system, turn, _r: float(1 + (system + turn) % 5),
        score=lambda _, system, turn, _m: float((system + turn) % 5),
    ),
    "one submitted of systems": Shape(handed_in={"c": "system"}, metrics=()),
    "hostile names": Shape(
        names=(HOSTILE, "=HYPERLINK(1)", "\u202eabc" + "x" * 190),
        handed_in={HOSTILE[:80]: "turn", "@sum": "system"},
    ),
    "twelve systems": Shape(systems=12, dialogues=3),
}


PAGES = (
    "metrics/", "metrics/?variant=per_dialogue", "metrics/?variant=per_system",
    "metrics/?level=system", "metrics/cases/", "metrics/heat-map/",
    "metrics/heat-map/?show=significance&aspect=overall",
    "metrics/heat-map/?show=significance&level=system&aspect=overall", "systems/", "systems/map/",
    "systems/fewer-ratings/", "systems/compare/", "agreement/", "agreement/raters/",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_every_page_answers(name: str) -> None:
    version = made(SHAPES[name])
    client = Client(raise_request_exception=False)
    addresses = [f"/corpora/odd/{page}" for page in PAGES]
    metrics = (
        [*SHAPES[name].metrics, *SHAPES[name].handed_in]
        if SHAPES[name].systems and SHAPES[name].raters
        else []
    )
    systems = list(version.systems.values_list("name", flat=True))
    addresses += ["/corpora/odd/metrics/compare/"]
    for path, names in (("metrics", metrics), ("systems", systems)):
        if len(names) > 1:
            for level in ("", "dialogue", "turn"):
                asked = urlencode(
                    {"first": names[0], "second": names[1], **({"level": level} if level else {})}
                )
                addresses.append(f"/corpora/odd/{path}/compare/?{asked}")
    failures = []
    for address in addresses:
        answer = client.get(address)
        if answer.status_code != 200:
            failures.append(f"{answer.status_code} {address}")
        if re.search(
            r"<script>alert|(?<![\w-])(?:nan|inf)(?![\w-])", answer.content.decode(), re.IGNORECASE
        ):
            failures.append(f"markup or NaN {address}")
    failed = [
        f"{one.kind} {one.parameters} {one.error}"
        for one in Analysis.objects.filter(state="failed")
    ]
    assert not failures + failed
    for one in Analysis.objects.all():
        json.dumps(one.answer, allow_nan=False)
        assert_sane(one.answer, f"{one.kind} {one.parameters}")


def assert_sane(part: Any, where: str) -> None:
    """An estimate without a value has a reason; a p lies in [0, 1]; a correlation's interval in
    [-1, 1]."""
    if isinstance(part, dict):
        if "value" in part and part["value"] is None:
            assert part.get("reason"), where
        if isinstance(part.get("p"), float):
            assert 0 <= part["p"] <= 1, where
        for key, value in part.items():
            assert_sane(value, f"{where} {key}")
    elif isinstance(part, list):
        for value in part:
            assert_sane(value, where)
