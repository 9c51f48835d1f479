"""Response length, the trivial baseline of every metric leaderboard: the number of whitespace
tokens of a response, correlated with human ratings as any metric is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.corpora.rating_queries import TurnOrder
from annotations.models import Response, System
from leaderboard.queries.compared import MetricScores
from workers.metrics.base import Level
from workers.metrics.common.configuration import written_signature

RESPONSES_A_READ = 2_000


@dataclass(frozen=True, slots=True)
class ResponseLength:
    """As a ``ComparedMetric``. No metric has a blank in its name, so none has this one."""

    text: str = "response length"
    levels: frozenset[Level] = frozenset({"turn", "dialogue", "system"})
    higher_is_better: bool = True
    value_range: tuple[float | None, float | None] = (0.0, None)

    def signature(self, **facts: object) -> str:
        return written_signature([("baseline", "response_length"), ("tokens", "whitespace")], facts)


def response_lengths(systems: Sequence[System], order: TurnOrder) -> MetricScores:
    """Scores of one row, ``ResponseLength``, in the order of the turns (of a slice, of its own);
    NaN where there is no response, 0 for an empty one."""
    turn = np.full((1, len(systems), len(order.turn_pks)), np.nan)
    system_index = {system.pk: number for number, system in enumerate(systems)}
    turn_index = {int(pk): number for number, pk in enumerate(order.turn_pks)}
    responses = Response.objects.filter(system__in=list(system_index)).values_list(
        "system_id", "turn_id", "text"
    )
    for system, turn_pk, text in responses.iterator(chunk_size=RESPONSES_A_READ):
        if turn_pk in turn_index:
            turn[0, system_index[system], turn_index[turn_pk]] = len(text.split())
    given = ~np.isnan(turn)
    counts = given.sum(axis=2)
    means = np.divide(
        np.where(given, turn, 0.0).sum(axis=2),
        counts,
        out=np.full(counts.shape, np.nan),
        where=counts > 0,
    )
    done = np.array([int((counts > 0).sum())], dtype=np.int64)
    return MetricScores((ResponseLength(),), tuple(systems), turn, means, done)
