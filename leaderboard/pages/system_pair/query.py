"""Two systems, turn by turn or dialogue by dialogue: what people and every metric say of either,
and what was said there, for a page of items and for a file of all.

Where the two share dialogues the comparison is paired; where each has its own (``Design``) it is
not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from annotations.corpora.queries import select_systems, turns_in
from annotations.corpora.shown_messages import ShownText, shown_text
from annotations.models import CorpusVersion, Response, System, Turn
from common.estimates import Estimate
from leaderboard.answers import SystemName
from leaderboard.answers.system_pair import MetricDifference, PairColumns, Scores, SystemPair
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.defaults import SEED
from leaderboard.queries.gold import SAYS_NOTHING, compares_gold_with_itself, gold_among
from leaderboard.queries.human_scores import (
    HumanSide,
    human_grid,
    human_side,
    metric_grid,
    scale_of,
)
from leaderboard.queries.submitted import HandedIn, compared_scores
from leaderboard.results.kinds import PAIRS_REFRESHED_FOR, registered
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.significance.system_differences import (
    PERMUTATIONS,
    SystemDifference,
    compare_systems,
)

T = TypeVar("T")
DIGITS = 6
"""Significant digits of single metric scores in the document; means and tests are made of all
digits."""


@registered("system-pair", version=3, refreshed_for=PAIRS_REFRESHED_FOR, of_pairs=True)
def system_pair(
    version: CorpusVersion, aspect: str, first: str, second: str, level: str = ""
) -> SystemPair:
    """Two systems by name, side by side.

    ``level``: items are responses (turn) or dialogues; without it, what people rated, responses
    where they rated both. Raises NotFound for a name that the corpus does not show.
    """
    known = {system.name: system for system in select_systems(version, [first, second])}
    systems = [known[first], known[second]]
    human = human_side(version, aspect, systems)
    level = level or _level_of(human)
    of_turns = level == "turn"
    scores = compared_scores(version, systems, human.order)
    people, raters = _people(human, level)
    answered = human.answered if of_turns else human.answered_dialogues
    retained = np.flatnonzero((answered | np.isfinite(people)).any(axis=0))
    dialogue = human.order.dialogue[retained] if of_turns else retained
    measured = _measured(human, scores, level)[:, :, retained]
    has_items = [row for row in range(len(scores.texts)) if np.isfinite(measured[row]).any()]
    gold = gold_among(version, systems)
    return SystemPair(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        level=level,
        design=human.design.kind,
        levels=tuple(
            name
            for name, items in (("turn", human.turn), ("dialogue", human.dialogue))
            if items is not None
        ),
        permutations=PERMUTATIONS,
        seed=SEED,
        systems=tuple(
            SystemName(system=one.name, kind=one.kind, position=one.position) for one in systems
        ),
        human=compare_systems(
            people[0, retained], people[1, retained], dialogue, bounds=scale_of(version, aspect)
        ),
        metrics=tuple(
            _metric_difference(scores, row, people[:, retained], measured[row], dialogue, gold)
            for row in range(len(scores.texts))
        ),
        rows=PairColumns(
            dialogue=tuple(dialogue.tolist()),
            turn=tuple(human.order.numbers[retained].tolist())
            if of_turns
            else (-1,) * len(retained),
            answered=_of_both(answered[:, retained].tolist()),
            human=_of_both(map(_listed, people[:, retained])),
            raters=_of_both(raters[:, retained].tolist()),
        ),
        scores={scores.texts[row]: _of_both(map(_rounded, measured[row])) for row in has_items},
    )


def _of_both(rows: Iterable[Iterable[T]]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    first, second = rows
    return tuple(first), tuple(second)


def _level_of(human: HumanSide) -> str:
    return "dialogue" if human.turn is None and human.dialogue is not None else "turn"


def _people(human: HumanSide, level: str) -> tuple[FloatArray, IntArray]:
    """(mean over raters, ratings), each (2, turns) or (2, dialogues); of a dialogue without ratings
    of its own the mean over its turns, with the number of their ratings."""
    of_turns = level == "turn"
    size = len(human.order.turn_pks) if of_turns else len(human.order.dialogue_pks)
    mean, raters = np.full((2, size), np.nan), np.zeros((2, size), dtype=np.int64)
    items = human.turn if of_turns else human.at("dialogue")
    if items is None:
        return mean, raters
    counts = (~np.isnan(items.matrix.scores)).sum(axis=0)
    if of_turns:
        mean[items.system, items.turn], raters[items.system, items.turn] = (
            items.human_means(),
            counts,
        )
        return mean, raters
    grid = human_grid(human)
    assert grid is not None
    mean[grid.system, grid.dialogue] = grid.scores[0]
    np.add.at(raters, (items.system, items.dialogue), counts)
    return mean, raters


def _measured(human: HumanSide, scores: MetricScores, level: str) -> FloatArray:
    """(metrics, 2, items) NaN where a metric has no score of the item."""
    if level == "turn":
        return scores.turn
    grid = metric_grid(human, scores).scores
    return grid.reshape(len(scores.texts), 2, len(human.order.dialogue_pks))


def _metric_difference(
    scores: MetricScores,
    row: int,
    people: FloatArray,
    measured: FloatArray,
    dialogue: IntArray,
    gold: frozenset[int],
) -> MetricDifference:
    metric = scores.configurations[row]
    found = compare_systems(measured[0], measured[1], dialogue, bounds=metric.value_range)
    if any(compares_gold_with_itself(metric, system, gold) for system in scores.systems):
        found = replace(found, difference=Estimate.undefined(SAYS_NOTHING))
    elif scores.finest(row) == "system" or not np.isfinite(measured).any(axis=1).all():
        found = _of_whole_systems(found, scores.system[row])
    side = np.sign(measured[0] - measured[1]) * (1 if metric.higher_is_better else -1)
    peoples = np.sign(people[0] - people[1])
    both = np.isfinite(side) & np.isfinite(peoples) & (side != 0) & (peoples != 0)
    both &= found.difference.is_defined
    return MetricDifference(
        metric=metric.text,
        signature=metric.signature(),
        higher_is_better=metric.higher_is_better,
        **{field.name: getattr(found, field.name) for field in fields(found)},
        same_side=float((side[both] == peoples[both]).mean()) if both.any() else None,
        sides=int(both.sum()),
        submitted=metric.submission if isinstance(metric, HandedIn) else None,
    )


def _of_whole_systems(found: SystemDifference, values: FloatArray) -> SystemDifference:
    """Of a metric that has a score of each system and none of this level's items: nothing can be
    drawn again."""
    if not np.isfinite(values).all():
        reason = "the metric has no score of both systems"
        return replace(found, difference=Estimate.undefined(reason))
    reason = "the metric has no scores of single items here"
    first, second = map(float, values)
    return replace(
        found,
        difference=Estimate(first - second, reason=reason),
        first=Estimate(first, reason=reason),
        second=Estimate(second, reason=reason),
    )


def _listed(values: FloatArray) -> Scores:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _rounded(values: FloatArray) -> Scores:
    return tuple(None if np.isnan(value) else float(f"{value:.{DIGITS}g}") for value in values)


REQUESTED_BY_NAME = 400
"""More items than these are read with all others of the version: a query takes only so many
parameters."""


@dataclass(frozen=True, slots=True)
class TurnText:
    """``first``, ``second``: the systems' responses; None where one gave none. ``context``:
    (speaker, text)."""

    number: int
    context: tuple[tuple[str, str], ...]
    first: str | None
    second: str | None
    shown: tuple[ShownText | None, ShownText | None] = (None, None)
    """Of a conversation of roles: both with their Markdown and tool calls."""

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None

    @property
    def earlier(self) -> tuple[tuple[str, str], ...]:
        return self.context[:-1]


@dataclass(frozen=True, slots=True)
class ItemText:
    """A turn, or the turns of a dialogue."""

    row: int
    dialogue: int
    """Its position."""
    dialogue_id: str
    turn: int | None
    turns: tuple[TurnText, ...]


def item_texts(
    version: CorpusVersion,
    document: SystemPair,
    systems: tuple[System, System],
    chosen: Sequence[int],
) -> list[ItemText]:
    """The items of these rows of a ``system_pair``, in this order; those whose dialogue is gone are
    left out. ``systems``: the first and the second, which the reader may see."""
    rows = document.rows
    dialogues = version.dialogues.all()
    if len(chosen) <= REQUESTED_BY_NAME:
        dialogues = dialogues.filter(position__in={rows.dialogue[row] for row in chosen})
    responses = _responses(Turn.objects.filter(dialogue__in=dialogues.values("pk")), systems)
    places: dict[int, list[TurnText]] = {}
    names: dict[int, str] = {}
    for turn in turns_in(dialogues):
        names[turn.dialogue.position] = turn.dialogue.external_id
        (first, first_parts), (second, second_parts) = (
            responses.get((system.pk, turn.pk), (None, ())) for system in systems
        )
        has_roles = bool(turn.dialogue.messages)
        places.setdefault(turn.dialogue.position, []).append(
            TurnText(
                turn.number,
                tuple((speaker, text) for speaker, text in turn.context),
                first,
                second,
                (
                    shown_text(first, first_parts) if has_roles and first is not None else None,
                    shown_text(second, second_parts) if has_roles and second is not None else None,
                ),
            )
        )
    found = []
    for row in map(int, chosen):
        position, number = rows.dialogue[row], rows.turn[row]
        own = [turn for turn in places.get(position, ()) if number < 0 or turn.number == number]
        if own:
            found.append(
                ItemText(row, position, names[position], None if number < 0 else number, tuple(own))
            )
    return found


def _responses(
    turns: Any, systems: tuple[System, System]
) -> dict[tuple[int, int], tuple[str, Sequence[Mapping[str, Any]]]]:
    """(system, turn) → text and parts."""
    rows = Response.objects.filter(turn__in=turns, system__in=systems).values_list(
        "system_id", "turn_id", "text", "parts"
    )
    return {(system, turn): (text, parts) for system, turn, text, parts in rows}
