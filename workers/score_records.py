"""Finished metric runs as records for the exporters."""

from __future__ import annotations

import math
from collections.abc import Iterator

from annotations.exporters.base import MetricScoresRecord
from annotations.models import CorpusVersion
from annotations.queries import TurnOrder, turn_order
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.queries import runs_of


def score_records_of(version: CorpusVersion) -> Iterator[MetricScoresRecord]:
    """Every finished run of the version, metric by metric, in the order of its systems; those withheld are left out."""
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
    by_turn: dict[tuple[str, int], float | None] = {}
    by_dialogue: dict[str, list[float]] = {}
    for place, number, score in zip(order.dialogue, order.numbers, run.turn_scores, strict=False):
        dialogue = order.dialogue_ids[place]
        by_turn[dialogue, int(number)] = score
        defined = by_dialogue.setdefault(dialogue, [])
        if score is not None:
            defined.append(score)
    metric = all_metrics().get(run.metric)
    return MetricScoresRecord(
        metric=run.configuration,
        system=run.system.name,
        signature=_signature_of_metric(run.signature),
        turn_scores=by_turn,
        dialogue_scores={
            dialogue: math.fsum(scores) / len(scores) if scores else None for dialogue, scores in by_dialogue.items()
        },
        system_score=run.system_score,
        uses_references=metric is None or "reference" in metric.needs,
    )


def _signature_of_metric(signature: str) -> str:
    """Without n, its last fact: systems that answered other turns were still scored by one metric."""
    return signature.rpartition("|n:")[0] or signature
