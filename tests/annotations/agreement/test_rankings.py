"""Kendall's W and mean τ-b: worked arithmetic, scipy, and where they are undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, kendalltau

from annotations.agreement.intervals import Jackknife
from annotations.agreement.rankings import kendall_w, mean_tau, ranking_agreement


def ranks(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_w_of_three_raters() -> None:
    # Sums 4, 6, 8; S = 4 + 0 + 4; W = 12 · 8 / (9 · 24)
    assert kendall_w(ranks([1, 2, 3], [1, 3, 2], [2, 1, 3])) == pytest.approx(96 / 216, abs=1e-12)


def test_w_counts_ties_out() -> None:
    # Midranks (1.5, 1.5, 3), (1, 2, 3): sums 2.5, 3.5, 6, S = 6.5; T = 6 of one rater;
    # W = 12 · 6.5 / (4 · 24 − 2 · 6)
    assert kendall_w(ranks([1, 1, 3], [1, 2, 3])) == pytest.approx(78 / 84, abs=1e-12)


def test_w_is_1_where_all_agree_with_the_same_ties() -> None:
    assert kendall_w(ranks([1, 1, 3, 4], [5, 5, 7, 9])) == pytest.approx(1.0, abs=1e-12)


def test_w_is_friedmans_statistic_over_its_largest_value() -> None:
    random = np.random.default_rng(4)
    given = random.integers(1, 5, (6, 5)).astype(np.float64)  # with many ties
    statistic = friedmanchisquare(*given.T).statistic
    assert kendall_w(given) == pytest.approx(statistic / (6 * (5 - 1)), abs=1e-12)


def test_mean_tau_is_scipys_over_pairs() -> None:
    random = np.random.default_rng(5)
    given = random.integers(1, 4, (4, 6)).astype(np.float64)
    expected = np.mean(
        [kendalltau(given[i], given[j]).statistic for i in range(4) for j in range(i)]
    )
    assert mean_tau(given) == pytest.approx(expected, abs=1e-12)


def test_a_rater_who_ties_everything_has_no_tau() -> None:
    assert mean_tau(ranks([1, 1, 1], [1, 2, 3], [1, 3, 2])) == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.parametrize("given", [ranks([1, 2, 3]), ranks([1, 1], [2, 2]), ranks([1], [1])])
def test_undefined(given: np.ndarray) -> None:
    assert math.isnan(kendall_w(given))
    assert math.isnan(mean_tau(given))


def test_items_count_once_each_whatever_their_raters() -> None:
    agreeing, opposed = ranks([1, 2], [1, 2], [1, 2]), ranks([1, 2], [2, 1])
    found = ranking_agreement([agreeing, opposed], np.array([0, 1]), Jackknife.over(2))
    assert found.mean_tau.value == pytest.approx((1 - 1) / 2)
    assert found.kendall_w.value == pytest.approx((1 + 0) / 2)
    assert found.items == 2


def test_a_dialogue_that_is_left_out_takes_all_its_items() -> None:
    agreeing, opposed = ranks([1, 2], [1, 2]), ranks([1, 2], [2, 1])
    items, dialogue = [agreeing, opposed, agreeing], np.array([0, 0, 1])
    found = ranking_agreement(items, dialogue, Jackknife.over(2)).kendall_w
    # W without each dialogue: 1 and .5; t(1, .975) · √(½ · 2 · .25²), cut at 1
    assert found.value == pytest.approx(2 / 3)
    assert found.ci == (pytest.approx(-1.0), 1.0)


def test_no_item_has_two_rankings() -> None:
    found = ranking_agreement([ranks([1, 2])], np.array([0]), Jackknife.over(1))
    assert found.mean_tau.reason == "no item has two rankings that are not all ties"
