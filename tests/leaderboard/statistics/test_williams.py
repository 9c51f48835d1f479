import json
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics.significance.williams import williams_of_correlations, williams_test

CASE = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())[
    "williams"
]


def test_t_and_p_are_those_of_the_worked_example():
    found = williams_of_correlations(CASE["first"], CASE["second"], CASE["between"], CASE["n"])
    assert found.t == pytest.approx(CASE["t"], abs=5e-5)
    assert found.difference.p == pytest.approx(CASE["p"], abs=5e-5)
    assert (found.degrees_of_freedom, found.between) == (100, 0.1)


def test_p_is_that_of_mt_metrics_eval():
    """mt_metrics_eval/stats_test.py at 0b82d96b, WilliamsSigDiffTest.testSigDiff: one-sided p
    0.019."""
    found = williams_test([1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5], "greater")
    assert found.difference.p == pytest.approx(0.019, abs=5e-4)


def test_t_by_hand():
    # n = 7, r = 0.6, 0.2 and 0.5: D = 1 − 0.36 − 0.04 − 0.25 + 2·0.6·0.2·0.5 = 0.47; r̄ = 0.4, (1 −
    # 0.5)³ = 0.125; t = 0.4 · √(6 · 1.5 / (2 · 6/4 · 0.47 + 0.16 · 0.125)) = 0.4 · √(9 / 1.43) =
    # 1.00349.
    found = williams_of_correlations(0.6, 0.2, 0.5, 7)
    assert found.t == pytest.approx(1.003490, abs=1e-5)
    assert found.difference.value == pytest.approx(0.4)


def test_scores_give_what_their_correlations_give():
    random = np.random.default_rng(1)
    human = random.normal(size=30)
    first, second = human + random.normal(size=(2, 30))
    r = np.corrcoef([human, first, second])
    expected = williams_of_correlations(r[0, 1], r[0, 2], r[1, 2], 30)
    found = williams_test(np.append(human, 1.0), np.append(first, np.nan), np.append(second, 2.0))
    assert found.t == pytest.approx(expected.t)
    assert found.difference.p == pytest.approx(expected.difference.p)


def test_greater_is_half_of_two_sided_where_the_first_is_better():
    both, greater = (
        williams_of_correlations(0.6, 0.2, 0.5, 7, how).difference.p
        for how in ("two-sided", "greater")
    )
    assert greater == pytest.approx(both / 2)
    assert williams_of_correlations(0.2, 0.6, 0.5, 7, "greater").difference.p == pytest.approx(
        1 - both / 2
    )


@pytest.mark.parametrize(
    ("human", "first", "second", "reason"),
    [
        ([1, 2, 3], [1, 2, 4], [2, 1, 3], "at least 4 pairs"),
        ([1, 1, 1, 1], [1, 2, 4, 3], [2, 1, 3, 4], "all human scores are equal"),
        ([1, 2, 3, 4], [5, 5, 5, 5], [2, 1, 3, 4], "all metric scores are equal"),
        ([1, 2, 3, 4], [1, 2, 4, 3], [10, 20, 40, 30], "on one line"),
    ],
)
def test_what_cannot_be_tested_says_why(human, first, second, reason):
    found = williams_test(human, first, second)
    assert (found.t, found.difference.value) == (None, None)
    assert reason in found.difference.reason
