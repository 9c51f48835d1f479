"""Two metrics against each other: how far each follows people, whether the difference is real, and
what makes it; with what was said where they differ most in their nearness to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Q

from annotations.corpora.queries import shown_systems
from annotations.models import CorpusVersion, Dialogue, Response, System
from common.estimates import Undefined
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
from leaderboard.statistics.correlation.levels import correlate_items, correlate_systems
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
) -> dict[str, Any]:
    """A document of two metrics by their configurations' texts; raises NotFound for one that is not
    computed here.

    ``levels``: by level ``{"n", "reason", "groups", "between", "advised", "method", "population",
    "coefficients": {name: {"first", "second", "difference", "tests": {test: p}}}}``, of all
    responses (dialogues, systems) that both metrics and people scored, so coefficients may differ a
    little from the leaderboard's; in each metric's own direction. ``tests`` hold estimates whose
    value is p; ``advised`` is the one that keeps its level. ``drivers``: where the difference comes
    from; see ``driving_items``. It names the places only: texts are read when they are shown.
    """
    key = resolve_choice(version, systems)
    human, scores = pair_sides(version, aspect, first, second, key)
    found = {level: common_at(human, scores, level) for level in LEVELS}
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems_chosen": key,
        "design": human.design.kind,
        "metrics": [
            {
                "metric": one.text,
                "higher_is_better": one.higher_is_better,
                "signature": one.signature(),
            }
            for one in scores.configurations
        ],
        "permutations": PERMUTATIONS,
        "resamples": RESAMPLES,
        "seed": SEED,
        "levels": {level: _level_document(one, level) for level, one in found.items()},
        "drivers": _drivers(found),
    }


# --- levels ---------------------------------------------------------------------------------------


def _level_document(found: Common | Undefined, level: CeilingLevel) -> dict[str, Any]:
    if isinstance(found, Undefined):
        return {"n": 0, "reason": found.reason, "coefficients": {}}
    document = _system_document(found) if level == "system" else _item_document(found)
    return document | advised(found, level)


def _item_document(found: Common) -> dict[str, Any]:
    first, second = correlate_items(found.human, found.metrics, found.dialogue, RESAMPLES, SEED)
    differences = difference_over_items(
        found.human, found.metrics[0], found.metrics[1], found.dialogue
    )
    tests = item_tests(found)
    return {
        "n": len(found.human),
        "reason": "",
        "groups": found.groups(),
        "between": found.between(),
        "coefficients": {
            name: {
                "first": getattr(first, name).as_json(),
                "second": getattr(second, name).as_json(),
                "difference": differences[name].as_json(),
                "tests": tests[name] if differences[name].is_defined else {},
            }
            for name in COEFFICIENTS
        },
    }


def _system_document(found: Common) -> dict[str, Any]:
    systems = int(found.system.max()) + 1
    has_items = [given is None for given in found.fixed]
    people = PlacedScores(found.human, found.system, found.dialogue)
    rows: list[Any] = []
    for row, is_made_of_items in enumerate(has_items):
        nothing = PlacedScores(np.empty((0, len(found.human))), found.system, found.dialogue)
        placed = (
            PlacedScores(found.metrics[row], found.system, found.dialogue)
            if is_made_of_items
            else nothing
        )
        given = None if is_made_of_items else found.fixed[row]
        rows += correlate_systems(people, placed, systems, given, RESAMPLES, SEED)
    differences = difference_over_systems(
        found.human, (found.metrics[0], found.metrics[1]), found.system, found.dialogue, found.fixed
    )
    tests = system_tests(found)
    return {
        "n": systems,
        "reason": "",
        "groups": found.groups(),
        "between": found.between_systems(),
        "coefficients": {
            name: {
                "first": getattr(rows[0], name).as_json(),
                "second": getattr(rows[1], name).as_json(),
                "difference": differences[name].as_json(),
                "tests": tests[name] if differences[name].is_defined else {},
            }
            for name in COEFFICIENTS
        },
    }


# --- what makes the difference --------------------------------------------------------------------


def _drivers(levels: Mapping[CeilingLevel, Common | Undefined]) -> dict[str, Any]:
    """Of the finest level at which there is anything."""
    for level, found in levels.items():
        if isinstance(found, Common):
            return {"level": level, **_drivers_at(found, level)}
    reasons = dict.fromkeys(
        found.reason for found in levels.values() if isinstance(found, Undefined)
    )
    return {"level": "turn", "reason": "; ".join(reasons), "n": 0, "first": [], "second": []}


def _drivers_at(found: Common, level: str) -> dict[str, Any]:
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
        return {"reason": driving.reason, "n": 0, "first": [], "second": []}
    return {
        "reason": "",
        "n": driving.n,
        "difference": driving.difference,
        "first_nearer_in": driving.first_nearer_in,
        "second_nearer_in": driving.second_nearer_in,
        "first": [_item_of(one, places[one.item]) for one in driving.first_nearer],
        "second": [_item_of(one, places[one.item]) for one in driving.second_nearer],
    }


def _item_of(one: DrivingItem, place: tuple[int, int | None, int | None]) -> dict[str, Any]:
    figures = {name: value for name, value in asdict(one).items() if name != "item"}
    return dict(zip(("system", "dialogue", "turn"), place, strict=True)) | figures


@dataclass(frozen=True)
class Driver:
    """A driving item with what was said there."""

    system: str
    kind: str
    swatch: int
    dialogue: Dialogue | None
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str
    human: float
    first: float
    second: float
    human_z: float
    first_z: float
    second_z: float
    share: float

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None


_FIGURES = ("human", "first", "second", "human_z", "first_z", "second_z", "share")


def drivers_with_texts(version: CorpusVersion, items: Sequence[dict[str, Any]]) -> list[Driver]:
    """Without what is not shown any more."""
    systems: dict[int, System] = shown_systems(version).in_bulk([one["system"] for one in items])
    dialogues = version.dialogues.in_bulk(
        [one["dialogue"] for one in items if one["dialogue"] is not None]
    )
    condition = Q(pk__in=())
    for one in items:
        if one["turn"] is not None and one["system"] in systems:
            condition |= Q(system=one["system"], turn=one["turn"])
    responses = {
        (response.system_id, response.turn_id): response
        for response in Response.objects.filter(condition).select_related("turn__dialogue")
    }
    found = []
    for one in items:
        system = systems.get(one["system"])
        if system is None:
            continue
        response = responses.get((system.pk, one["turn"]))
        found.append(
            Driver(
                system=system.name,
                kind=system.kind,
                swatch=system.position,
                dialogue=dialogues.get(one["dialogue"]),
                turn=response.turn.number if response else None,
                context=tuple((speaker, text) for speaker, text in response.turn.context)
                if response
                else (),
                response=response.text if response else "",
                **{key: one[key] for key in _FIGURES},
            )
        )
    return found
