"""Every read of ratings as raters × items: the matrices that agreement and correlations are
computed from."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from annotations.agreement.intervals import METHOD
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.corpora.queries import aspects_in, of_shown_systems, select_systems
from annotations.formats.records import Level, RaterKind
from annotations.models import CorpusVersion, Rater, Rating, Response, System, Turn
from common.correlation.scores import DIGITS_OF_PARTS, round_off


@dataclass(frozen=True)
class RatedItems:
    """The items of one level, and the raters × items matrix of one aspect.

    ``system``, ``dialogue`` and ``turn`` are indices into ``systems`` and ``dialogue_ids`` and, for
    the turn, into the version's turns in order (−1 at dialogue level). Every response is an item,
    rated or not.
    """

    systems: tuple[System, ...]
    dialogue_ids: tuple[str, ...]
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    matrix: RatingMatrix

    def human_means(self) -> NDArray[np.float64]:
        """Mean over an item's raters; NaN where nobody rated it."""
        scores = self.matrix.scores
        given = ~np.isnan(scores)
        count = given.sum(axis=0)
        total = np.where(given, scores, 0.0).sum(axis=0)
        means = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        return round_off(means, DIGITS_OF_PARTS)


@dataclass(frozen=True)
class TurnOrder:
    """The version's turns in order (dialogue position, turn number): what score lists are aligned
    with. Of a slice only its own, and ``slice_of`` says which of all they are."""

    turn_pks: NDArray[np.int64]
    numbers: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    dialogue_ids: tuple[str, ...]
    dialogue_pks: NDArray[np.int64]
    slice_of: SliceOf | None = None

    def of_dialogues(self, pks: Set[int]) -> TurnOrder:
        """The order of some dialogues alone, by their keys."""
        dialogues = np.flatnonzero([int(pk) in pks for pk in self.dialogue_pks])
        turns = np.flatnonzero(np.isin(self.dialogue, dialogues))
        return TurnOrder(
            turn_pks=self.turn_pks[turns],
            numbers=self.numbers[turns],
            dialogue=np.searchsorted(dialogues, self.dialogue[turns]),
            dialogue_ids=tuple(self.dialogue_ids[place] for place in dialogues),
            dialogue_pks=self.dialogue_pks[dialogues],
            slice_of=SliceOf(self, turns, dialogues),
        )

    def position(self, dialogue: int) -> int:
        """Of a dialogue, by its index in this order, its place in the version."""
        return int(dialogue if self.slice_of is None else self.slice_of.dialogues[dialogue])


@dataclass(frozen=True)
class SliceOf:
    """``turns``, ``dialogues``: indices into ``whole``, ascending."""

    whole: TurnOrder
    turns: NDArray[np.int64]
    dialogues: NDArray[np.int64]


def turn_order(version: CorpusVersion) -> TurnOrder:
    dialogues = list(version.dialogues.order_by("position").values_list("pk", "external_id"))
    index = {pk: place for place, (pk, _) in enumerate(dialogues)}
    turns = list(
        Turn.objects.filter(dialogue__version=version)
        .order_by("dialogue__position", "number")
        .values_list("pk", "number", "dialogue_id")
    )
    return TurnOrder(
        turn_pks=np.array([pk for pk, _, _ in turns], dtype=np.int64),
        numbers=np.array([number for _, number, _ in turns], dtype=np.int64),
        dialogue=np.array([index[dialogue] for _, _, dialogue in turns], dtype=np.int64),
        dialogue_ids=tuple(external_id for _, external_id in dialogues),
        dialogue_pks=np.array([pk for pk, _ in dialogues], dtype=np.int64),
    )


def answered_turns(systems: Sequence[System], order: TurnOrder) -> NDArray[np.bool_]:
    """(systems, turns) whether the system has a response at the turn. Where every system has
    dialogues of its own, most places hold none, and nothing is missing there."""
    items = _turn_items(tuple(systems), order)
    found = np.zeros((len(systems), len(order.turn_pks)), dtype=bool)
    found[items.system, items.turn] = True
    return found


def rated_items(
    version: CorpusVersion,
    aspect: str,
    level: Level,
    systems: Sequence[System] | None = None,
    order: TurnOrder | None = None,
) -> RatedItems:
    """``aspect``: as ``resolve_aspects`` has it. ``order``: of a slice; without it, of all
    dialogues."""
    chosen = tuple(systems if systems is not None else select_systems(version))
    order = order or turn_order(version)
    items = _turn_items(chosen, order) if level == "turn" else _dialogue_items(chosen, order)
    raters = list(version.raters.order_by("position"))
    of_aspects = [_score_matrix(one, level, items, raters) for one in aspects_in(version, aspect)]
    scores = of_aspects[0] if len(of_aspects) == 1 else np.mean(of_aspects, axis=0)
    scores = round_off(scores, DIGITS_OF_PARTS)  # what is equal but for a sum's rounding is a tie
    used = ~np.isnan(scores).all(axis=1)
    raters = [rater for rater, is_used in zip(raters, used, strict=True) if is_used]
    matrix = RatingMatrix(
        scores=scores[used],
        dialogue_of_item=items.dialogue,
        raters=tuple(rater.name for rater in raters),
        rater_kind=_kind_of(raters),
        levels=_scale_levels(version, aspect, scores),
    )
    return RatedItems(
        systems=chosen,
        dialogue_ids=order.dialogue_ids,
        system=items.system,
        dialogue=items.dialogue,
        turn=items.turn,
        matrix=matrix,
    )


