"""Finished metric runs as records for the exporters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from annotations.corpora.rating_queries import TurnOrder, turn_order
from annotations.formats.exporters.base import MetricScoresRecord
from annotations.models import CorpusVersion
from workers.metrics.base import Metric, Need
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs.queries import runs_of


def score_records_of(version: CorpusVersion) -> Iterator[MetricScoresRecord]:
    """Every finished run of the version, metric by metric, in the order of its systems; those
    withheld are left out."""
    order = turn_order(version)
    runs = (
        runs_of(version)
        .filter(state=MetricRun.State.DONE)
        .select_related("system")
        .order_by("configuration", "metric_version", "system__position")
    )
    for run in runs.iterator(chunk_size=100):
        yield _record(run, order)


def _record(run: MetricRun, order: TurnOrder) -> MetricScoresRecord:
    by_turn = scores_by_turn(order, run.turn_scores)
    of_dialogues = dict(zip(order.dialogue_ids, run.dialogue_scores, strict=False))
    metric = all_metrics().get(run.metric)
    # Without n, its last field: systems that answered other turns were still scored by one metric
    return MetricScoresRecord(
        metric=run.configuration,
        system=run.system.name,
        signature=run.signature.rpartition("|n:")[0] or run.signature,
        turn_scores=by_turn,
        dialogue_scores=of_dialogues or dialogue_means(by_turn),
        system_score=run.system_score,
        uses_references=metric is None or "reference" in _needs(run, metric),
    )


def scores_by_turn(
    order: TurnOrder, scores: Sequence[float | None]
) -> dict[tuple[str, int], float | None]:
    """A list in the order of the version's turns, keyed by (dialogue id, turn number)."""
    return {
        (order.dialogue_ids[place], int(number)): score
        for place, number, score in zip(order.dialogue, order.numbers, scores, strict=False)
    }


def dialogue_means(by_turn: Mapping[tuple[str, int], float | None]) -> dict[str, float | None]:
    """A dialogue's score where its metric scores turns; None where none of them has a score."""
    defined: dict[str, list[float]] = {}
    for (dialogue, _), score in by_turn.items():
        defined.setdefault(dialogue, []).extend([] if score is None else [score])
    return {
        dialogue: math.fsum(scores) / len(scores) if scores else None
        for dialogue, scores in defined.items()
    }


def _needs(run: MetricRun, metric: Metric) -> frozenset[Need]:
    """Options may need more than their metric does."""
    try:
        return parse(run.configuration).needs
    except ConfigurationError:
        return metric.needs
