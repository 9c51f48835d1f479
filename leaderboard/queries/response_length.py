"""Response length, the trivial baseline of every metric leaderboard: the metric ``response_length``
with its defaults, correlated with human ratings as any metric is. It is counted whether or not a
run of the metric was asked for, so every corpus has it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotations.corpora.queries import language_of
from annotations.corpora.rating_queries import TurnOrder
from annotations.models import CorpusVersion, Response, System
from leaderboard.answers.metrics import BASELINE
from leaderboard.queries.compared import Computed, MetricScores
from workers.metrics.common.configuration import parse
from workers.metrics.common.tokenisation import Tokenisation

RESPONSES_A_READ = 2_000


class ResponseLength(Computed):
    """As a ``ComparedMetric``. No metric has a blank in its name, so none has this one."""

    text = "response length"


def response_lengths(
    version: CorpusVersion, systems: Sequence[System], order: TurnOrder
) -> MetricScores:
    """Scores of one row, ``ResponseLength``, in the order of the turns (of a slice, of its own);
    NaN where there is no response, 0 for an empty one."""
    configuration = parse(BASELINE)
    tokenisation = Tokenisation.of(configuration.options, language_of(version))
    turn = np.full((1, len(systems), len(order.turn_pks)), np.nan)
    system_index = {system.pk: number for number, system in enumerate(systems)}
    turn_index = {int(pk): number for number, pk in enumerate(order.turn_pks)}
    responses = Response.objects.filter(system__in=list(system_index)).values_list(
        "system_id", "turn_id", "text"
    )
    for system, turn_pk, text in responses.iterator(chunk_size=RESPONSES_A_READ):
        if turn_pk in turn_index:
            turn[0, system_index[system], turn_index[turn_pk]] = len(tokenisation.analysis(text))
    given = ~np.isnan(turn)
    counts = given.sum(axis=2)
    means = np.divide(
        np.where(given, turn, 0.0).sum(axis=2),
        counts,
        out=np.full(counts.shape, np.nan),
        where=counts > 0,
    )
    done = np.array([int((counts > 0).sum())], dtype=np.int64)
    metric = ResponseLength(configuration.metric, configuration.values, (tokenisation.facts,))
    return MetricScores((metric,), tuple(systems), turn, means, done)
