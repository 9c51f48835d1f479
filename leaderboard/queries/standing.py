"""How systems stand with people and on every metric, and how far the raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from annotations.agreement.intervals import METHOD
from annotations.agreement.report import agreement_report
from annotations.agreement.score_use import score_use
from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import (
    has_dialogue_ratings,
    has_turn_ratings,
    rated_items,
)
from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, System
from common.estimates import Undefined
from leaderboard.answers.agreement import CorpusAgreement
from leaderboard.answers.systems import RankedSystem, ScoringMetric, SystemStanding
from leaderboard.queries.agreement_pairs import with_fewer_pairs
from leaderboard.queries.compared import ComparedMetric
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.queries.submitted import NOT_HANDED_IN, HandedIn, compared_scores
from leaderboard.results.kinds import registered
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.ranking.system_ranking import rank_systems
from workers.metrics.common.configuration import Configuration
from workers.models import MetricRun

MEANS_CI = "jackknife-t95-over-dialogues"
"""How intervals of systems' means are made; see ``rank_systems``."""
NOT_COMPUTED = "not computed for this system"
NOT_OF_A_SLICE = "it scores whole systems: it has no score of a part of their responses"
NOT_IN_THIS_SLICE = "no score of this system in these conversations"


def system_standing(
    version: CorpusVersion,
    aspect: str,
    systems: Sequence[System] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    data_slice: str = NO_SLICE,
) -> SystemStanding:
    """Every system's mean human rating with interval, rank range and band, and its score on every
    metric; ``data_slice``: of these conversations alone."""
    chosen = list(systems if systems is not None else select_systems(version))
    human = human_side(version, aspect, chosen, data_slice)
    scores = compared_scores(version, chosen, human.order)
    reasons = _why_no_system_score(chosen)
    items = human.at("system")
    nobody = PlacedScores(
        np.empty((1, 0)), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    )
    ranks = rank_systems(
        placed_human(items) if items else nobody,
        len(chosen),
        resamples,
        seed,
        bounds=scale_of(version, aspect),
    )
    return SystemStanding(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        design=human.design.kind,
        resamples=resamples,
        seed=seed,
        ci=MEANS_CI,
        data_slice=data_slice,
        metrics=tuple(
            ScoringMetric(
                metric=configuration.text,
                signature=configuration.signature(
                    corpus=version.corpus.slug,
                    corpus_version=version.label,
                    slice=data_slice or None,
                ),
                higher_is_better=configuration.higher_is_better,
                range=configuration.value_range,
                submitted=configuration.submission if isinstance(configuration, HandedIn) else None,
            )
            for configuration in scores.configurations
        ),
        systems=tuple(
            RankedSystem(
                system=system.name,
                kind=system.kind,
                position=system.position,
                human=rank.mean,
                items=rank.items,
                dialogues=rank.dialogues,
                rank=rank.rank,
                worst_rank=rank.worst_rank,
                band=rank.band,
                scores=tuple(
                    Undefined(_why_none(one, system, reasons, data_slice))
                    if np.isnan(score)
                    else float(score)
                    for one, score in zip(
                        scores.configurations, scores.system[:, number], strict=True
                    )
                ),
            )
            for number, (system, rank) in enumerate(zip(chosen, ranks, strict=True))
        ),
    )


def _why_none(
    metric: ComparedMetric,
    system: System,
    reasons: dict[tuple[int, str, str], str],
    data_slice: str,
) -> str:
    if data_slice and metric.levels == {"system"}:
        return NOT_OF_A_SLICE
    if data_slice:
        return NOT_IN_THIS_SLICE
    if isinstance(metric, Configuration):
        return reasons.get((system.pk, metric.text, metric.metric.version), NOT_COMPUTED)
    return NOT_HANDED_IN


def _why_no_system_score(systems: Sequence[System]) -> dict[tuple[int, str, str], str]:
    """(system pk, configuration, metric version) → the reason, for finished runs without a system
    score."""
    undefined = MetricRun.objects.filter(
        system__in=systems, state=MetricRun.State.DONE, system_score__isnull=True
    ).values_list("system_id", "configuration", "metric_version", "system_reason")
    return {(system, text, version): reason for system, text, version, reason in undefined}


def _shown_first(version: CorpusVersion) -> list[dict[str, Any]]:
    levels = rated_levels(version, version.main_aspect)[:1]
    return [{"aspect": version.main_aspect, "level": level} for level in levels]


@registered("agreement", version=2, for_files="all_pairs", shown_first=_shown_first)
def agreement(version: CorpusVersion, aspect: str, level: CeilingLevel) -> CorpusAgreement:
    """The coefficients, with their pairs apart, and each rater's use of the scale."""
    measured: Literal["turn", "dialogue"] = "dialogue" if level == "dialogue" else "turn"
    matrix = rated_items(version, aspect, measured).matrix
    report = agreement_report(matrix, resamples=RESAMPLES)
    return CorpusAgreement(
        **vars(replace(report, cohen_kappa=with_fewer_pairs(report.cohen_kappa))),
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        level=measured,
        ci=METHOD,
        resamples=RESAMPLES,
        seed=SEED,
        score_use=score_use(matrix),
        all_pairs={weighting: kappa.pairs for weighting, kappa in report.cohen_kappa.items()},
    )


def rated_levels(version: CorpusVersion, aspect: str) -> list[str]:
    """The levels at which people rated this aspect."""
    return [
        level
        for level, is_rated in (
            ("turn", has_turn_ratings(version, aspect)),
            ("dialogue", has_dialogue_ratings(version, aspect)),
        )
        if is_rated
    ]
