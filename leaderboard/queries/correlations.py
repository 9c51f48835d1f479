"""How far metrics agree with people, with the ceiling of such a correlation and people's own
agreement beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from annotations.corpora.rating_queries import RatedItems
from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, System
from common.correlation import COEFFICIENTS
from common.estimates import Estimate
from leaderboard.answers.metrics import (
    CorrelationRow,
    MetricCorrelations,
    PeopleByLevel,
    PeopleCoefficients,
)
from leaderboard.queries.compared import Computed, MetricScores, chosen_metrics
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import (
    HumanSide,
    human_side,
    placed_dialogue_scores,
    placed_human,
    placed_metrics,
)
from leaderboard.queries.level_scores import coverage, level_scores
from leaderboard.queries.response_length import response_lengths
from leaderboard.queries.submitted import HandedIn, compared_scores
from leaderboard.queries.system_choice import NAMED, chosen_systems, resolve_choice
from leaderboard.queries.variants import Variants, corrected, split_halves, variants_of_level
from leaderboard.statistics.correlation.human_ceiling import (
    LEVELS,
    CeilingLevel,
    correlation_ceiling,
)
from leaderboard.statistics.correlation.leave_one_out import leave_one_out_agreement
from leaderboard.statistics.correlation.levels import (
    MetricCorrelation,
    correlate_items,
    correlate_systems,
)
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.correlation.resampling import Method, Recipe, Unit
from leaderboard.statistics.ranking.system_ranking import rank_systems
from workers.judges.core.model_caveats import caveat_of
from workers.metrics.common.configuration import Configuration
from workers.runs.language_fit import reading_warnings

CORRELATION_LEVELS = LEVELS


def meta_evaluation(
    version: CorpusVersion,
    aspect: str,
    levels: Iterable[CeilingLevel] = LEVELS,
    metrics: Sequence[Configuration | str] | None = None,
    systems: Sequence[System] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    rated: Literal["turn", "dialogue"] | None = None,
    redraw: Unit = "dialogues",
    interval: Method | None = None,
    variants: bool = True,
    systems_chosen: str = NAMED,
    data_slice: str = NO_SLICE,
) -> MetricCorrelations:
    """Correlation of every metric with people.

    What a metric did not score is left out, metric by metric, and never filled in: ``n`` says how
    many pairs are left, ``coverage`` which share of what people rated has a score. ``rated``: hold
    the metrics against ratings of turns alone, or of whole dialogues alone, where people gave both.
    ``redraw``, ``interval``: as ``Recipe`` has them. ``systems`` None: those of ``resolve_choice``,
    for all metrics alike; ``systems_chosen`` is what signatures call systems that are given.
    ``variants`` False: without the averages, accuracies, split halves and corrected coefficients of
    ``leaderboard.queries.variants``, and without the baseline. ``data_slice``: of these
    conversations alone.
    """
    recipe = Recipe.of(redraw, interval, resamples, seed)
    if systems is None:
        systems_chosen = resolve_choice(version)
        systems = chosen_systems(version, systems_chosen)
    chosen = list(systems)
    human = human_side(version, aspect, chosen, data_slice)
    if rated is not None:
        human = replace(human, dialogue=None) if rated == "turn" else replace(human, turn=None)
    scores = chosen_metrics(compared_scores(version, chosen, human.order), metrics)
    lengths = response_lengths(version, chosen, human.order) if variants else None
    rows: list[CorrelationRow] = []
    baseline: list[CorrelationRow] = []
    wanted_levels = [level for level in LEVELS if level in set(levels)]
    halves = split_halves(human, wanted_levels, resamples, seed) if variants else {}
    one_rater = _one_rater(human, wanted_levels, resamples, seed, recipe.method)
    for level in wanted_levels:
        for compared, found in ((scores, rows), (lengths, baseline)):
            if compared is None:
                continue
            besides = variants_of_level(level, human, compared, resamples, seed) if variants else {}
            found += rows_of_level(
                version,
                aspect,
                level,
                human,
                compared,
                recipe,
                besides,
                halves.get(level),
                systems_chosen,
                data_slice,
            )
    reliability, ceiling = _of_reliability(halves, wanted_levels) if variants else ({}, {})
    warnings = reading_warnings(version, scores.texts, chosen)
    return MetricCorrelations(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        systems=tuple(system.name for system in chosen),
        systems_chosen=systems_chosen,
        data_slice=data_slice,
        design=human.design.kind,
        resamples=resamples,
        seed=seed,
        ci=recipe.signature("system" if "system" in wanted_levels else "turn"),
        interval={
            level: recipe.words(level, *_rated(human, level), human.design.kind)
            for level in wanted_levels
        },
        leave_one_out_agreement=one_rater,
        human_ceiling=one_rater,
        correlation_ceiling=ceiling,
        reliability=reliability,
        split_half=reliability,
        rows=tuple(
            replace(row, warning=warnings.get(row.metric, ""))
            for row in sorted(
                rows, key=lambda row: (scores.texts.index(row.metric), LEVELS.index(row.level))
            )
        ),
        baseline=tuple(baseline),
    )


def _rated(human: HumanSide, level: CeilingLevel) -> tuple[int, int]:
    """In how many dialogues, and of how many systems, people rated anything."""
    items = human.at(level)
    if items is None:
        return 0, 0
    rated = np.isfinite(items.human_means())
    return len(np.unique(items.dialogue[rated])), len(np.unique(items.system[rated]))


def rows_of_level(
    version: CorpusVersion,
    aspect: str,
    level: CeilingLevel,
    human: HumanSide,
    scores: MetricScores,
    recipe: Recipe,
    besides: Variants | None = None,
    reliability: dict[str, Estimate] | None = None,
    systems_chosen: str = NAMED,
    data_slice: str = NO_SLICE,
) -> list[CorrelationRow]:
    """``besides``: what else the rows hold, by the metric's row; ``reliability``: of the human
    scores at this level."""
    found = _correlations(level, human, scores, recipe)
    rows = []
    for row, correlation in found.items():
        signature = scores.configurations[row].signature(
            corpus=version.corpus.slug,
            corpus_version=version.label,
            aspect=aspect,
            systems=systems_chosen,
            slice=data_slice or None,
            design=design_in_signature(human),
            level=level,
            n=correlation.n,
            ci=recipe.signature(level),
            resamples=recipe.resamples,
            seed=recipe.seed,
        )
        remark = correlation.pearson_remark
        more = dict((besides or {}).get(row, {}))
        if reliability is not None:
            limit = recipe.of_the_limit(level, correlation.n)
            found_corrected = corrected(correlation, reliability, limit)
            more["attenuation_corrected"] = replace(
                found_corrected, pearson=_remarked(found_corrected.pearson, remark)
            )
        configuration = scores.configurations[row]
        notes = [
            correlation.note,
            configuration.note if isinstance(configuration, Computed) else "",
        ]
        rows.append(
            CorrelationRow(
                metric=configuration.text,
                signature=signature,
                level=level,
                n=correlation.n,
                coverage=coverage(human, scores, row, level),
                higher_is_better=configuration.higher_is_better,
                pearson=_remarked(correlation.pearson, remark),
                spearman=correlation.spearman,
                kendall=correlation.kendall,
                note=". ".join(note for note in notes if note),
                worth=caveat_of(configuration),
                submitted=configuration.submission if isinstance(configuration, HandedIn) else None,
                generalises_to=recipe.generalises_to(level, correlation.n),
                **more,
            )
        )
    return rows


def _remarked(estimate: Estimate, remark: str) -> Estimate:
    return replace(estimate, ci_remark=remark) if remark and estimate.ci else estimate


def design_in_signature(human: HumanSide) -> str | None:
    """Crossed, the usual design, is not written."""
    return None if human.design.kind == "crossed" else human.design.kind.replace(" ", "-")


def _correlations(
    level: CeilingLevel, human: HumanSide, scores: MetricScores, recipe: Recipe
) -> dict[int, MetricCorrelation]:
    """By the metric's row. A metric has none below the level that it scores."""
    items = human.at(level)
    if items is None or not scores.texts:
        return {}
    if level == "system":
        return _system_correlations(items, human, scores, recipe)
    found = level_scores(level, human, scores)
    if found is None:
        return {}
    results = correlate_items(
        found.human,
        found.metrics,
        found.dialogue,
        recipe.resamples,
        recipe.seed,
        system=found.system,
        redraw=recipe.unit,
        method=recipe.method,
    )
    return dict(zip(found.rows, results, strict=True))


