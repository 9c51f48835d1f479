"""Every test of the difference of two metrics, and which of them keeps its level."""

from __future__ import annotations

from typing import Any

import numpy as np

from common.estimates import Estimate
from leaderboard.queries.comparisons import default_test, method_text, population_text
from leaderboard.queries.defaults import SEED
from leaderboard.queries.metric_pair_items import Common, means_of
from leaderboard.queries.pair_tests import NO_P, TEST_NAMES
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray, PlacedScores
from leaderboard.statistics.significance.clustered import (
    Population,
    clustered_pairs_of_items,
    clustered_pairs_of_systems,
)
from leaderboard.statistics.significance.permutation import (
    Coefficient,
    Swapped,
    permutation_test,
    swap_tests,
)
from leaderboard.statistics.significance.williams import williams_test

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
PERMUTATIONS = 1000
MOST_RERANKED = 1000
"""Items: ranks are made anew in each swap, and τ-b compares all pairs."""
TOO_MANY = (
    f"of more than {MOST_RERANKED:,} items ranks are not recomputed for every swap: it would take "
    "too long"
)
NO_DIALOGUES = "one of the two has no scores of single dialogues that could be swapped"
POPULATIONS: tuple[Population, ...] = ("dialogues", "both")
Tests = dict[str, dict[str, dict[str, Any]]]
"""``{coefficient: {test: an estimate whose value is p, as JSON}}``, the tests named as ``manage.py
compare`` names them."""


def advised(found: Common, level: CeilingLevel) -> dict[str, str]:
    """The test that keeps its level with so many systems, in words, too, and of what it speaks."""
    systems = int(found.system.max()) + 1
    test = default_test(level, systems)
    return {
        "advised": test,
        "method": method_text(test, level),
        "population": population_text(test, systems),
    }


Arrays = tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]
"""People, first, second, system, dialogue: (n,) each."""


def _arrays(found: Common) -> Arrays:
    return found.human, found.metrics[0], found.metrics[1], found.system, found.dialogue


def item_tests(found: Common) -> Tests:
    arrays = _arrays(found)
    tests: Tests = {name: {} for name in COEFFICIENTS}
    for swapped, called in TEST_NAMES.items():
        if reason := _nothing_to_swap(found.system, found.dialogue, swapped):
            for name in COEFFICIENTS:
                tests[name][called] = Estimate.undefined(reason).as_json()
        elif len(found.human) <= MOST_RERANKED:
            tested = swap_tests(*arrays, swapped, PERMUTATIONS, SEED)
            for name in COEFFICIENTS:
                tests[name][called] = _p_of(tested[name])
        else:
            test = permutation_test(
                *arrays, "item", permutations=PERMUTATIONS, seed=SEED, swapped=swapped
            )
            tests["pearson"][called] = _p_of(test.difference)
            for unranked in COEFFICIENTS[1:]:
                tests[unranked][called] = Estimate.undefined(TOO_MANY).as_json()
    for population in POPULATIONS:
        clustered = clustered_pairs_of_items(
            found.human, found.metrics, found.system, found.dialogue, population
        )
        tests["pearson"][f"jackknife-{population}"] = _p_or_why(clustered.p)
    return tests


def system_tests(found: Common) -> Tests:
    tests: Tests = {name: _swaps_of_systems(found, name) for name in COEFFICIENTS}
    systems = int(found.system.max()) + 1
    rows = [row for row, given in enumerate(found.fixed) if given is None]
    fixed = [given for given in found.fixed if given is not None]
    clustered = clustered_pairs_of_systems(
        PlacedScores(found.human, found.system, found.dialogue),
        PlacedScores(found.metrics[rows], found.system, found.dialogue),
        systems,
        np.array(fixed) if fixed else None,
    )
    tests["pearson"]["jackknife-dialogues"] = _p_or_why(clustered.p)
    williams = williams_test(*means_of(found))
    tests["pearson"]["williams"] = _p_of(williams.difference)
    return tests


def _swaps_of_systems(found: Common, coefficient: Coefficient) -> dict[str, dict[str, Any]]:
    if all(given is None for given in found.fixed):
        arrays = _arrays(found)
        return {
            called: _system_test(arrays, coefficient, swapped)
            for swapped, called in TEST_NAMES.items()
        }
    people, first, second = means_of(found)
    number = np.arange(len(people))
    whole = (people, first, second, number, np.zeros_like(number))
    nothing = Estimate.undefined(NO_DIALOGUES).as_json()
    return dict.fromkeys(TEST_NAMES.values(), nothing) | {
        "perm-sys": _system_test(whole, coefficient, "systems")
    }


def _p_or_why(p: FloatArray) -> dict[str, Any]:
    known = len(p) > 0 and np.isfinite(p[0])
    return (Estimate(float(p[0])) if known else Estimate.undefined(NO_P)).as_json()


def _system_test(arrays: Arrays, coefficient: Coefficient, swapped: Swapped) -> dict[str, Any]:
    if reason := _nothing_to_swap(arrays[3], arrays[4], swapped):
        return Estimate.undefined(reason).as_json()
    test = permutation_test(
        *arrays, "system", coefficient, "two-sided", PERMUTATIONS, SEED, swapped
    )
    return _p_of(test.difference)


def _nothing_to_swap(system: IntArray, dialogue: IntArray, swapped: Swapped) -> str:
    groups = {"systems": len(np.unique(system)), "dialogues": len(np.unique(dialogue))}
    groups["both"] = max(groups.values())
    return (
        f"there is one of the {swapped} only: nothing can be swapped" if groups[swapped] < 2 else ""
    )


def _p_of(tested: Estimate) -> dict[str, Any]:
    """The test's p as an estimate of its own."""
    if tested.p is None:
        return Estimate.undefined(tested.reason or "the test has no p").as_json()
    return Estimate(tested.p).as_json()
