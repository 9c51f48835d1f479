"""The difference of two correlations: its value against scipy, its interval against draws that are
written down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.significance.correlation_difference import (
    difference_over_items,
    difference_over_systems,
)

RANDOM = np.random.default_rng(11)
DIALOGUE = np.repeat(np.arange(8), 5)
SYSTEM = np.tile(np.arange(5), 8)
HUMAN = RANDOM.normal(size=40) + SYSTEM
FIRST = HUMAN + RANDOM.normal(size=40)
SECOND = HUMAN + 3 * RANDOM.normal(size=40)


def without_each_dialogue() -> list[float]:
    """The difference with each dialogue left out, written down."""
    found = []
    for left_out in range(8):
        rows = left_out != DIALOGUE
        found.append(
            stats.pearsonr(HUMAN[rows], FIRST[rows]).statistic
            - stats.pearsonr(HUMAN[rows], SECOND[rows]).statistic
        )
    return found


def test_value_and_interval_are_those_of_the_dialogues_left_out_one_by_one() -> None:
    """se² = 7/8 · Σ (θ₍ᵢ₎ − mean)²; the interval is θ ± t(7) · se."""
    found = difference_over_items(HUMAN, FIRST, SECOND, DIALOGUE)
    value = stats.pearsonr(HUMAN, FIRST).statistic - stats.pearsonr(HUMAN, SECOND).statistic
    assert found["pearson"].value == pytest.approx(value)
    assert found["kendall"].value == pytest.approx(
        stats.kendalltau(HUMAN, FIRST).statistic - stats.kendalltau(HUMAN, SECOND).statistic
    )
    without = np.array(without_each_dialogue())
    reach = stats.t.ppf(0.975, 7) * np.sqrt(7 / 8 * np.square(without - without.mean()).sum())
    assert found["pearson"].ci == pytest.approx((value - reach, value + reach))


def test_a_metric_does_not_differ_from_itself() -> None:
    found = difference_over_items(HUMAN, FIRST, 2 * FIRST + 1, DIALOGUE)
    assert found["spearman"].value == 0
    assert "agree to the digit" in found["spearman"].reason  # eight dialogues


def means(scores: np.ndarray) -> list[float]:
    return [float(scores[one == SYSTEM].mean()) for one in range(5)]


def test_over_systems_the_means_are_compared() -> None:
    found = difference_over_systems(HUMAN, (FIRST, SECOND), SYSTEM, DIALOGUE)
    expected = (
        stats.pearsonr(means(HUMAN), means(FIRST)).statistic
        - stats.pearsonr(means(HUMAN), means(SECOND)).statistic
    )
    assert found["pearson"].value == pytest.approx(expected)
    assert found["pearson"].ci is not None
    assert found["spearman"].ci is None
    assert "steps" in found["spearman"].reason


def test_a_metric_of_whole_systems_keeps_its_scores() -> None:
    fixed = np.array([5.0, 3.0, 4.0, 1.0, 2.0])
    found = difference_over_systems(HUMAN, (FIRST, FIRST), SYSTEM, DIALOGUE, (None, fixed))
    expected = (
        stats.pearsonr(means(HUMAN), means(FIRST)).statistic
        - stats.pearsonr(means(HUMAN), fixed).statistic
    )
    assert found["pearson"].value == pytest.approx(expected)
    assert found["pearson"].ci is not None


def test_one_dialogue_has_no_interval_and_a_constant_metric_no_difference() -> None:
    one = difference_over_items(HUMAN, FIRST, SECOND, np.zeros(40, dtype=np.int64))
    assert one["pearson"].ci is None
    assert "at least 2 dialogues" in one["pearson"].reason
    constant = difference_over_items(HUMAN, np.ones(40), SECOND, DIALOGUE)
    assert constant["pearson"].value is None
    assert constant["pearson"].reason