@dataclass(frozen=True)
class _Items:
    keys: NDArray[np.int64]
    """Response primary keys, or at dialogue level system pk × 2³² + dialogue pk; sorted ascending
    with the rest."""
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]


def _turn_items(systems: tuple[System, ...], order: TurnOrder) -> _Items:
    rows = np.array(
        list(
            Response.objects.filter(system__in=[system.pk for system in systems])
            .order_by("pk")
            .values_list("pk", "system_id", "turn_id")
        ),
        dtype=np.int64,
    ).reshape(-1, 3)
    if order.slice_of is not None:
        rows = rows[np.isin(rows[:, 2], order.turn_pks)]
    turn = _positions(rows[:, 2], order.turn_pks)
    return _Items(
        keys=rows[:, 0],
        system=_positions(rows[:, 1], np.array([system.pk for system in systems], dtype=np.int64)),
        dialogue=order.dialogue[turn] if len(turn) else turn,
        turn=turn,
    )


def _dialogue_items(systems: tuple[System, ...], order: TurnOrder) -> _Items:
    system_pks = np.array([system.pk for system in systems], dtype=np.int64)
    system = np.repeat(np.arange(len(systems)), len(order.dialogue_pks))
    dialogue = np.tile(np.arange(len(order.dialogue_pks)), len(systems))
    keys = _dialogue_item_keys(system_pks[system], order.dialogue_pks[dialogue])
    ascending = np.argsort(keys)
    return _Items(
        keys[ascending],
        system[ascending],
        dialogue[ascending],
        np.full(len(keys), -1, dtype=np.int64),
    )


def _dialogue_item_keys(
    system_pks: NDArray[np.int64], dialogue_pks: NDArray[np.int64]
) -> NDArray[np.int64]:
    return system_pks * 2**32 + dialogue_pks


def _positions(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each value stands in ``known`` (unsorted, unique)."""
    ascending = np.argsort(known)
    return ascending[np.searchsorted(known, values, sorter=ascending)] if len(known) else values


def _score_matrix(
    aspect: str, level: Level, items: _Items, raters: Sequence[Rater]
) -> NDArray[np.float64]:
    ratings = Rating.objects.filter(rater__in=[rater.pk for rater in raters], aspect=aspect)
    if level == "turn":
        fields: tuple[str, ...] = ("response_id", "rater_id", "score")
        ratings = ratings.filter(response__isnull=False)
    else:
        fields = ("system_id", "dialogue_id", "rater_id", "score")
        ratings = ratings.filter(response__isnull=True)
    table = np.array(list(ratings.values_list(*fields)), dtype=np.float64).reshape(-1, len(fields))
    keys = table[:, 0].astype(np.int64)
    if level == "dialogue":
        keys = _dialogue_item_keys(keys, table[:, 1].astype(np.int64))
    scores = np.full((len(raters), len(items.keys)), np.nan)
    place = np.searchsorted(items.keys, keys)
    of_chosen = place < len(items.keys)
    of_chosen[of_chosen] = items.keys[place[of_chosen]] == keys[of_chosen]
    rater = _positions(
        table[:, -2].astype(np.int64), np.array([rater.pk for rater in raters], dtype=np.int64)
    )
    scores[rater[of_chosen], place[of_chosen]] = table[of_chosen, -1]
    return scores


def _kind_of(raters: Sequence[Rater]) -> RaterKind:
    """The weakest kind present decides what may be computed."""
    kinds = {rater.kind for rater in raters}
    for kind in (Rater.Kind.AGGREGATE, Rater.Kind.ANONYMOUS):
        if kind in kinds:
            return kind.value
    return "identified"


def _scale_levels(
    version: CorpusVersion, aspect: str, scores: NDArray[np.float64]
) -> tuple[float, ...] | None:
    """The points of an integer scale, so that an unused one still counts; None where scores are not
    whole."""
    given = scores[~np.isnan(scores)]
    low, high = version.scales.get(aspect, (None, None))
    if low is None or high is None or high - low > 100 or not np.all(given == np.round(given)):
        return None
    return tuple(float(level) for level in range(int(low), int(high) + 1))


def has_dialogue_ratings(version: CorpusVersion, aspect: str) -> bool:
    return _has_ratings(version, aspect, response__isnull=True)


def has_turn_ratings(version: CorpusVersion, aspect: str) -> bool:
    return _has_ratings(version, aspect, response__isnull=False)


def _has_ratings(version: CorpusVersion, aspect: str, **such: Any) -> bool:
    """Asked for each rater: of ratings, PostgreSQL would read all those of other corpora that lie
    before."""
    return all(
        version.raters.filter(
            Exists(
                of_shown_systems(
                    version, Rating.objects.filter(rater=OuterRef("pk"), aspect=one, **such)
                )
            )
        ).exists()
        for one in aspects_in(version, aspect)
    )


def agreement_of(
    version: CorpusVersion,
    aspect: str,
    level: Level,
    systems: Sequence[System] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The agreement report in the form that the command prints."""
    matrix = rated_items(version, aspect, level, systems).matrix
    report = agreement_report(matrix, resamples=resamples)
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "level": level,
        **report.as_json(),
        "ci": METHOD,
        "resamples": resamples,
        "seed": seed,
    }
