"""What the system leaderboard stores: how systems stand, and where each metric's order of them
misses people's.

What it would take to tell systems apart that stand next to each other on the board.

Each system's mean human score on every aspect of the corpus: where it is strong, and where it is
weak.

When systems were handed in. Whoever knows (challenges) registers a source of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.analyses.kinds import registered
from leaderboard.queries.correlations import metric_means
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.gold import compares_gold_with_itself, gold_among
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.queries.standing import MEANS_CI, system_standing
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import ALL, chosen_systems, resolve_choice, with_choice
from leaderboard.statistics.correlation.placed_scores import FloatArray, system_sums
from leaderboard.statistics.design import Design
from leaderboard.statistics.ranking.rank_differences import rank_differences
from leaderboard.statistics.ranking.system_ranking import rank_systems
from leaderboard.statistics.significance.power import LEVEL, POWER, needed_to_separate

PLACES = ("place", "best", "worst")


@registered("systems", version=3)
def system_leaderboard(version: CorpusVersion, aspect: str, systems: str = ALL) -> dict[str, Any]:
    """``system_standing`` of a choice of systems, with ``"systems_chosen"``: all, agents, …, and
    ``"handed_in"``: by position, when a system came that was handed in."""
    chosen = chosen_systems(version, systems)
    document = system_standing(version, aspect, chosen)
    document["systems_chosen"] = systems
    times = handed_in_at(version, chosen)
    document["handed_in"] = {
        str(one.position): times[one.pk].isoformat() for one in chosen if one.pk in times
    }
    return document


@registered("misleading-metrics", version=1, resolved=with_choice)
def misleading_metrics(
    version: CorpusVersion, aspect: str, systems: str | None = None
) -> dict[str, Any]:
    """Every metric's places of the systems beside people's; see ``RankDifferences``.

    ``metrics``: ``{"metric", "higher_is_better", "placed", "misled", "worst", "rows"}``; a row is
    ``[position, people's place, best, worst, the metric's place, best, worst, difference, beyond]``
    of a system that both scored, without the gold answers where the metric would hold them against
    themselves.
    """
    systems = resolve_choice(version, systems)
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    items = human.at("system")
    document: dict[str, Any] = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": systems,
        "ci": MEANS_CI,
        "resamples": RESAMPLES,
        "seed": SEED,
        "systems": [
            {"system": one.name, "kind": one.kind, "position": one.position} for one in chosen
        ],
        "metrics": [],
    }
    if items is None:
        return document
    scale = scale_of(version, aspect)
    people = _ends(
        [
            rank.mean
            for rank in rank_systems(
                placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale
            )
        ]
    )
    scores = compared_scores(version, chosen, human.order)
    gold = gold_among(version, chosen)
    for row, metric in enumerate(scores.configurations):
        means = _ends(metric_means(human, scores.select([row])))
        means[0][[compares_gold_with_itself(metric, system, gold) for system in chosen]] = np.nan
        found = rank_differences(people, means, higher_is_better=metric.higher_is_better)
        document["metrics"].append(
            {
                "metric": metric.text,
                "higher_is_better": metric.higher_is_better,
                "placed": int(found.is_placed.sum()),
                "misled": found.misled,
                "worst": found.worst,
                "rows": [
                    [
                        chosen[number].position,
                        *(int(getattr(found.human, name)[number]) for name in PLACES),
                        *(int(getattr(found.metric, name)[number]) for name in PLACES),
                        int(found.difference[number]),
                        int(found.beyond[number]),
                    ]
                    for number in np.flatnonzero(found.is_placed)
                ],
            }
        )
    return document


def _ends(estimates: list[Estimate]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(means, lower ends, upper ends), NaN where there is none."""
    low, high = (
        np.array([np.nan if one.ci is None else one.ci[end] for one in estimates], dtype=np.float64)
        for end in (0, 1)
    )
    return np.array([one.value for one in estimates], dtype=np.float64), low, high


METHOD = (
    "{test}, two-sided at 5 %, power 80 %, the difference seen taken as the true one; rater noise "
    "from the spread of ratings about each item's mean"
)
PAIRED, UNPAIRED = (
    "paired t test over dialogues",
    "Welch's t test over the dialogues of each system",
)


