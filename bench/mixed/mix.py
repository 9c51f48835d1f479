"""Who comes, how often, and what they ask for: drawn beforehand, with a seed, and written down as a
plan.

Moments come from Poisson processes and do not wait for answers. What a page asks for by itself once
it is open (the second half of a leaderboard) is asked for 0.3 s after it. A rater's next moment may
come before the last answer; the wait counts from the moment.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from bench.mixed.loading import BIG, CHALLENGE, ROUND, SMALL

SECOND_HALF_AFTER = 0.3
FIRST_RATINGS_AFTER = 10.0
"""Raters log in, and read, before they rate."""


@dataclass(frozen=True)
class Rates:
    """What 50 researchers, 20 raters and 40 teams do on a busy day, for two cores."""

    pages_a_second: float = 4.0
    raters: int = 20
    rater_pause_seconds: float = 5.0
    upload_every_seconds: float = 10.0
    runs_every_seconds: float = 60.0
    archive_every_seconds: float = 60.0


@dataclass(frozen=True)
class Known:
    """What addresses are made of."""

    metrics: list[str]
    systems: dict[str, list[str]]
    viewers: list[str]
    """Sessions of people who are logged in; ``tokens`` are theirs."""
    tokens: list[str]
    assets: list[str]


Address = Callable[[random.Random, Known, str], str]
DIALOGUES = 15


def _with(path: str, **asked: str) -> str:
    return f"{path}?{urlencode(asked, quote_via=quote)}" if asked else path


def _at(pattern: str) -> Address:
    return lambda _draw, _known, corpus: pattern.replace("{corpus}", corpus)


def _one_metric(draw: random.Random, _: Known, __: str) -> str:
    return f"/metrics/{draw.choice(['bleu_4', 'rouge_l', 'word_f1'])}/"


def _metric_board(draw: random.Random, _: Known, corpus: str) -> str:
    asked: dict[str, str] = {}
    if draw.random() < 0.5:
        asked |= {"level": draw.choice(LEVELS), "coefficient": draw.choice(COEFFICIENTS)}
    if draw.random() < 0.3:
        asked["sort"] = draw.choice(["", "-"]) + draw.choice(
            ["metric", *(f"{level}-pearson" for level in LEVELS)]
        )
    return _with(f"{corpus}/metrics/", **asked)


def _system_board(draw: random.Random, _: Known, corpus: str) -> str:
    asked: dict[str, str] = {}
    if draw.random() < 0.5:
        asked["sort"] = draw.choice(["", "-"]) + draw.choice(["system", "human", "rank"])
    if draw.random() < 0.2:
        asked["kind"] = draw.choice(["agent", "human"])
    return _with(f"{corpus}/systems/", **asked)


def _two_metrics(draw: random.Random, known: Known, corpus: str) -> str:
    first, second = draw.sample(known.metrics[:4], 2)
    return _with(f"{corpus}/metrics/compare/", first=first, second=second)


def _two_systems(draw: random.Random, known: Known, corpus: str) -> str:
    first, second = draw.sample(known.systems[corpus.rpartition("/")[2]][:4], 2)
    return _with(f"{corpus}/systems/compare/", first=first, second=second)


def _one_dialogue(draw: random.Random, _: Known, corpus: str) -> str:
    return _with(f"{corpus}/dialogues/{draw.randrange(DIALOGUES)}/", turn=str(draw.randrange(7)))


def _agreement(draw: random.Random, _: Known, corpus: str) -> str:
    return _with(f"{corpus}/agreement/", level=draw.choice(["turn", "dialogue"]))


def _heat_map(draw: random.Random, _: Known, corpus: str) -> str:
    return _with(
        f"{corpus}/metrics/heat-map/",
        level=draw.choice(LEVELS),
        coefficient=draw.choice(COEFFICIENTS),
    )


LEVELS, COEFFICIENTS = ["turn", "dialogue", "system"], ["pearson", "spearman", "kendall"]
HALVES = {"metric board": "{corpus}/metrics/plots/", "system board": "{corpus}/systems/?part=more"}
PAGES: dict[str, tuple[float, Address]] = {
    "home": (8, _at("/")),
    "corpus": (7, _at("{corpus}/")),
    "metric board": (15, _metric_board),
    "system board": (15, _system_board),
    "agreement": (6, _agreement),
    "rater effects": (2, _at("{corpus}/agreement/raters/")),
    "heat map": (3, _heat_map),
    "two metrics": (4, _two_metrics),
    "two systems": (4, _two_systems),
    "fewer ratings": (1, _at("{corpus}/systems/fewer-ratings/")),
    "dialogues": (3, _at("{corpus}/dialogues/")),
    "dialogue": (8, _one_dialogue),
    "metrics": (2, _at("/metrics/")),
    "metric": (4, _one_metric),
    "runs of a corpus": (2, _at("{corpus}/runs/")),
    "challenge": (4, _at(f"/challenges/{CHALLENGE}/")),
    "challenge board": (8, _at(f"/challenges/{CHALLENGE}/rounds/{ROUND}/board/")),
    "table as CSV": (2, _at("{corpus}/metrics/?download=metric-leaderboard.csv")),
    "API": (2, _at("/api/v1{corpus}/correlations")),
}


@dataclass(frozen=True)
class Visit:
    due: float
    kind: str
    path: str
    session: str = ""
    token: str = ""
    htmx: bool = False


def visits(rates: Rates, seconds: float, known: Known, seed: int) -> list[Visit]:
    """In the order of their moments. Two in three are of the corpus with a million ratings, one in
    three is logged in, and one in ten comes for the first time and loads style and script."""
    draw = random.Random(seed)
    found: list[Visit] = []
    for due in moments(draw, rates.pages_a_second, seconds):
        kind = draw.choices(list(PAGES), [weight for weight, _ in PAGES.values()])[0]
        corpus = f"/corpora/{BIG if draw.random() < 2 / 3 else SMALL}"
        path = PAGES[kind][1](draw, known, corpus)
        session = draw.choice(known.viewers) if draw.random() < 1 / 3 else ""
        if kind == "API":
            found.append(Visit(due, kind, path, token=draw.choice(known.tokens)))
            continue
        found.append(Visit(due, kind, path, session))
        if kind in HALVES:
            half = HALVES[kind].format(corpus=corpus)
            found.append(
                Visit(due + SECOND_HALF_AFTER, f"{kind}, second half", half, session, htmx=True)
            )
        if draw.random() < 0.1:
            found += [Visit(due + 0.1, "style and script", asset) for asset in known.assets]
    archive = f"/api/v1/corpora/{SMALL}/export"
    found += [
        Visit(due, "archive", archive, token=draw.choice(known.tokens))
        for due in moments(draw, 1 / rates.archive_every_seconds, seconds)
    ]
    return sorted(found, key=lambda visit: visit.due)


def moments(draw: random.Random, a_second: float, seconds: float) -> Iterator[float]:
    moment = draw.expovariate(a_second)
    while moment < seconds:
        yield moment
        moment += draw.expovariate(a_second)


def ratings_of_a_rater(rates: Rates, seconds: float, draw: random.Random) -> list[float]:
    begin = FIRST_RATINGS_AFTER if seconds > 2 * FIRST_RATINGS_AFTER else seconds / 4
    return [
        begin + moment for moment in moments(draw, 1 / rates.rater_pause_seconds, seconds - begin)
    ]


def plan_of(
    rates: Rates, seconds: float, known: Known, people: dict[str, Any], seed: int
) -> dict[str, Any]:
    """One JSON document: the generator needs nothing else, and no Django."""
    draw = random.Random(seed + 1)
    return {
        "seconds": seconds,
        "visits": [visit.__dict__ for visit in visits(rates, seconds, known, seed)],
        "raters": [
            {
                **rater,
                "comes": draw.uniform(0, 5),
                "ratings": ratings_of_a_rater(rates, seconds, draw),
            }
            for rater in people["raters"][: rates.raters]
        ],
        "uploads": [
            {
                **draw.choice(people["members"]),
                "due": due,
                "way": ["form", "API"][number % 2],
                "file": number,
            }
            for number, due in enumerate(moments(draw, 1 / rates.upload_every_seconds, seconds))
        ],
        "runs": [
            {"due": due, "session": people["organiser"], **asked}
            for due, asked in zip(
                [
                    (number + 0.5) * rates.runs_every_seconds
                    for number in range(int(seconds / rates.runs_every_seconds))
                ]
                or [seconds / 3],
                people["runs"],
                strict=False,
            )
        ],
    }
