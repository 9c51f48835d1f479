"""Every test of the difference of two metrics, level by level: what ``manage.py compare``
prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.comparisons import (
    aligned,
    default_test,
    method_text,
    population_text,
    rated_systems,
    upright,
)
from leaderboard.queries.defaults import SEED
from leaderboard.queries.human_scores import HumanSide, human_side
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import NAMED, chosen_systems, resolve_choice
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import FloatArray, PlacedScores
from leaderboard.statistics.significance.all_pairs import (
    PairTests,
    all_pairs_of_systems,
    correlation_of_means,
    means_of,
)
from leaderboard.statistics.significance.clustered import (
    Population,
    clustered_pairs_of_items,
    clustered_pairs_of_systems,
)
from leaderboard.statistics.significance.permutation import (
    NAMES,
    Coefficient,
    Swapped,
    permutation_test,
)
from leaderboard.statistics.significance.williams import williams_test
from workers.metrics.common.configuration import Configuration

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
TEST_NAMES: dict[Swapped, str] = {
    "systems": "perm-sys",
    "dialogues": "perm-input",
    "both": "perm-both",
}
NO_P = "a swap leaves nothing to correlate, or the metrics share too few scores"


def pair_tests(
    version: CorpusVersion,
    aspect: str,
    metrics: Sequence[Configuration | str],
    levels: Sequence[CeilingLevel],
    coefficients: Sequence[Coefficient] = COEFFICIENTS,
    systems: Sequence[System] | None = None,
    *,
    permutations: int = 1000,
    seed: int = SEED,
    systems_chosen: str = NAMED,
) -> dict[str, Any]:
    """``levels``: ``[{"level", "n", "coefficient", "first", "second", "difference", "tests": {test:
    p}, "advised"}]``.

    Correlations are of what both metrics scored, with metrics whose low scores are good turned
    round. ``tests`` holds estimates whose value is p, or which say why there is none: perm-sys,
    perm-input, perm-both; for Pearson's r also jackknife-dialogues and jackknife-both, at system
    level williams. ``advised`` is the one that keeps its level.
    """
    if systems is None:
        systems_chosen = resolve_choice(version)
        systems = chosen_systems(version, systems_chosen)
    chosen = list(systems)
    human = human_side(version, aspect, chosen)
    scores = upright(chosen_metrics(compared_scores(version, chosen, human.order), metrics))
    rows = []
    for level in levels:
        rows += _rows(human, scores, level, coefficients, permutations, seed)
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "systems": [system.name for system in chosen],
        "systems_chosen": systems_chosen,
        "design": human.design.kind,
        "metrics": list(scores.texts),
        "permutations": permutations,
        "seed": seed,
        "rows": rows,
    }


def _rows(
    human: HumanSide,
    scores: MetricScores,
    level: CeilingLevel,
    coefficients: Sequence[Coefficient],
    permutations: int,
    seed: int,
) -> list[dict[str, Any]]:
    found = aligned(level, human, scores)
    if found is None:
        return [
            _undefined(level, name, f"nobody rated at the {level} level") for name in coefficients
        ]
    rows, people, placed, of_systems = found
    if len(rows) < 2:
        return [
            _undefined(level, name, f"one of the two has no scores at the {level} level")
            for name in coefficients
        ]
    turned = rows[0] != 0  # metrics of systems only come last
    advised = default_test(level, rated_systems(human, level))
    documents = []
    for name in coefficients:
        if level == "system":
            document = _of_systems(
                people, placed, of_systems, len(human.systems), name, permutations, seed
            )
        else:
            document = _of_items(people, placed, name, permutations, seed)
        if turned:
            _turn(document)
        document["level"], document["coefficient"] = level, name
        if name == "pearson" or advised == "perm-sys":
            document["advised"] = advised
            document["method"] = method_text(advised, level)
            document["population"] = population_text(advised, rated_systems(human, level))
        documents.append(document)
    return documents


def _of_items(
    people: PlacedScores,
    metrics: PlacedScores,
    coefficient: Coefficient,
    permutations: int,
    seed: int,
) -> dict[str, Any]:
    one, other = metrics.scores
    tests: dict[str, Any] = {}
    estimates: list[Estimate] = []
    for swapped in NAMES:
        found = permutation_test(
            people.scores[0],
            one,
            other,
            metrics.system,
            metrics.dialogue,
            "item",
            coefficient,
            permutations=permutations,
            seed=seed,
            swapped=swapped,
        )
        estimates = [found.first, found.second, found.difference]
        tests[TEST_NAMES[swapped]] = _p(found.difference.p, found.difference.reason)
    if coefficient == "pearson":
        populations: tuple[Population, ...] = ("dialogues", "both")
        for population in populations:
            clustered = clustered_pairs_of_items(
                people.scores[0], metrics.scores, metrics.system, metrics.dialogue, population
            )
            tests[f"jackknife-{population}"] = _p(_first(clustered.p), NO_P)
    n = int((np.isfinite(people.scores[0]) & np.isfinite(one) & np.isfinite(other)).sum())
    return {"n": n, **_correlations(estimates), "tests": tests}


def _of_systems(
    people: PlacedScores,
    metrics: PlacedScores,
    of_systems: FloatArray | None,
    systems: int,
    coefficient: Coefficient,
    permutations: int,
    seed: int,
) -> dict[str, Any]:
    tests: dict[str, Any] = {}
    found: PairTests | None = None
    for swapped in NAMES:
        if of_systems is not None and swapped != "systems":
            reason = "one of the two has scores of systems only: no dialogue of it can be swapped"
            tests[TEST_NAMES[swapped]] = Estimate.undefined(reason).as_json()
            continue
        found = all_pairs_of_systems(
            people, metrics, systems, of_systems, [coefficient], permutations, seed, swapped
        )[coefficient]
        tests[TEST_NAMES[swapped]] = _p(
            _first(found.p), found.alone[0].reason or found.alone[1].reason or NO_P
        )
    assert found is not None
    both = np.isfinite(metrics.scores).all(axis=0)
    human_means = means_of(people.scores[0], np.isfinite(people.scores[0]), people.system, systems)[
        0
    ]
    means = [
        means_of(row, both & np.isfinite(row), metrics.system, systems)[0] for row in metrics.scores
    ]
    means += [] if of_systems is None else list(of_systems)
    if coefficient == "pearson":
        clustered = clustered_pairs_of_systems(people, metrics, systems, of_systems)
        tests["jackknife-dialogues"] = _p(_first(clustered.p), NO_P)
        williams = williams_test(human_means, *means)
        tests["williams"] = _p(williams.difference.p, williams.difference.reason)
    points = [correlation_of_means(human_means, row)[coefficient] for row in means]
    difference = _first(found.difference)
    estimate = Estimate.undefined(NO_P) if difference is None else Estimate(difference)
    n = int(np.isfinite(np.array([human_means, *means])).all(axis=0).sum())
    return {"n": n, **_correlations([*points, estimate]), "tests": tests}


def _correlations(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """Without p: it stands under the tests."""
    plain = [Estimate(one.value, reason=one.reason) if one.is_defined else one for one in estimates]
    return dict(
        zip(("first", "second", "difference"), (one.as_json() for one in plain), strict=True)
    )


def _turn(document: dict[str, Any]) -> None:
    """The two metrics were compared in the other order than they were asked for."""
    document["first"], document["second"] = document["second"], document["first"]
    if document["difference"]["value"] is not None:
        document["difference"]["value"] *= -1


def _first(values: FloatArray) -> float | None:
    return float(values[0]) if len(values) and np.isfinite(values[0]) else None


def _p(p: float | None, reason: str) -> dict[str, Any]:
    return (Estimate(p) if p is not None else Estimate.undefined(reason or NO_P)).as_json()


def _undefined(level: CeilingLevel, coefficient: Coefficient, reason: str) -> dict[str, Any]:
    nothing = Estimate.undefined(reason).as_json()
    return {
        "n": 0,
        "first": nothing,
        "second": nothing,
        "difference": nothing,
        "tests": {},
        "level": level,
        "coefficient": coefficient,
    }