@registered("separating", version=3)
def separating(version: CorpusVersion, aspect: str, systems: str = ALL) -> dict[str, Any]:
    """Neighbours by mean human score, best first: ``pairs``: ``[{"better", "worse", "difference",
    "dialogues", "ratings", "dialogues_needed", "ratings_needed", "reason", "is_paired"}]``.

    ``dialogues`` and ``ratings`` (an item, on average) are today's; ``dialogues_needed`` goes with
    today's ratings, ``ratings_needed`` with today's dialogues; null with the ``reason``. Numbers at
    or below today's say that the data are enough already. Of an unpaired pair dialogues are those
    of each system.
    """
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen)
    items = human.at("system")
    document: dict[str, Any] = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": systems,
        "power": POWER,
        "level": LEVEL,
        "method": METHOD.format(test=PAIRED),
        "pairs": [],
    }
    if items is None:
        return document | {"reason": "nobody rated"}
    placed = placed_human(items)
    sums = system_sums(
        placed.scores[0],
        placed.system,
        placed.dialogue,
        len(chosen),
        int(placed.dialogue.max(initial=-1)) + 1,
    )
    means, grid = sums.means(), sums.dialogue_means()
    order = [int(place) for place in np.argsort(-means, kind="stable") if np.isfinite(means[place])]
    noise = _noise(items, len(chosen), grid.shape[1])
    for better, worse in pairwise(order):
        variance, ratings = _of_difference(noise, sums.count, better, worse)
        found = needed_to_separate(grid[better], grid[worse], variance, ratings)
        document["pairs"].append(
            {
                "better": chosen[better].name,
                "worse": chosen[worse].name,
                "difference": found.difference,
                "dialogues": found.dialogues,
                "ratings": found.ratings,
                "dialogues_needed": found.dialogues_needed,
                "ratings_needed": found.ratings_needed,
                "reason": found.reason,
                "is_paired": found.is_paired,
            }
        )
    tests = {True: PAIRED, False: UNPAIRED}
    used = sorted({pair["is_paired"] for pair in document["pairs"]}, reverse=True) or [True]
    return document | {"method": METHOD.format(test=" or ".join(tests[one] for one in used))}


def _noise(
    items: RatedItems, systems: int, dialogues: int
) -> tuple[float, FloatArray, float] | None:
    """(the variance of single ratings about their item's mean, 1 / ratings summed over the items of
    each (system, dialogue), ratings an item on average); None where ratings are means, or no item
    has two."""
    scores = items.matrix.scores
    given = ~np.isnan(scores)
    count = given.sum(axis=0)
    if items.matrix.rater_kind == "aggregate" or not (count > 1).any():
        return None
    centre = np.where(given, scores, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(given, scores - centre, 0.0) ** 2).sum()
    variance = float(squares / (count - 1)[count > 1].sum())
    rated = count > 0
    cell = items.system[rated] * dialogues + items.dialogue[rated]
    shares: FloatArray = np.bincount(
        cell, weights=1.0 / count[rated], minlength=systems * dialogues
    ).astype(np.float64)
    return variance, shares.reshape(systems, dialogues), float(count[rated].mean())


def _of_difference(
    noise: tuple[float, FloatArray, float] | None, items: FloatArray, better: int, worse: int
) -> tuple[float | None, float | None]:
    """(what one rating an item would add to the variance of a dialogue's difference, ratings an
    item)."""
    if noise is None:
        return None, None
    variance, shares, ratings = noise
    has = items[[better, worse]] > 0
    if not has.any(axis=1).all():
        return None, None
    if Design(has).is_paired(0, 1):
        has = np.broadcast_to(has.all(axis=0), has.shape)
    # The noise of a dialogue's mean over n items is σ² · Σ(1/k) / n²; scaled by k it is that of one
    # rating an item.
    added = [
        shares[one, own] / items[one, own] ** 2
        for one, own in zip((better, worse), has, strict=True)
    ]
    return variance * float(added[0].mean() + added[1].mean()) * ratings, ratings


@registered("system-profile", version=2)
def system_profile(version: CorpusVersion, systems: str = ALL) -> dict[str, Any]:
    """``aspects``: ``{"aspect", "level": turn | dialogue, "scale": [lowest, highest] | null,
    "systems": [estimate]}``, in the order of the file, without those that nobody rated; estimates
    in the order of ``systems``."""
    chosen = chosen_systems(version, systems)
    aspects = []
    for aspect in version.aspects:
        human = human_side(version, aspect, chosen)
        items = human.at("system")
        if items is None:
            continue
        scale = scale_of(version, aspect)
        ranks = rank_systems(placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale)
        aspects.append(
            {
                "aspect": aspect,
                "level": "turn" if human.turn is not None else "dialogue",
                "scale": None if None in scale else list(scale),
                "systems": [rank.mean.as_json() for rank in ranks],
            }
        )
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "systems_chosen": systems,
        "ci": MEANS_CI,
        "resamples": RESAMPLES,
        "seed": SEED,
        "systems": [
            {"system": one.name, "kind": one.kind, "position": one.position} for one in chosen
        ],
        "aspects": aspects,
    }


Source = Callable[[CorpusVersion, Sequence[System]], dict[int, datetime]]
"""Given the version and some of its systems, when each came, by the system's key; nothing of those
it does not know."""
_sources: list[Source] = []


def register(source: Source) -> None:
    if source not in _sources:
        _sources.append(source)


def handed_in_at(version: CorpusVersion, systems: Sequence[System]) -> dict[int, datetime]:
    found: dict[int, datetime] = {}
    for source in _sources:
        found |= source(version, systems)
    return found
