"""How far metrics agree with people, with the ceiling of such a correlation and people's own
agreement beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion, System
from common.correlation import COEFFICIENTS
from common.estimates import Estimate
from leaderboard.queries.compared import Computed, MetricScores, chosen_metrics
from leaderboard.queries.coverage import coverage
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import (
    HumanSide,
    human_side,
    placed_dialogue_scores,
    placed_human,
    placed_metrics,
)
from leaderboard.queries.level_scores import level_scores
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
) -> dict[str, Any]:
    """Correlation of every metric with people, in the form that the command prints and the page
    reads.

    What a metric did not score is left out, metric by metric, and never filled in: ``n`` says how
    many pairs are left, ``coverage`` which share of what people rated has a score. ``rated``: hold
    the metrics against ratings of turns alone, or of whole dialogues alone, where people gave both.
    ``redraw``, ``interval``: as ``Recipe`` has them. ``systems`` None: those of ``resolve_choice``,
    for all metrics alike; ``systems_chosen`` is what signatures call systems that are given.
    ``variants`` False: without the averages, accuracies, split halves and corrected coefficients of
    ``leaderboard.queries.variants``.
    """
    recipe = Recipe.of(redraw, interval, resamples, seed)
    if systems is None:
        systems_chosen = resolve_choice(version)
        systems = chosen_systems(version, systems_chosen)
    chosen = list(systems)
    human = human_side(version, aspect, chosen)
    if rated is not None:
        human = replace(human, dialogue=None) if rated == "turn" else replace(human, turn=None)
    scores = chosen_metrics(compared_scores(version, chosen, human.order), metrics)
    rows: list[dict[str, Any]] = []
    wanted_levels = [level for level in LEVELS if level in set(levels)]
    halves = split_halves(human, wanted_levels, resamples, seed) if variants else {}
    one_rater = _one_rater(human, wanted_levels, resamples, seed, recipe.method)
    for level in wanted_levels:
        besides = variants_of_level(level, human, scores, resamples, seed) if variants else {}
        rows += rows_of_level(
            version,
            aspect,
            level,
            human,
            scores,
            recipe,
            besides,
            halves.get(level),
            systems_chosen,
        )
    for text, warning in reading_warnings(version, scores.texts, chosen).items():
        for row in (one for one in rows if one["metric"] == text):
            row["warning"] = warning
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems": [system.name for system in chosen],
        "systems_chosen": systems_chosen,
        "design": human.design.kind,
        "resamples": resamples,
        "seed": seed,
        "ci": recipe.signature("system" if "system" in wanted_levels else "turn"),
        "interval": {
            level: recipe.words(level, *_rated(human, level), human.design.kind)
            for level in wanted_levels
        },
        "leave_one_out_agreement": one_rater,
        "human_ceiling": one_rater,  # its name until 0.2.0; goes with 0.4.0
        **(_of_reliability(halves, wanted_levels) if variants else {}),
        "rows": sorted(
            rows, key=lambda row: (scores.texts.index(row["metric"]), LEVELS.index(row["level"]))
        ),
    }


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
) -> list[dict[str, Any]]:
    """``besides``: what else the rows hold, by the metric's row; ``reliability``: of the human
    scores at this level."""
    found = _correlations(level, human, scores, recipe)
    documents = []
    for row, correlation in found.items():
        signature = scores.configurations[row].signature(
            corpus=version.corpus.slug,
            corpus_version=version.label,
            aspect=aspect,
            systems=systems_chosen,
            design=design_in_signature(human),
            level=level,
            n=correlation.n,
            ci=recipe.signature(level),
            resamples=recipe.resamples,
            seed=recipe.seed,
        )
        document = _row_document(human, scores, row, level, correlation, signature)
        document |= (besides or {}).get(row, {})
        if reliability is not None:
            document["attenuation_corrected"] = corrected(
                correlation, reliability, recipe.of_the_limit(level, correlation.n)
            )
        for estimate in (
            document["pearson"],
            document.get("attenuation_corrected", {}).get("pearson", {}),
        ):
            if correlation.pearson_remark and estimate.get("ci"):
                estimate["ci_remark"] = correlation.pearson_remark
        if scope := recipe.generalises_to(level, correlation.n):
            document["generalises_to"] = scope
        documents.append(document)
    return documents


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


def _row_document(
    human: HumanSide,
    scores: MetricScores,
    row: int,
    level: CeilingLevel,
    correlation: MetricCorrelation,
    signature: str,
) -> dict[str, Any]:
    configuration = scores.configurations[row]
    document: dict[str, Any] = {
        "metric": configuration.text,
        "signature": signature,
        "level": level,
        "n": correlation.n,
        "coverage": coverage(human, scores, row, level),
        "higher_is_better": configuration.higher_is_better,
        "pearson": correlation.pearson.as_json(),
        "spearman": correlation.spearman.as_json(),
        "kendall": correlation.kendall.as_json(),
    }
    notes = [correlation.note, configuration.note if isinstance(configuration, Computed) else ""]
    if any(notes):
        document["note"] = ". ".join(note for note in notes if note)
    if worth := caveat_of(configuration):
        document["worth"] = worth
    if isinstance(configuration, HandedIn):
        document["submitted"] = configuration.as_json()
    return document


def _one_rater(
    human: HumanSide, levels: Sequence[CeilingLevel], resamples: int, seed: int, method: Method
) -> dict[str, Any]:
    """Leave-one-out agreement: ``{level: {coefficient: value}}``; where undefined, ``{"value":
    null, "reason"}``; intervals under ``"ci"``, and under ``"ci_reason"`` why there is none."""
    document: dict[str, Any] = {}
    for level in levels:
        items = human.at(level)
        if items is None:
            nothing = {"value": None, "reason": f"nobody rated at the {level} level"}
            document[level] = dict.fromkeys(COEFFICIENTS, nothing)
            continue
        found = leave_one_out_agreement(
            items.matrix, items.system, (level,), resamples, seed, method
        )
        document[level] = _bare(found[level])
    return document


def _of_reliability(
    halves: Mapping[CeilingLevel, dict[str, Estimate]], levels: Sequence[CeilingLevel]
) -> dict[str, Any]:
    """The reliability of the mean rating and the ceiling that follows from it, in the form of
    ``_one_rater``."""
    found = {
        level: halves.get(level)
        or dict.fromkeys(COEFFICIENTS, Estimate.undefined(f"nobody rated at the {level} level"))
        for level in levels
    }
    reliability = {level: _bare(of_level) for level, of_level in found.items()}
    return {
        "correlation_ceiling": {
            level: _bare({name: correlation_ceiling(one) for name, one in of_level.items()})
            for level, of_level in found.items()
        },
        "reliability": reliability,
        "split_half": reliability,  # its name until 0.2.0; goes with 0.4.0
    }


def _bare(found: dict[str, Estimate]) -> dict[str, Any]:
    """Bare values, and beside them all intervals."""
    values = {
        name: estimate.as_json() if estimate.value is None else estimate.value
        for name, estimate in found.items()
    }
    intervals = {name: list(estimate.ci) for name, estimate in found.items() if estimate.ci}
    without = {
        name: estimate.reason
        for name, estimate in found.items()
        if estimate.is_defined and not estimate.ci and estimate.reason
    }
    return {
        **values,
        **({"ci": intervals} if intervals else {}),
        **({"ci_reason": without} if without else {}),
    }


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
