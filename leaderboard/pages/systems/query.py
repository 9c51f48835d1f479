"""What the system leaderboard stores: how systems stand, and where each metric's order of them
misses people's.

What it would take to tell systems apart that stand next to each other on the board.

Each system's mean human score on every aspect of the corpus: where it is strong, and where it is
weak.

When systems were handed in. Whoever knows (challenges) registers a source of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from annotations.corpora.rating_queries import RatedItems
from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.answers import SystemName
from leaderboard.answers.systems import (
    AspectMeans,
    MisleadingMetric,
    MisleadingMetrics,
    Neighbours,
    PlacedSystem,
    Separating,
    SystemProfile,
    SystemStanding,
)
from leaderboard.queries.correlations import metric_means
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.gold import compares_gold_with_itself, gold_among
from leaderboard.queries.human_scores import HumanSide, human_side, placed_human, scale_of
from leaderboard.queries.standing import MEANS_CI, system_standing
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import ALL, chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import of_the_main_aspect, registered
from leaderboard.statistics.correlation.placed_scores import FloatArray, system_sums
from leaderboard.statistics.design import Design
from leaderboard.statistics.ranking.rank_differences import rank_differences
from leaderboard.statistics.ranking.system_ranking import rank_systems
from leaderboard.statistics.significance.power import LEVEL, POWER, needed_to_separate

PLACES = ("place", "best", "worst")


@registered("systems", version=3, shown_first=of_the_main_aspect)
def system_leaderboard(
    version: CorpusVersion, aspect: str, systems: str = ALL, data_slice: str = NO_SLICE
) -> SystemStanding:
    """``system_standing`` of a choice of systems: all, agents, …; and of a slice."""
    chosen = chosen_systems(version, systems)
    times = handed_in_at(version, chosen)
    return replace(
        system_standing(version, aspect, chosen, data_slice=data_slice),
        systems_chosen=systems,
        handed_in={one.position: times[one.pk].isoformat() for one in chosen if one.pk in times},
    )


@registered("misleading-metrics", version=1, resolved=with_choice, shown_first=of_the_main_aspect)
def misleading_metrics(
    version: CorpusVersion,
    aspect: str,
    systems: str | None = None,
    data_slice: str = NO_SLICE,
) -> MisleadingMetrics:
    """Every metric's places of the systems beside people's; see ``RankDifferences``."""
    systems = resolve_choice(version, systems)
    chosen = chosen_systems(version, systems)
    human = human_side(version, aspect, chosen, data_slice)
    return MisleadingMetrics(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        systems_chosen=systems,
        data_slice=data_slice,
        ci=MEANS_CI,
        resamples=RESAMPLES,
        seed=SEED,
        systems=_names(chosen),
        metrics=tuple(_misleading(version, aspect, chosen, human)),
    )


def _names(chosen: Sequence[System]) -> tuple[SystemName, ...]:
    return tuple(
        SystemName(system=one.name, kind=one.kind, position=one.position) for one in chosen
    )


def _misleading(
    version: CorpusVersion, aspect: str, chosen: Sequence[System], human: HumanSide
) -> Iterator[MisleadingMetric]:
    items = human.at("system")
    if items is None:
        return
    scale = scale_of(version, aspect)
    ranks = rank_systems(placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale)
    people = _ends([rank.mean for rank in ranks])
    scores = compared_scores(version, chosen, human.order)
    gold = gold_among(version, chosen)
    for row, metric in enumerate(scores.configurations):
        means = _ends(metric_means(human, scores.select([row])))
        means[0][[compares_gold_with_itself(metric, system, gold) for system in chosen]] = np.nan
        found = rank_differences(people, means, higher_is_better=metric.higher_is_better)
        yield MisleadingMetric(
            metric=metric.text,
            higher_is_better=metric.higher_is_better,
            placed=int(found.is_placed.sum()),
            misled=found.misled,
            worst=found.worst,
            rows=tuple(
                PlacedSystem._make(
                    [
                        chosen[number].position,
                        *(int(getattr(found.human, name)[number]) for name in PLACES),
                        *(int(getattr(found.metric, name)[number]) for name in PLACES),
                        int(found.difference[number]),
                        int(found.beyond[number]),
                    ]
                )
                for number in np.flatnonzero(found.is_placed).tolist()
            ),
        )


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


@registered("separating", version=3, shown_first=of_the_main_aspect)
def separating(
    version: CorpusVersion, aspect: str, systems: str = ALL, data_slice: str = NO_SLICE
) -> Separating:
    chosen = chosen_systems(version, systems)
    items = human_side(version, aspect, chosen, data_slice).at("system")
    pairs = () if items is None else tuple(_neighbours(items, chosen))
    tests = {True: PAIRED, False: UNPAIRED}
    used = sorted({pair.is_paired for pair in pairs}, reverse=True) or [True]
    return Separating(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        systems_chosen=systems,
        data_slice=data_slice,
        power=POWER,
        level=LEVEL,
        method=METHOD.format(test=" or ".join(tests[one] for one in used)),
        pairs=pairs,
        reason="nobody rated" if items is None else "",
    )


def _neighbours(items: RatedItems, chosen: Sequence[System]) -> Iterator[Neighbours]:
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
        yield Neighbours(better=chosen[better].name, worse=chosen[worse].name, **asdict(found))


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


def _profile_shown_first(version: CorpusVersion) -> list[dict[str, Any]]:
    """Of one aspect the board says all of it."""
    return [{}] if len(version.aspects) > 1 else []


@registered("system-profile", version=2, shown_first=_profile_shown_first)
def system_profile(
    version: CorpusVersion, systems: str = ALL, data_slice: str = NO_SLICE
) -> SystemProfile:
    chosen = chosen_systems(version, systems)
    aspects = []
    for aspect in version.aspects:
        human = human_side(version, aspect, chosen, data_slice)
        items = human.at("system")
        if items is None:
            continue
        lowest, highest = scale = scale_of(version, aspect)
        ranks = rank_systems(placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale)
        aspects.append(
            AspectMeans(
                aspect=aspect,
                level="turn" if human.turn is not None else "dialogue",
                scale=None if lowest is None or highest is None else (lowest, highest),
                systems=tuple(rank.mean for rank in ranks),
            )
        )
    return SystemProfile(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        systems_chosen=systems,
        data_slice=data_slice,
        ci=MEANS_CI,
        resamples=RESAMPLES,
        seed=SEED,
        systems=_names(chosen),
        aspects=tuple(aspects),
    )


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
