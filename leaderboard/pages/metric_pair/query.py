"""Two metrics against each other: how far each follows people, whether the difference is real, and
what makes it; with what was said where they differ most in their nearness to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from django.db.models import Q

from annotations.corpora.queries import shown_systems
from annotations.models import CorpusVersion, Dialogue, Response, System
from common.estimates import Undefined
from leaderboard.answers.metric_pair import (
    ComparedLevel,
    DifferenceOfPair,
    Driver,
    Drivers,
    MetricPair,
)
from leaderboard.answers.metrics import NamedMetric
from leaderboard.pages.metric_pair.items import (
    COEFFICIENTS,
    PERMUTATIONS,
    Common,
    advised,
    common_at,
    item_tests,
    means_of,
    pair_sides,
    system_tests,
)
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.system_choice import resolve_choice, with_choice
from leaderboard.results.kinds import PAIRS_REFRESHED_FOR, registered
from leaderboard.statistics.correlation.human_ceiling import LEVELS, CeilingLevel
from leaderboard.statistics.correlation.levels import (
    MetricCorrelation,
    correlate_items,
    correlate_systems,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.significance.correlation_difference import (
    difference_over_items,
    difference_over_systems,
)
from leaderboard.statistics.significance.driving_items import DrivingItem, driving_items

TOP = 8
"""Items shown on either side."""


@registered(
    "metric-pair", version=5, refreshed_for=PAIRS_REFRESHED_FOR, of_pairs=True, resolved=with_choice
)
def metric_pair(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str | None = None
) -> MetricPair:
    """Of two metrics by their configurations' texts; raises NotFound for one that is not computed
    here."""
    key = resolve_choice(version, systems)
    human, scores = pair_sides(version, aspect, first, second, key)
    found = {level: common_at(human, scores, level) for level in LEVELS}
    return MetricPair(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        systems_chosen=key,
        design=human.design.kind,
        metrics=tuple(
            NamedMetric(
                metric=one.text, higher_is_better=one.higher_is_better, signature=one.signature()
            )
            for one in scores.configurations
        ),
        permutations=PERMUTATIONS,
        resamples=RESAMPLES,
        seed=SEED,
        levels={level: _compared(one, level) for level, one in found.items()},
        drivers=_drivers(found),
    )


# --- levels ---------------------------------------------------------------------------------------


def _compared(found: Common | Undefined, level: CeilingLevel) -> ComparedLevel:
    if isinstance(found, Undefined):
        return ComparedLevel(reason=found.reason)
    if level == "system":
        n = int(found.system.max()) + 1
        between = found.between_systems()
        first, second = _correlated_systems(found, n)
        differences = difference_over_systems(
            found.human,
            (found.metrics[0], found.metrics[1]),
            found.system,
            found.dialogue,
            found.fixed,
        )
        tests = system_tests(found)
    else:
        n = len(found.human)
        between = found.between()
        first, second = correlate_items(found.human, found.metrics, found.dialogue, RESAMPLES, SEED)
        differences = difference_over_items(
            found.human, found.metrics[0], found.metrics[1], found.dialogue
        )
        tests = item_tests(found)
    return ComparedLevel(
        n=n,
        groups=found.groups(),
        between=between,
        coefficients={
            name: DifferenceOfPair(
                first=getattr(first, name),
                second=getattr(second, name),
                difference=differences[name],
                tests=tests[name] if differences[name].is_defined else {},
            )
            for name in COEFFICIENTS
        },
        **advised(found, level),
    )


def _correlated_systems(found: Common, systems: int) -> list[MetricCorrelation]:
    people = PlacedScores(found.human, found.system, found.dialogue)
    rows: list[MetricCorrelation] = []
    for row, given in enumerate(found.fixed):
        scores = found.metrics[row] if given is None else np.empty((0, len(found.human)))
        placed = PlacedScores(scores, found.system, found.dialogue)
        rows += correlate_systems(people, placed, systems, given, RESAMPLES, SEED)
    return rows


# --- what makes the difference --------------------------------------------------------------------


def _drivers(levels: Mapping[CeilingLevel, Common | Undefined]) -> Drivers:
    """Of the finest level at which there is anything."""
    for level, found in levels.items():
        if isinstance(found, Common):
            return _drivers_at(found, level)
    reasons = dict.fromkeys(
        found.reason for found in levels.values() if isinstance(found, Undefined)
    )
    return Drivers(level="turn", reason="; ".join(reasons))


def _drivers_at(found: Common, level: CeilingLevel) -> Drivers:
    people, measured, places = found.human, found.metrics, found.places
    if level == "system":
        by_system = [place[0] for place in found.places]
        first_of = [
            int(np.flatnonzero(found.system == number)[0])
            for number in range(int(found.system.max()) + 1)
        ]
        places = [(by_system[place], None, None) for place in first_of]
        people, *both = means_of(found)
        measured = np.array(both)
    driving = driving_items(people, measured[0], measured[1], TOP)
    if isinstance(driving, Undefined):
        return Drivers(level=level, reason=driving.reason)
    return Drivers(
        level=level,
        n=driving.n,
        difference=driving.difference,
        first_nearer_in=driving.first_nearer_in,
        second_nearer_in=driving.second_nearer_in,
        first=tuple(_driver(one, places[one.item]) for one in driving.first_nearer),
        second=tuple(_driver(one, places[one.item]) for one in driving.second_nearer),
    )


def _driver(one: DrivingItem, place: tuple[int, int | None, int | None]) -> Driver:
    system, dialogue, turn = place
    figures = {name: value for name, value in asdict(one).items() if name != "item"}
    return Driver(system=system, dialogue=dialogue, turn=turn, **figures)


@dataclass(frozen=True)
class DriverText:
    """A driving item with what was said there."""

    scores: Driver
    system: str
    kind: str
    swatch: int
    dialogue: Dialogue | None
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None


def drivers_with_texts(version: CorpusVersion, items: Sequence[Driver]) -> list[DriverText]:
    """Without what is not shown any more."""
    systems: dict[int, System] = shown_systems(version).in_bulk([one.system for one in items])
    dialogues = version.dialogues.in_bulk(
        [one.dialogue for one in items if one.dialogue is not None]
    )
    condition = Q(pk__in=())
    for one in items:
        if one.turn is not None and one.system in systems:
            condition |= Q(system=one.system, turn=one.turn)
    responses = {
        (response.system_id, response.turn_id): response
        for response in Response.objects.filter(condition).select_related("turn__dialogue")
    }
    found = []
    for one in items:
        system = systems.get(one.system)
        if system is None:
            continue
        response = responses.get((system.pk, one.turn))
        found.append(
            DriverText(
                scores=one,
                system=system.name,
                kind=system.kind,
                swatch=system.position,
                dialogue=dialogues.get(one.dialogue),
                turn=response.turn.number if response else None,
                context=tuple((speaker, text) for speaker, text in response.turn.context)
                if response
                else (),
                response=response.text if response else "",
            )
        )
    return found