def _system_correlations(
    items: RatedItems, human: HumanSide, scores: MetricScores, recipe: Recipe
) -> dict[int, MetricCorrelation]:
    of_turns, of_dialogues, of_systems = (
        scores.rows_of(finest) for finest in ("turn", "dialogue", "system")
    )
    people, systems = placed_human(items), len(human.systems)
    fixed = scores.system[of_systems] if of_systems else None
    turns = placed_metrics(human, scores.select(of_turns))
    found = dict(
        zip(
            [*of_turns, *of_systems],
            correlate_systems(
                people,
                turns,
                systems,
                fixed,
                recipe.resamples,
                recipe.seed,
                redraw=recipe.unit,
                method=recipe.method,
            ),
            strict=True,
        )
    )
    if of_dialogues:
        dialogues = placed_dialogue_scores(human, scores.select(of_dialogues))
        results = correlate_systems(
            people,
            dialogues,
            systems,
            None,
            recipe.resamples,
            recipe.seed,
            redraw=recipe.unit,
            method=recipe.method,
        )
        for row, result, given in zip(of_dialogues, results, dialogues.scores, strict=True):
            found[row] = replace(result, note=_dialogues_missing(given))
    return found


def _dialogues_missing(scores: FloatArray) -> str:
    missing = int(np.isnan(scores).sum())
    return (
        f"{missing:,} of {len(scores):,} dialogues have no score and are left out of the means"
        if missing
        else ""
    )


