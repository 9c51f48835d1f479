"""How far a metric stands in for ratings: each system's interval with it, and the ratings that it
would save."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.answers.fewer_ratings import (
    PoweredSystem,
    PredictionPowered,
    SystemWidths,
    WhatIf,
)
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.defaults import SEED
from leaderboard.queries.human_scores import HumanSide, human_side, metric_grid, scale_of
from leaderboard.queries.submitted import compared_scores
from leaderboard.results.kinds import registered
from leaderboard.statistics.bounded import Bounds, cut_to
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.ranking.fewer_ratings import Savings, what_if
from leaderboard.statistics.ranking.prediction_powered import (
    PoweredMeans,
    RatedPart,
    interval_around,
    part_of_dialogues,
    powered_means,
    together,
    why_no_gain,
    why_no_interval,
)

DRAWS = 200
METHOD = (
    "PPI++ (Angelopoulos, Duchi & Zrnic 2023) with lambda tuned and clipped to [0, 1]; "
    "variance over dialogues, Student's t"
)


@registered("prediction-powered", version=2)
def prediction_powered(
    version: CorpusVersion, aspect: str, metric: str, *, draws: int = DRAWS, seed: int = SEED
) -> PredictionPowered:
    """Every system's mean from the ratings alone and with the metric, and a what-if for corpora
    that are fully rated: the intervals with only m rated dialogues (drawn ``draws`` times), without
    and with the metric. Raises NotFound for a metric that has no scores here.
    """
    systems = select_systems(version)
    human = human_side(version, aspect, systems)
    scores = chosen_metrics(compared_scores(version, systems, human.order, [metric]), [metric])
    configuration = scores.configurations[0]
    reason = _why_not(human, scores)
    parts = [] if reason else rated_parts(human, scores)
    saved = what_if(parts, draws, seed) if parts else []
    means = powered_means(together(parts)) if parts else None
    return PredictionPowered(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        metric=configuration.text,
        signature=configuration.signature(corpus=version.corpus.slug, corpus_version=version.label),
        higher_is_better=configuration.higher_is_better,
        level="turn" if human.turn else "dialogue",
        method=METHOD,
        draws=draws,
        seed=seed,
        reason=reason,
        systems=tuple(
            _of_system(system, part, means, number, scale_of(version, aspect))
            for number, (system, part) in enumerate(zip(systems, parts, strict=True))
        )
        if means
        else (),
        what_if=tuple(_of_dialogues(one, [system.position for system in systems]) for one in saved),
    )


def _why_not(human: HumanSide, scores: MetricScores) -> str:
    if human.at("system") is None:
        return "nobody rated this aspect"
    if scores.finest(0) == "system":
        return (
            "the metric has scores of whole systems only: it cannot tell one response from another"
        )
    if human.turn is not None and scores.finest(0) == "dialogue":
        return "the metric scores whole dialogues, people rated single responses"
    return ""


def rated_parts(human: HumanSide, scores: MetricScores) -> list[RatedPart]:
    """One a system, of the first metric, which must score what people rated."""
    people, metric, system, dialogue = _beside_each_other(human, scores)
    dialogues = len(human.order.dialogue_ids)
    return [
        part_of_dialogues(
            people[system == number],
            metric[system == number],
            dialogue[system == number],
            dialogues,
            higher_is_better=scores.configurations[0].higher_is_better,
        )
        for number in range(len(human.systems))
    ]


def _beside_each_other(
    human: HumanSide, scores: MetricScores
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """People's and the metric's score of every response (of every system's dialogue, where these
    were rated)."""
    items = human.at("system")
    assert items is not None
    people = items.human_means()
    if human.turn is not None:
        return people, scores.turn[0][items.system, items.turn], items.system, items.dialogue
    grid = (
        metric_grid(human, scores)
        .scores[0]
        .reshape(len(human.systems), len(human.order.dialogue_ids))
    )
    return people, grid[items.system, items.dialogue], items.system, items.dialogue


def _of_system(
    system: System, part: RatedPart, found: PoweredMeans, number: int, scale: Bounds
) -> PoweredSystem:
    reason, no_interval = why_no_gain(part), why_no_interval(part)
    gain = float(found.gain[number])

    def mean(value: float, width: float) -> Estimate:
        return cut_to(interval_around(float(value), float(width), no_interval), scale)

    return PoweredSystem(
        system=system.name,
        kind=system.kind,
        position=system.position,
        rated=int(part.rated.sum()),
        unrated=int(part.unrated.sum()),
        dialogues_rated=int((part.rated > 0).sum()),
        dialogues=int(((part.rated > 0) | (part.unrated > 0)).sum()),
        ratings_alone=mean(found.alone[number], found.width_alone[number]),
        powered=mean(found.powered[number], found.width[number]),
        tuning=float(found.tuning[number]),
        gain=Estimate(gain)
        if np.isfinite(gain) and not reason
        else Estimate.undefined(reason or "the interval has no width"),
        remark=reason
        or (
            ""
            if found.tuning[number] > 0
            else "the metric does not go with people here: ratings alone"
        ),
    )


def _of_dialogues(saved: Savings, positions: Sequence[int]) -> WhatIf:
    return WhatIf(
        dialogues=saved.dialogues,
        width_alone=saved.width_alone,
        width=saved.width,
        gain=saved.gain,
        systems=tuple(
            SystemWidths(position=position, width_alone=alone, width=width, gain=gain)
            for position, alone, width, gain in zip(positions, *saved.by_system, strict=True)
        ),
    )
