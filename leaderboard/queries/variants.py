"""Beside the global coefficients: averages within dialogues and systems, accuracies of pairs, and
split halves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from common.estimates import Estimate
from leaderboard.answers.metrics import Averages, Coefficients, TieCalibratedAccuracy
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.human_scores import (
    HumanSide,
    placed_dialogue_scores,
    placed_human,
    placed_metrics,
)
from leaderboard.queries.level_scores import level_scores
from leaderboard.statistics.correlation.grouped import (
    GroupedCorrelation,
    within_dialogues,
    within_systems,
)
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.levels import MetricCorrelation
from leaderboard.statistics.correlation.pairwise_accuracy import (
    pairwise_accuracy,
    pairwise_accuracy_over_dialogues,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores, system_sums
from leaderboard.statistics.correlation.reliability import (
    NO_TAU,
    corrected_for_unreliability,
    split_half,
)
from leaderboard.statistics.correlation.soft_pairwise_accuracy import (
    NO_DIALOGUES,
    soft_pairwise_accuracies,
)
from leaderboard.statistics.correlation.tie_calibrated_accuracy import tie_calibrated_accuracies

NESTED = "every system has dialogues of its own, so none compares two systems"
Variants = dict[int, dict[str, Any]]
"""By the metric's row: fields of its ``CorrelationRow`` besides."""


def variants_of_level(
    level: CeilingLevel, human: HumanSide, scores: MetricScores, resamples: int, seed: int
) -> Variants:
    """At turn and dialogue level ``per_dialogue`` and ``per_system``, at turn level ``per_input``
    and ``tie_calibrated_accuracy``, at system level ``pairwise_accuracy`` and
    ``soft_pairwise_accuracy``."""
    if level == "system":
        return _accuracies_of_systems(human, scores, resamples, seed)
    found = level_scores(level, human, scores)
    if found is None:
        return {}
    lists, intervals = (found.human, found.metrics, found.dialogue), resamples > 0
    grouped = {
        "per_dialogue": within_dialogues(*lists, intervals=intervals),
        "per_system": within_systems(*lists, found.system, intervals=intervals),
    }
    if found.turn is not None:
        grouped["per_input"] = within_dialogues(*lists, found.turn, intervals=intervals)
    # Where no dialogue has two systems, no group of a turn, or of a dialogue's systems, has two
    # scores.
    apart = (
        {"per_input", *(("per_dialogue",) if level == "dialogue" else ())}
        if _is_nested(human)
        else set()
    )
    documents: Variants = {
        row: {name: _grouped(results[place], name in apart) for name, results in grouped.items()}
        for place, row in enumerate(found.rows)
    }
    if found.turn is not None:
        better = [scores.configurations[row].higher_is_better for row in found.rows]
        calibrated = tie_calibrated_accuracies(
            found.human,
            found.metrics,
            found.turn,
            found.dialogue if intervals else None,
            better,
            seed,
        )
        for row, one in zip(found.rows, calibrated, strict=True):
            accuracy = one.accuracy
            if _is_nested(human) and not accuracy.is_defined:
                accuracy = Estimate.undefined(NESTED)
            documents[row]["tie_calibrated_accuracy"] = TieCalibratedAccuracy(
                accuracy, one.epsilon, one.groups, one.pairs
            )
    return documents


def _is_nested(human: HumanSide) -> bool:
    return human.design.kind == "nested"


def _grouped(one: GroupedCorrelation, apart: bool) -> Averages:
    estimates = {
        name: Estimate.undefined(NESTED) if apart else estimate
        for name, estimate in one.estimates.items()
    }
    return Averages(**estimates, groups=one.groups, defined=one.defined)


def _accuracies_of_systems(
    human: HumanSide, scores: MetricScores, resamples: int, seed: int
) -> Variants:
    items = human.at("system")
    if items is None:
        return {}
    people, systems = placed_human(items), len(human.systems)
    documents: Variants = {}
    for finest, placed in (("turn", placed_metrics), ("dialogue", placed_dialogue_scores)):
        if not (rows := scores.rows_of("turn" if finest == "turn" else "dialogue")):
            continue
        lists = placed(human, scores.select(rows))
        better = [scores.configurations[row].higher_is_better for row in rows]
        soft = soft_pairwise_accuracies(people, lists, systems, better, max(resamples, 1), seed)
        for place, row in enumerate(rows):
            one = PlacedScores(lists.scores[place], lists.system, lists.dialogue)
            hard = _pairwise(people, one, systems, better[place], resamples, seed)
            documents[row] = {
                "pairwise_accuracy": hard,
                "soft_pairwise_accuracy": soft[place],
            }
    means = system_sums(
        people.scores[0], people.system, people.dialogue, systems, _dialogues(people)
    ).means()
    for row in scores.rows_of("system"):
        hard = pairwise_accuracy(
            means, scores.system[row], scores.configurations[row].higher_is_better
        )
        documents[row] = {
            "pairwise_accuracy": hard,
            "soft_pairwise_accuracy": Estimate.undefined(NO_DIALOGUES),
        }
    return documents


def _pairwise(
    people: PlacedScores,
    metric: PlacedScores,
    systems: int,
    better: bool,
    resamples: int,
    seed: int,
) -> Estimate:
    found = pairwise_accuracy_over_dialogues(
        people, metric, systems, better, max(resamples, 1), seed
    )
    return found if resamples or found.value is None else Estimate(found.value)


def _dialogues(people: PlacedScores) -> int:
    return int(people.dialogue.max()) + 1 if len(people.dialogue) else 1


# --- split halves ---------------------------------------------------------------------------------


def split_halves(
    human: HumanSide, levels: Sequence[CeilingLevel], resamples: int, seed: int
) -> dict[CeilingLevel, dict[str, Estimate]]:
    """The reliability of the human means at each level at which people rated."""
    found: dict[CeilingLevel, dict[str, Estimate]] = {}
    for level in levels:
        if (items := human.at(level)) is not None:
            found[level] = split_half(
                items.matrix, items.system, (level,), seed=seed, intervals=resamples > 0
            )[level]
    return found


def corrected(
    correlation: MetricCorrelation, reliability: dict[str, Estimate], of_the_limit: Collection[str]
) -> Coefficients:
    """``attenuation_corrected`` of one metric at one level. ``of_the_limit``: coefficients whose
    intervals speak of the limit of many dialogues."""
    r, rho = correlation.pearson, correlation.spearman
    return Coefficients(
        pearson=corrected_for_unreliability(r, reliability["pearson"], "pearson" in of_the_limit),
        spearman=corrected_for_unreliability(
            rho, reliability["spearman"], "spearman" in of_the_limit
        ),
        kendall=Estimate.undefined(NO_TAU),
    )
