"""Which items make the difference of two correlations, against the coefficients themselves and by
hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from common.estimates import Undefined
from leaderboard.statistics.significance.driving_items import driving_items


def test_the_shares_sum_to_the_difference_of_the_two_correlations() -> None:
    random = np.random.default_rng(5)
    human, first, second = random.normal(size=(3, 40))
    first = first + human
    found = driving_items(human, first, second, top=40)
    assert not isinstance(found, Undefined)
    expected = stats.pearsonr(first, human).statistic - stats.pearsonr(second, human).statistic
    assert found.difference == pytest.approx(expected, abs=1e-10)
    assert sum(one.share for one in (*found.first_nearer, *found.second_nearer)) == pytest.approx(
        expected, abs=1e-10
    )
    assert found.first_nearer_in + found.second_nearer_in == 40


def test_the_item_that_one_metric_gets_wrong_comes_first() -> None:
    """The metrics are people's scores, but the second turns items 1 and 2 round."""
    human = np.array([1.0, 2.0, 4.0, 5.0])
    found = driving_items(human, human, np.array([1.0, 4.0, 2.0, 5.0]), top=4)
    assert not isinstance(found, Undefined)
    assert [one.item for one in found.first_nearer] == [1, 2]
    assert found.second_nearer == ()
    # z of people: ∓2, ∓1 over √2.5; the second is 2 / √2.5 off at either item: ½ · 1.6 / 4 = 0.2
    # each.
    assert [one.share for one in found.first_nearer] == pytest.approx([0.2, 0.2])
    assert found.difference == pytest.approx(0.4)  # r = 1 and (4 + 4 − 1 − 1) / 10 = 0.6


def test_items_without_one_of_the_scores_are_left_out_and_keep_their_places() -> None:
    human = np.array([np.nan, 1.0, 2.0, 4.0, 5.0])
    found = driving_items(human, human, np.array([9.0, 1.0, 4.0, 2.0, 5.0]), top=1)
    assert not isinstance(found, Undefined)
    assert (found.n, found.first_nearer[0].item) == (4, 2)


@pytest.mark.parametrize(
    ("human", "first", "second", "reason"),
    [
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0], "all human scores are equal"),
        (
            [1.0, 2.0, 3.0],
            [0.3, 0.3, 0.3],
            [1.0, 2.0, 4.0],
            "all scores of the first metric are equal",
        ),
        (
            [1.0, 2.0, 3.0],
            [1.0, 2.0, 4.0],
            [7.0, 7.0, 7.0],
            "all scores of the second metric are equal",
        ),
        ([1.0, 2.0], [1.0, 2.0], [2.0, 1.0], "there are 2"),
        ([], [], [], "there are 0"),
    ],
)
def test_without_spread_or_items_it_is_undefined(human, first, second, reason) -> None:
    found = driving_items(np.array(human), np.array(first), np.array(second), top=3)
    assert isinstance(found, Undefined)
    assert reason in found.reason
