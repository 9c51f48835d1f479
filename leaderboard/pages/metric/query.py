"""Where a metric and people disagree most, and what was said there; and how the scores of a metric
are spread over what it scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems, shown_systems
from annotations.models import CorpusVersion, Dialogue, Response, Turn
from common.estimates import Undefined
from leaderboard.answers.metrics import (
    Disagreement,
    ScoreBin,
    ScoreDistribution,
    ScoredSystem,
    WidestGap,
)
from leaderboard.queries.compared import Finest, MetricScores, chosen_metrics
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.queries.metric_runs import finished_runs_of
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import registered
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.distribution import histogram, summary_of
from leaderboard.statistics.significance.driving_items import Gap, OverUnder, widest_gaps
from workers.metrics.common.configuration import Configuration
from workers.runs.queries import NOTHING_TO_SCORE

WIDEST_GAPS = 10
"""Responses shown on either side."""


@registered("disagreement", version=1, resolved=with_choice)
def disagreement(
    version: CorpusVersion, aspect: str, text: str, systems: str | None = None
) -> Disagreement:
    """The most over- and under-rated responses: of single responses where both judge these, else of
    a system's dialogues, else of systems."""
    key = resolve_choice(version, systems)
    chosen = chosen_systems(version, key)
    human = human_side(version, aspect, chosen)
    scores = chosen_metrics(metric_scores(chosen, len(human.order.turn_pks), [text]), [text])
    level, metric, people, places = _compared(human, scores)
    found: OverUnder | Undefined
    if level is None:
        found = Undefined(f"nobody has rated {aspect} here")
    else:
        found = widest_gaps(
            metric,
            people,
            higher_is_better=scores.configurations[0].higher_is_better,
            top=WIDEST_GAPS,
        )
    if isinstance(found, Undefined):
        reason, found = found.reason, OverUnder(0, (), ())
    else:
        reason = ""
    return Disagreement(
        level=level or "turn",
        systems_chosen=key,
        reason=reason,
        n=found.n,
        over=tuple(_widest(gap, places[gap.item]) for gap in found.over),
        under=tuple(_widest(gap, places[gap.item]) for gap in found.under),
    )


Place = tuple[int, int | None, int | None]
"""(system pk, dialogue pk or None, turn pk or None)"""


def _compared(
    human: HumanSide, scores: MetricScores
) -> tuple[str | None, FloatArray, FloatArray, Sequence[Place]]:
    """(level, metric, human scores, places) at the finest level at which both sides judge."""
    pks = [system.pk for system in human.systems]
    order = human.order
    finest = scores.finest(0)
    if human.turn is not None and finest == "turn":
        items = human.turn
        turns = [
            (pks[system], int(order.dialogue_pks[order.dialogue[turn]]), int(order.turn_pks[turn]))
            for system, turn in zip(items.system, items.turn, strict=True)
        ]
        return "turn", scores.turn[0, items.system, items.turn], items.human_means(), turns
    grid = human_grid(human)
    if grid is not None and finest != "system":
        dialogues: list[Place] = [
            (pks[system], int(order.dialogue_pks[dialogue]), None)
            for system, dialogue in zip(grid.system, grid.dialogue, strict=True)
        ]
        return "dialogue", metric_grid(human, scores).scores[0], grid.scores[0], dialogues
    judged = human.at("system")
    if judged is None:
        return None, np.empty(0), np.empty(0), ()
    means = judged.human_means()
    given = np.isfinite(means)
    count = np.bincount(judged.system[given], minlength=len(pks))
    total = np.bincount(judged.system[given], weights=means[given], minlength=len(pks))
    people = np.divide(total, count, out=np.full(len(pks), np.nan), where=count > 0)
    return "system", scores.system[0], people, [(pk, None, None) for pk in pks]


def _widest(gap: Gap, place: Place) -> WidestGap:
    system, dialogue, turn = place
    return WidestGap(
        system=system,
        dialogue=dialogue,
        turn=turn,
        metric=gap.metric,
        human=gap.human,
        metric_z=gap.metric_z,
        human_z=gap.human_z,
    )


@dataclass(frozen=True)
class Judged:
    """One of the widest gaps with what was said there."""

    system: str
    swatch: int
    dialogue: Dialogue | None
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str
    metric: float
    human: float
    metric_z: float
    human_z: float

    @property
    def gap(self) -> float:
        return self.metric_z - self.human_z

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None


def judged(version: CorpusVersion, gaps: Sequence[WidestGap]) -> list[Judged]:
    """The gaps of ``disagreement`` with their texts, without what is not shown any more."""
    systems = shown_systems(version).in_bulk({gap.system for gap in gaps})
    dialogues = version.dialogues.in_bulk(
        [gap.dialogue for gap in gaps if gap.dialogue is not None]
    )
    turns = {gap.turn for gap in gaps if gap.turn is not None}
    responses = {
        (response.system_id, response.turn_id): response
        for response in Response.objects.filter(turn__in=turns, system__in=systems).select_related(
            "turn__dialogue"
        )
    }
    found = []
    for gap in gaps:
        system = systems.get(gap.system)
        if system is None:
            continue
        response = responses.get((gap.system, gap.turn))
        found.append(
            Judged(
                system=system.name,
                swatch=system.position,
                dialogue=dialogues.get(gap.dialogue),
                turn=response.turn.number if response else None,
                context=tuple((speaker, text) for speaker, text in response.turn.context)
                if response
                else (),
                response=response.text if response else "",
                metric=gap.metric,
                human=gap.human,
                metric_z=gap.metric_z,
                human_z=gap.human_z,
            )
        )
    return found


@registered("score-spread", version=1)
def score_spread(version: CorpusVersion, text: str) -> ScoreDistribution:
    """The scores of one configuration over all systems that are shown: of its turns, or of
    dialogues or systems where it scores nothing finer."""
    systems = select_systems(version)
    turns = Turn.objects.filter(dialogue__version=version).count()
    scores = chosen_metrics(metric_scores(systems, turns, [text]), [text])
    configuration = scores.configurations[0]
    assert isinstance(configuration, Configuration)  # it has runs
    runs = list(
        finished_runs_of(configuration, [version]).values_list(
            "system_reason", "undefined", "remarks"
        )
    )
    finest = scores.finest(0)
    values = _values(scores, finest)
    reasons = (
        [reason for reason, _, _ in runs if reason] if finest == "system" else _all_values(runs, 1)
    )
    defined = values[np.isfinite(values)]
    counted = Counter(one for one in reasons if one not in NOTHING_TO_SCORE)
    return ScoreDistribution(
        level=finest,
        systems=tuple(
            ScoredSystem(system.name, system.position, None if np.isnan(score) else float(score))
            for system, score in zip(systems, scores.system[0], strict=True)
        ),
        summary=summary_of(defined) if len(defined) else None,
        bins=tuple(ScoreBin(one.low, one.high, one.count) for one in histogram(defined))
        if len(defined)
        else (),
        undefined=tuple(counted.most_common()),
        remarks=tuple(Counter(_all_values(runs, 2)).most_common()),
    )


def _values(scores: MetricScores, finest: Finest) -> FloatArray:
    if finest == "turn":
        return scores.turn[0]
    if finest == "dialogue" and scores.dialogue is not None:
        return scores.dialogue[0]
    return scores.system[0]


def _all_values(rows: Sequence[tuple[Any, ...]], place: int) -> list[str]:
    return [value for row in rows for value in row[place].values()]
