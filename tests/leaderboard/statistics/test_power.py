import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from common.correlation.identical import IDENTICAL_DIALOGUES, NO_ENDS
from leaderboard.statistics.significance.power import (
    dialogues_for,
    needed_to_separate,
    power_of,
    ratings_for,
)

CASE = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())[
    "paired_t_power"
]


@pytest.mark.parametrize("case", CASE["cases"])
def test_dialogues_and_power_are_those_of_statsmodels(case):
    assert dialogues_for(case["effect"], 1.0) == int(np.ceil(case["n"]))
    # statsmodels counts the other tail, too: at these effects it holds less than a thousandth.
    assert power_of(case["effect"], 1.0 / 20, 20) == pytest.approx(case["power_at_20"], abs=3e-3)


def test_the_dialogues_it_asks_for_are_enough_and_fewer_are_not():
    """4,000 simulated paired tests; the standard error of a share of 80 % is 0.6 %."""
    random = np.random.default_rng(0)
    difference, variance = 0.3, 0.6
    needed = dialogues_for(difference, variance)
    for dialogues, low, high in ((needed, 0.78, 0.83), (needed // 2, 0.0, 0.6)):
        drawn = random.normal(difference, np.sqrt(variance), size=(4000, dialogues))
        assert low < (stats.ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05).mean() < high


def test_more_ratings_take_the_raters_part_of_the_variance_away():
    # Between dialogues 0.2, one rating an item adds 1.2. With k ratings: variance 0.2 + 1.2 / k.
    found = ratings_for(0.5, 0.2, 1.2, dialogues=12)
    assert (
        power_of(0.5, (0.2 + 1.2 / found) / 12, 12)
        >= 0.8
        > power_of(0.5, (0.2 + 1.2 / (found - 1)) / 12, 12)
    )


def test_a_pair_s_answer_from_its_dialogues():
    first = np.array([3.0, 4.0, 3.5, 4.5, np.nan])
    second = np.array([2.5, 3.8, 3.4, 3.9, 2.0])
    found = needed_to_separate(first, second, rater_variance=0.1, ratings=2.0)
    differences = np.array([0.5, 0.2, 0.1, 0.6])
    assert (found.dialogues, found.difference) == (4, pytest.approx(0.35))
    assert found.dialogues_needed == dialogues_for(0.35, differences.var(ddof=1))
    assert found.ratings_needed == ratings_for(0.35, differences.var(ddof=1) - 0.05, 0.1, 4)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([1.0, 2.0], [2.0, 3.0], "at least 3 dialogues"),
        ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], "the same mean"),
        ([1.0, 2.0, 3.0], [1.5, 3.0, 2.0], "not known one by one"),
        ([], [], "at least 3 dialogues"),
    ],
)
def test_what_cannot_be_said_says_why(first, second, reason):
    found = needed_to_separate(np.array(first), np.array(second))
    assert found.ratings_needed is None
    assert reason in found.reason


def test_dialogues_that_differ_too_much_are_not_helped_by_ratings():
    found = needed_to_separate(
        np.array([1.0, 5.0, 1.0, 5.2]), np.array([5.0, 1.0, 5.0, 1.0]), 0.01, 3.0
    )
    assert found.ratings_needed is None
    assert "no number of ratings is enough with 4 dialogues" in found.reason
    assert found.dialogues_needed > 4


def test_few_dialogues_that_differ_alike_may_do_so_by_chance():
    found = needed_to_separate(np.full(3, 3.0), np.full(3, 2.0), 0.01, 3.0)
    assert (found.difference, found.dialogues_needed, found.ratings_needed) == (1.0, None, None)
    assert found.reason == IDENTICAL_DIALOGUES


def test_ten_dialogues_that_differ_alike_show_no_spread_to_plan_by():
    found = needed_to_separate(np.arange(10.0) + 1, np.arange(10.0))
    assert (found.difference, found.dialogues_needed, found.reason) == (1.0, None, NO_ENDS)
