"""Every read of preferences: votes between two systems, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from django.db.models import Case, Count, IntegerField, QuerySet, Value, When
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from annotations.corpora.queries import NotFound
from annotations.models import CorpusVersion, Preference, Rater, Response, Sample, System
from leaderboard.answers.preferences import PreferenceQuestion, QuestionLevel
from leaderboard.statistics.preferences.battles import Battles
from leaderboard.statistics.preferences.covariates import Style, style_of

IntArray = NDArray[np.int64]
ROWS_A_READ = 20_000
NO_PREFERENCES = "this corpus has no preferences"
_SLOTS = {
    "turn": ("response_a__system", "response_b__system", "response_a__turn__dialogue"),
    "dialogue": ("system_a", "system_b", "dialogue"),
}
_VERDICTS = {"b": 0, "tie": 1, "a": 2, "both_bad": 3}
_BOTH_BAD = 3


@dataclass(frozen=True)
class Votes:
    """Votes between two shown systems on one question.

    The battles' conversations and raters are keys. ``responses``, ``samples``: (n, 2) keys of slot
    A and B, 0 for none; ``turn``: (n,) keys. ``pair``: (n,) numbers of what was compared, the same
    in either order, and ``won_first``: (n,) the share that the first of the two won.
    ``same_system``: how many votes between samples of one system are left out.
    """

    systems: tuple[System, ...]
    level: QuestionLevel
    battles: Battles
    responses: IntArray
    samples: IntArray
    turn: IntArray
    pair: IntArray
    won_first: NDArray[np.float64]
    both_bad: int
    same_system: int
    has_identified_raters: bool


def has_preferences(version: CorpusVersion) -> bool:
    return Preference.objects.filter(rater__version=version).exists()


def preference_questions(version: CorpusVersion) -> list[PreferenceQuestion]:
    """Those with most votes first; withheld systems' votes do not count."""
    found = []
    levels: tuple[QuestionLevel, ...] = ("turn", "dialogue")
    for level in levels:
        counts = (
            _of_shown(version, level)
            .order_by()
            .values_list("aspect")
            .annotate(votes=Count("pk"))
            .values_list("aspect", "votes")
        )
        found += [
            PreferenceQuestion(aspect=aspect, level=level, votes=votes) for aspect, votes in counts
        ]
    order = {aspect: place for place, aspect in enumerate([version.main_aspect, *version.aspects])}
    return sorted(
        found, key=lambda one: (-one.votes, order.get(one.aspect, len(order)), one.aspect)
    )


def resolve_question(
    questions: Sequence[PreferenceQuestion], aspect: str, level: str
) -> PreferenceQuestion:
    """The first that fits; "" fits all. Raises NotFound where none does."""
    for one in questions:
        if aspect in ("", one.aspect) and level in ("", one.level):
            return one
    if not questions:
        raise NotFound(NO_PREFERENCES)
    known = ", ".join(f"{one.aspect} ({one.level})" for one in questions)
    raise NotFound(f"nobody was asked for that preference. There are: {known}")


