"""All scores of a corpus version's metrics for the exporters: those computed here and those handed
in."""

from __future__ import annotations

from collections.abc import Iterator

from annotations.corpora.queries import shown_systems
from annotations.corpora.rating_queries import TurnOrder, turn_order
from annotations.formats.exporters.base import MetricScoresRecord, SubmittedRecord
from annotations.models import CorpusVersion
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.queries.submitted import HandedIn, shown_submitted_metrics
from workers.runs.score_records import dialogue_means, score_records_of, scores_by_turn

ROWS_A_READ = 20
"""A system's scores are one row, which may hold a hundred thousand of them."""


def exported_scores(version: CorpusVersion) -> Iterator[MetricScoresRecord]:
    """Finished runs, then submitted metrics, metric by metric, each in the order of its systems.
    Systems that are withheld and metrics that are withdrawn are left out."""
    yield from score_records_of(version)
    yield from submitted_records_of(version)


def submitted_records_of(version: CorpusVersion) -> Iterator[MetricScoresRecord]:
    """Nothing is said of a system that the file does not score."""
    metrics = list(shown_submitted_metrics(version))
    if not metrics:
        return
    order = turn_order(version)
    for metric in metrics:
        rows = (
            SubmittedScores.objects.filter(metric=metric, system__in=shown_systems(version))
            .select_related("system")
            .order_by("system__position")
        )
        for row in rows.iterator(chunk_size=ROWS_A_READ):
            yield _record(version, metric, row, order)


def _record(
    version: CorpusVersion, metric: SubmittedMetric, row: SubmittedScores, order: TurnOrder
) -> MetricScoresRecord:
    handed_in = HandedIn.of(metric)
    by_turn = (
        scores_by_turn(order, row.scores) if metric.level == SubmittedMetric.Level.TURN else {}
    )
    is_of_dialogues = metric.level == SubmittedMetric.Level.DIALOGUE
    of_dialogues = dict(zip(order.dialogue_ids, row.scores, strict=True)) if is_of_dialogues else {}
    return MetricScoresRecord(
        metric=handed_in.text,
        system=row.system.name,
        signature=handed_in.signature(corpus=version.corpus.slug, corpus_version=version.label),
        turn_scores=by_turn,
        dialogue_scores=of_dialogues or dialogue_means(by_turn),
        system_score=row.system_score,
        submitted=SubmittedRecord(
            level=metric.level,
            higher_is_better=metric.higher_is_better,
            submitted_by=handed_in.owner,
            link=metric.link,
            file_sha256=metric.sha256,
        ),
    )
