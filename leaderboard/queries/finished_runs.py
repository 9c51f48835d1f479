"""The scores of finished runs, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotations.models import System
from leaderboard.queries.compared import Computed, MetricScores, SignatureFields
from workers.metrics.common.configuration import Configuration, still_there, unescaped
from workers.metrics.registry import all_metrics
from workers.models import MetricRun


def metric_scores(
    systems: Sequence[System], turns: int, only: Sequence[str] | None = None
) -> MetricScores:
    """All finished runs of these systems, in the present version of each metric, in the registry's
    order. ``only`` names the configurations to read, where others are not wanted."""
    finished = MetricRun.objects.filter(system__in=systems, state=MetricRun.State.DONE)
    if only is not None:
        finished = finished.filter(configuration__in=only)
    rows = list(
        finished.values_list(
            "configuration",
            "metric_version",
            "system_id",
            "turn_scores",
            "dialogue_scores",
            "system_score",
        )
    )
    known = {
        text: configuration
        for text, metric_version in {row[:2] for row in rows}
        if (configuration := still_there(text, metric_version))
    }
    facts = _signature_fields_of_runs(finished, known)
    order = {name: place for place, name in enumerate(all_metrics())}
    texts = sorted(known, key=lambda text: (order[known[text].metric.name], text))
    place = {text: row for row, text in enumerate(texts)}
    system_index = {system.pk: number for number, system in enumerate(systems)}
    turn = np.full((len(texts), len(systems), turns), np.nan)
    system_scores = np.full((len(texts), len(systems)), np.nan)
    runs_done = np.zeros(len(texts), dtype=np.int64)
    dialogue: NDArray[np.float64] | None = None
    for text, metric_version, system_id, turn_scores, dialogue_scores, system_score in rows:
        if text not in place or known[text].metric.version != metric_version:
            continue
        at = place[text], system_index[system_id]
        if turn_scores:
            turn[at] = np.array(turn_scores, dtype=np.float64)  # None becomes NaN
        if dialogue_scores:
            if dialogue is None:  # most metrics have none
                dialogue = np.full((len(texts), len(systems), len(dialogue_scores)), np.nan)
            dialogue[at] = np.array(dialogue_scores, dtype=np.float64)
        if system_score is not None:
            system_scores[at] = system_score
        runs_done[at[0]] += 1
    computed = tuple(
        Computed.by(known[text], facts[text]) if text in facts else known[text] for text in texts
    )
    return MetricScores(computed, tuple(systems), turn, system_scores, runs_done, dialogue)


def _signature_fields_of_runs(
    finished: QuerySet[MetricRun], known: Mapping[str, Configuration]
) -> dict[str, tuple[SignatureFields, ...]]:
    """For configurations that a model had a part in: what their runs' signatures say beyond the
    configuration, each once. More than one: systems were scored by different models, or in
    different precision."""
    signatures = (
        finished.exclude(model="")
        .order_by("configuration", "signature")
        .values_list("configuration", "metric_version", "signature")
    )
    found: dict[str, dict[SignatureFields, None]] = {}
    for text, metric_version, signature in signatures:
        if text in known and known[text].metric.version == metric_version:
            found.setdefault(text, {})[_text_beyond(known[text], signature)] = None
    return {text: tuple(facts) for text, facts in found.items()}


def _text_beyond(configuration: Configuration, signature: str) -> SignatureFields:
    """The facts between the configuration's own and the corpus: model revision, precision, …"""
    own = configuration.signature()
    made = signature.partition("|corpus:")[0].removeprefix(own).strip("|")
    pairs = (fact.partition(":") for fact in made.split("|") if fact)
    return tuple((name, unescaped(value)) for name, _, value in pairs)