def read_votes(
    version: CorpusVersion, question: PreferenceQuestion, systems: Sequence[System]
) -> Votes:
    """Votes in which both systems are among these."""
    slot_a, slot_b, dialogue = _SLOTS[question.level]
    rows = (
        _of_shown(version, question.level)
        .filter(aspect=question.aspect)
        .order_by("pk")
        .values_list(
            f"{slot_a}_id",
            f"{slot_b}_id",
            f"{dialogue}_id",
            "rater_id",
            Case(
                *(When(preferred=key, then=Value(code)) for key, code in _VERDICTS.items()),
                output_field=IntegerField(),
            ),
            Coalesce("response_a_id", 0),
            Coalesce("response_b_id", 0),
            Coalesce("response_a__turn_id", 0),
            Coalesce("sample_a_id", 0),
            Coalesce("sample_b_id", 0),
        )
    )
    flat: Iterator[int] = chain.from_iterable(rows.iterator(chunk_size=ROWS_A_READ))
    table = np.fromiter(flat, dtype=np.int64).reshape(-1, 10)
    keys = np.array(sorted(system.pk for system in systems), dtype=np.int64)
    table = table[np.isin(table[:, 0], keys) & np.isin(table[:, 1], keys)]
    alone = table[:, 0] == table[:, 1]
    table = table[~alone]
    met = np.unique(table[:, :2])
    by_key = {system.pk: system for system in systems}
    shown = sorted((by_key[int(key)] for key in met), key=lambda system: system.position)
    place = {system.pk: number for number, system in enumerate(shown)}
    number_of = np.array([place[int(key)] for key in met], dtype=np.int64)
    a, b = (number_of[np.searchsorted(met, table[:, slot])] for slot in (0, 1))
    won = np.array([0.0, 0.5, 1.0, 0.5])[table[:, 4]]
    pair, won_first = _compared(table, won, question.level)
    return Votes(
        systems=tuple(shown),
        level=question.level,
        battles=Battles(len(shown), a, b, won, table[:, 2], table[:, 3]),
        responses=table[:, 5:7],
        samples=table[:, 8:10],
        turn=table[:, 7],
        pair=pair,
        won_first=won_first,
        both_bad=int((table[:, 4] == _BOTH_BAD).sum()),
        same_system=int(alone.sum()),
        has_identified_raters=not version.raters.exclude(kind=Rater.Kind.IDENTIFIED).exists(),
    )


def _compared(
    table: IntArray, won: NDArray[np.float64], level: QuestionLevel
) -> tuple[IntArray, NDArray[np.float64]]:
    """What each vote compared, numbered alike in either order, and the share that the arm with the
    lower key won."""
    arms = table[:, [5, 8, 6, 9]] if level == "turn" else table[:, [0, 8, 1, 9]]
    is_turned = (arms[:, 0] > arms[:, 2]) | ((arms[:, 0] == arms[:, 2]) & (arms[:, 1] > arms[:, 3]))
    arms = np.where(is_turned[:, np.newaxis], arms[:, [2, 3, 0, 1]], arms)
    named = np.column_stack((table[:, 2], arms))
    if not len(named):
        return np.zeros(0, dtype=np.int64), won
    pair = np.unique(named, axis=0, return_inverse=True)[1].reshape(-1)
    return pair, np.where(is_turned, 1.0 - won, won)


def styles(votes: Votes) -> tuple[list[Style], list[Style]]:
    """The style of what stood in slot A and in slot B of every vote."""
    of_key: dict[int, Style] = {}
    nothing = Style(0, 0, 0)
    systems = {system.pk: number for number, system in enumerate(votes.systems)}
    responses = Response.objects.filter(system__in=list(systems)).values_list(
        "pk", "system_id", "turn__dialogue_id", "text"
    )
    for pk, system, dialogue, text in responses.iterator(chunk_size=ROWS_A_READ):
        key = pk if votes.level == "turn" else dialogue * len(systems) + systems[system]
        of_key[key] = of_key.get(key, nothing) + style_of(text)
    if votes.level == "dialogue":
        base = votes.battles.conversation * len(systems)
        keys = base + votes.battles.a, base + votes.battles.b
    else:
        samples = Sample.objects.filter(response__system__in=list(systems))
        of_key |= {-pk: style_of(text) for pk, text in samples.values_list("pk", "text")}
        keys = tuple(
            np.where(sample > 0, -sample, response)
            for sample, response in zip(votes.samples.T, votes.responses.T, strict=True)
        )
    first, second = ([of_key.get(key, nothing) for key in one.tolist()] for one in keys)
    return first, second


def _of_shown(version: CorpusVersion, level: QuestionLevel) -> QuerySet[Preference]:
    slot_a, slot_b, _ = _SLOTS[level]
    shown = {f"{slot_a}__withheld": False, f"{slot_b}__withheld": False}
    return Preference.objects.filter(
        rater__version=version, response_a__isnull=level == "dialogue", **shown
    )
