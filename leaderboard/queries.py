"""Every read of meta-evaluation: human scores beside metric scores, and the statistics made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.estimates import Estimate
from annotations.models import CorpusVersion, System
from annotations.queries import (
    NotFound,
    RatedItems,
    TurnOrder,
    agreement_of,
    has_dialogue_ratings,
    has_turn_ratings,
    rated_items,
    select_systems,
    turn_order,
)
from leaderboard.statistics.human_ceiling import LEVELS, CeilingLevel, human_ceiling
from leaderboard.statistics.levels import MetricCorrelation, correlate_items, correlate_systems
from leaderboard.statistics.placed_scores import PlacedScores, dialogue_means
from leaderboard.statistics.system_ranking import rank_systems
from workers.metrics.configuration import Configuration, ConfigurationError, parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun

RESAMPLES, SEED = 1000, 0
CORRELATION_LEVELS = LEVELS
NOT_COMPUTED = "not computed for this system"


# --- metric scores ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricScores:
    """The scores of finished runs. ``turn``: metrics × systems × turns, ``system``: metrics × systems; NaN where a
    score is undefined or not computed. A metric in ``system_only`` has no turn scores at all."""

    configurations: tuple[Configuration, ...]
    systems: tuple[System, ...]
    turn: NDArray[np.float64]
    system: NDArray[np.float64]
    runs_done: NDArray[np.int64]
    """How many of the systems each metric has been computed for."""

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(configuration.text for configuration in self.configurations)

    def is_system_only(self, row: int) -> bool:
        return "turn" not in self.configurations[row].metric.levels

    def select(self, rows: Sequence[int]) -> MetricScores:
        return MetricScores(
            tuple(self.configurations[row] for row in rows),
            self.systems,
            self.turn[list(rows)],
            self.system[list(rows)],
            self.runs_done[list(rows)],
        )


def metric_scores(systems: Sequence[System], turns: int, only: Sequence[str] | None = None) -> MetricScores:
    """All finished runs of these systems, in the present version of each metric, in the registry's order.
    ``only`` names the configurations to read, where others are not wanted."""
    finished = MetricRun.objects.filter(system__in=systems, state=MetricRun.State.DONE)
    if only is not None:
        finished = finished.filter(configuration__in=only)
    rows = list(finished.values_list("configuration", "metric_version", "system_id", "turn_scores", "system_score"))
    known = {
        text: configuration
        for text, metric_version in {row[:2] for row in rows}
        if (configuration := _present(text)) and configuration.metric.version == metric_version
    }
    order = {name: place for place, name in enumerate(all_metrics())}
    texts = sorted(known, key=lambda text: (order[known[text].metric.name], text))
    place = {text: row for row, text in enumerate(texts)}
    system_place = {system.pk: number for number, system in enumerate(systems)}
    turn = np.full((len(texts), len(systems), turns), np.nan)
    system_scores = np.full((len(texts), len(systems)), np.nan)
    runs_done = np.zeros(len(texts), dtype=np.int64)
    for text, metric_version, system_id, turn_scores, system_score in rows:
        if text not in place or known[text].metric.version != metric_version:
            continue
        at = place[text], system_place[system_id]
        if turn_scores:
            turn[at] = np.array(turn_scores, dtype=np.float64)  # None becomes NaN
        if system_score is not None:
            system_scores[at] = system_score
        runs_done[at[0]] += 1
    return MetricScores(tuple(known[text] for text in texts), tuple(systems), turn, system_scores, runs_done)


def _present(text: str) -> Configuration | None:
    """The configuration, or None where its metric is no longer registered (a plug-in that was taken out)."""
    try:
        return parse(text)
    except ConfigurationError:
        return None


def chosen_metrics(scores: MetricScores, wanted: Sequence[Configuration] | None) -> MetricScores:
    """Those asked for, in that order; all where none is asked for. Raises NotFound for one that is not computed."""
    if not wanted:
        return scores
    place = {text: row for row, text in enumerate(scores.texts)}
    missing = [configuration.text for configuration in wanted if configuration.text not in place]
    if missing:
        known = ", ".join(place) or "none yet"
        raise NotFound(f"not computed: {', '.join(missing)}. Computed: {known}. Compute more with: manage.py score")
    return scores.select([place[configuration.text] for configuration in wanted])


# --- human scores ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HumanSide:
    """What people said, at the levels at which they were asked.

    ``turn`` or ``dialogue`` is None where nobody rated at that level. The dialogue level uses ratings of whole
    dialogues where there are any, else means over turns; the system level uses turn ratings where there are any.
    """

    systems: tuple[System, ...]
    order: TurnOrder
    turn: RatedItems | None
    dialogue: RatedItems | None

    def at(self, level: CeilingLevel) -> RatedItems | None:
        if level == "dialogue":
            return self.dialogue or self.turn
        return self.turn or (self.dialogue if level == "system" else None)


def human_side(version: CorpusVersion, aspect: str, systems: Sequence[System]) -> HumanSide:
    return HumanSide(
        systems=tuple(systems),
        order=turn_order(version),
        turn=rated_items(version, aspect, "turn", systems) if has_turn_ratings(version, aspect) else None,
        dialogue=rated_items(version, aspect, "dialogue", systems) if has_dialogue_ratings(version, aspect) else None,
    )


def _placed(items: RatedItems) -> PlacedScores:
    return PlacedScores(items.human_means(), items.system, items.dialogue)


def human_grid(human: HumanSide) -> PlacedScores | None:
    """One human score for every (system, dialogue), NaN where there is none."""
    items = human.at("dialogue")
    if items is None:
        return None
    return dialogue_means(_placed(items), len(human.systems), len(human.order.dialogue_ids))


def metric_grid(human: HumanSide, scores: MetricScores) -> PlacedScores:
    """Metric means over the turns of each (system, dialogue)."""
    return dialogue_means(_placed_metrics(human, scores), len(human.systems), len(human.order.dialogue_ids))


def _placed_metrics(human: HumanSide, scores: MetricScores) -> PlacedScores:
    turns = len(human.order.turn_pks)
    return PlacedScores(
        scores.turn.reshape(len(scores.texts), len(human.systems) * turns),
        np.repeat(np.arange(len(human.systems)), turns),
        np.tile(human.order.dialogue, len(human.systems)),
    )


# --- correlations ----------------------------------------------------------------------------------------------


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
            _placed(items),
            _placed_metrics(human, scores.select(with_turns)),
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
    placed = _placed_metrics(human, scores.select([0]))
    return [rank.mean for rank in rank_systems(placed, len(human.systems), RESAMPLES, SEED)]


# --- systems ---------------------------------------------------------------------------------------------------


def system_standing(
    version: CorpusVersion,
    aspect: str,
    systems: Sequence[System] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Every system's mean human rating with interval, rank range and band, and its score on every metric."""
    chosen = list(systems if systems is not None else select_systems(version))
    human = human_side(version, aspect, chosen)
    scores = metric_scores(chosen, len(human.order.turn_pks))
    reasons = _why_no_system_score(chosen)
    items = human.at("system")
    nobody = PlacedScores(np.empty((1, 0)), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    ranks = rank_systems(_placed(items) if items else nobody, len(chosen), resamples, seed)
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "resamples": resamples,
        "seed": seed,
        "metrics": [
            {
                "metric": configuration.text,
                "signature": configuration.signature(corpus=version.corpus.slug, corpus_version=version.label),
                "higher_is_better": configuration.metric.higher_is_better,
                "range": list(configuration.metric.value_range),
            }
            for configuration in scores.configurations
        ],
        "systems": [
            {
                "system": system.name,
                "kind": system.kind,
                "position": system.position,
                "human": rank.mean.as_json(),
                "items": rank.items,
                "dialogues": rank.dialogues,
                "rank": rank.rank,
                "worst_rank": rank.worst_rank,
                "band": rank.band,
                "scores": [
                    {"value": None, "reason": reasons.get((system.pk, one.text, one.metric.version), NOT_COMPUTED)}
                    if np.isnan(score)
                    else float(score)
                    for one, score in zip(scores.configurations, scores.system[:, number], strict=True)
                ],
            }
            for number, (system, rank) in enumerate(zip(chosen, ranks, strict=True))
        ],
    }


def _why_no_system_score(systems: Sequence[System]) -> dict[tuple[int, str, str], str]:
    """(system pk, configuration, metric version) → the reason, for finished runs without a system score."""
    undefined = MetricRun.objects.filter(
        system__in=systems, state=MetricRun.State.DONE, system_score__isnull=True
    ).values_list("system_id", "configuration", "metric_version", "system_reason")
    return {(system, text, version): reason for system, text, version, reason in undefined}


def agreement(version: CorpusVersion, aspect: str, level: CeilingLevel) -> dict[str, Any]:
    return agreement_of(version, aspect, "dialogue" if level == "dialogue" else "turn", resamples=RESAMPLES, seed=SEED)


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