def _one_rater(
    human: HumanSide, levels: Sequence[CeilingLevel], resamples: int, seed: int, method: Method
) -> PeopleByLevel:
    """Leave-one-out agreement."""
    people: dict[str, PeopleCoefficients] = {}
    for level in levels:
        items = human.at(level)
        if items is None:
            people[level] = PeopleCoefficients.undefined(f"nobody rated at the {level} level")
            continue
        found = leave_one_out_agreement(
            items.matrix, items.system, (level,), resamples, seed, method
        )
        people[level] = PeopleCoefficients(**found[level])
    return people


def _of_reliability(
    halves: Mapping[CeilingLevel, dict[str, Estimate]], levels: Sequence[CeilingLevel]
) -> tuple[PeopleByLevel, PeopleByLevel]:
    """The reliability of the mean rating, and the ceiling that follows from it."""
    found = {
        level: halves.get(level)
        or dict.fromkeys(COEFFICIENTS, Estimate.undefined(f"nobody rated at the {level} level"))
        for level in levels
    }
    reliability: dict[str, PeopleCoefficients] = {}
    ceiling: dict[str, PeopleCoefficients] = {}
    for level, of_level in found.items():
        reliability[level] = PeopleCoefficients(**of_level)
        ceiling[level] = PeopleCoefficients(
            **{name: correlation_ceiling(one) for name, one in of_level.items()}
        )
    return reliability, ceiling


def metric_means(human: HumanSide, scores: MetricScores) -> list[Estimate]:
    """Each system's mean score on the first metric, with its interval over dialogues; a metric that
    exists at system level only has no dialogues to draw from, and so no interval."""
    finest = scores.finest(0)
    if finest == "system":
        reason = "the metric has no scores below system level"
        return [
            Estimate.undefined("the metric has no score for this system")
            if np.isnan(score)
            else Estimate(value=float(score), reason=reason)
            for score in scores.system[0]
        ]
    first = scores.select([0])
    placed = (
        placed_metrics(human, first) if finest == "turn" else placed_dialogue_scores(human, first)
    )
    return [
        rank.mean
        for rank in rank_systems(
            placed, len(human.systems), RESAMPLES, SEED, bounds=scores.configurations[0].value_range
        )
    ]
