"""How far metrics agree with people, with the human ceiling beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from annotations.estimates import Estimate
from annotations.models import CorpusVersion, System
from annotations.queries import (
    select_systems,
)
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.finished_runs import MetricScores, chosen_metrics, metric_scores
from leaderboard.queries.human_scores import (
    HumanSide,
    human_grid,
    human_side,
    metric_grid,
    placed_human,
    placed_metrics,
)
from leaderboard.statistics.human_ceiling import LEVELS, CeilingLevel, human_ceiling
from leaderboard.statistics.levels import MetricCorrelation, correlate_items, correlate_systems
from leaderboard.statistics.system_ranking import rank_systems
from workers.metrics.configuration import Configuration

CORRELATION_LEVELS = LEVELS


def meta_evaluation(
    version: CorpusVersion,
    aspect: str,
    levels: Iterable[CeilingLevel] = LEVELS,
    metrics: Sequence[Configuration] | None = None,
    systems: Sequence[System] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Correlation of every metric with people, in the form that the command prints and the page reads."""
    chosen = list(systems if systems is not None else select_systems(version))
    human = human_side(version, aspect, chosen)
    scores = chosen_metrics(metric_scores(chosen, len(human.order.turn_pks)), metrics)
    rows: list[dict[str, Any]] = []
    wanted_levels = [level for level in LEVELS if level in set(levels)]
    for level in wanted_levels:
        rows += _rows_of_level(version, aspect, level, human, scores, resamples, seed)
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems": [system.name for system in chosen],
        "resamples": resamples,
        "seed": seed,
        "human_ceiling": ceiling_document(human, wanted_levels, resamples, seed),
        "rows": sorted(rows, key=lambda row: (scores.texts.index(row["metric"]), LEVELS.index(row["level"]))),
    }


def _rows_of_level(
    version: CorpusVersion,
    aspect: str,
    level: CeilingLevel,
    human: HumanSide,
    scores: MetricScores,
    resamples: int,
    seed: int,
) -> list[dict[str, Any]]:
    with_turns = [row for row in range(len(scores.texts)) if not scores.is_system_only(row)]
    system_only = [row for row in range(len(scores.texts)) if scores.is_system_only(row)]
    found = _correlations(level, human, scores, with_turns, system_only, resamples, seed)
    documents = []
    for row, correlation in found.items():
        signature = scores.configurations[row].signature(
            corpus=version.corpus.slug,
            corpus_version=version.label,
            aspect=aspect,
            level=level,
            n=correlation.n,
            ci="percentile95-bootstrap-over-dialogues",
            resamples=resamples,
            seed=seed,
        )
        documents.append(_row_document(scores, row, level, correlation, signature))
    return documents


def _correlations(
    level: CeilingLevel,
    human: HumanSide,
    scores: MetricScores,
    with_turns: list[int],
    system_only: list[int],
    resamples: int,
    seed: int,
) -> dict[int, MetricCorrelation]:
    items = human.at(level)
    if items is None or not scores.texts:
        return {}
    if level == "system":
        results = correlate_systems(
            placed_human(items),
            placed_metrics(human, scores.select(with_turns)),
            len(human.systems),
            scores.system[system_only] if system_only else None,
            resamples,
            seed,
        )
        return dict(zip([*with_turns, *system_only], results, strict=True))
    if not with_turns:
        return {}
    selected = scores.select(with_turns)
    if level == "turn":
        results = correlate_items(
            items.human_means(), selected.turn[:, items.system, items.turn], items.dialogue, resamples, seed
        )
    else:
        grid = human_grid(human)
        assert grid is not None
        results = correlate_items(grid.scores[0], metric_grid(human, selected).scores, grid.dialogue, resamples, seed)
    return dict(zip(with_turns, results, strict=True))


def _row_document(
    scores: MetricScores, row: int, level: CeilingLevel, correlation: MetricCorrelation, signature: str
) -> dict[str, Any]:
    configuration = scores.configurations[row]
    document: dict[str, Any] = {
        "metric": configuration.text,
        "signature": signature,
        "level": level,
        "n": correlation.n,
        "coverage": correlation.coverage,
        "higher_is_better": configuration.metric.higher_is_better,
        "pearson": correlation.pearson.as_json(),
        "spearman": correlation.spearman.as_json(),
        "kendall": correlation.kendall.as_json(),
    }
    if correlation.note:
        document["note"] = correlation.note
    return document


def ceiling_document(
    human: HumanSide, levels: Sequence[CeilingLevel], resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Any]:
    """``{level: {coefficient: value}}``; where undefined, ``{"value": null, "reason"}``; intervals under ``"ci"``, and
    under ``"ci_reason"`` why there is none."""
    document: dict[str, Any] = {}
    for level in levels:
        items = human.at(level)
        if items is None:
            nothing = {"value": None, "reason": f"nobody rated at the {level} level"}
            document[level] = dict.fromkeys(("pearson", "spearman", "kendall"), nothing)
            continue
        found = human_ceiling(items.matrix, items.system, (level,), resamples, seed)[level]
        values = {
            name: estimate.as_json() if estimate.value is None else estimate.value for name, estimate in found.items()
        }
        intervals = {name: list(estimate.ci) for name, estimate in found.items() if estimate.ci}
        without = {
            name: estimate.reason
            for name, estimate in found.items()
            if estimate.is_defined and not estimate.ci and estimate.reason
        }
        document[level] = {
            **values,
            **({"ci": intervals} if intervals else {}),
            **({"ci_reason": without} if without else {}),
        }
    return document


def metric_means(human: HumanSide, scores: MetricScores) -> list[Estimate]:
    """Each system's mean score on the first metric, with its interval over dialogues; a metric that exists at system
    level only has no dialogues to draw from, and so no interval."""
    if scores.is_system_only(0):
        reason = "the metric has no scores below system level"
        return [
            Estimate.undefined("the metric has no score for this system")
            if np.isnan(score)
            else Estimate(value=float(score), reason=reason)
            for score in scores.system[0]
        ]
    placed = placed_metrics(human, scores.select([0]))
    return [rank.mean for rank in rank_systems(placed, len(human.systems), RESAMPLES, SEED)]
