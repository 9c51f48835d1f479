"""The difference of two correlations: its value against scipy, its interval against draws that are written down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotations.correlation import cluster_resamples
from leaderboard.statistics.correlation_difference import difference_over_items, difference_over_systems

RANDOM = np.random.default_rng(11)
DIALOGUE = np.repeat(np.arange(8), 5)
SYSTEM = np.tile(np.arange(5), 8)
HUMAN = RANDOM.normal(size=40) + SYSTEM
FIRST = HUMAN + RANDOM.normal(size=40)
SECOND = HUMAN + 3 * RANDOM.normal(size=40)


def drawn_differences(resamples: int) -> list[float]:
    """Every resample written out, with its dialogues repeated."""
    found = []
    for weights in cluster_resamples(8, resamples, 3):
        rows = np.concatenate([np.flatnonzero(DIALOGUE == one) for one in np.repeat(np.arange(8), weights)])
        found.append(
            stats.pearsonr(HUMAN[rows], FIRST[rows]).statistic - stats.pearsonr(HUMAN[rows], SECOND[rows]).statistic
        )
    return found


def test_value_and_interval_are_those_of_the_draws_written_down() -> None:
    found = difference_over_items(HUMAN, FIRST, SECOND, DIALOGUE, resamples=200, seed=3)
    assert found["pearson"].value == pytest.approx(
        stats.pearsonr(HUMAN, FIRST).statistic - stats.pearsonr(HUMAN, SECOND).statistic
    )
    assert found["kendall"].value == pytest.approx(
        stats.kendalltau(HUMAN, FIRST).statistic - stats.kendalltau(HUMAN, SECOND).statistic
    )
    assert found["pearson"].ci == pytest.approx(tuple(np.percentile(drawn_differences(200), [2.5, 97.5])))


def test_a_metric_does_not_differ_from_itself() -> None:
    found = difference_over_items(HUMAN, FIRST, 2 * FIRST + 1, DIALOGUE, resamples=50, seed=3)
    assert found["spearman"].value == 0
    assert found["spearman"].ci == pytest.approx((0, 0))


def means(scores: np.ndarray) -> list[float]:
    return [float(scores[SYSTEM == one].mean()) for one in range(5)]


def test_over_systems_the_means_are_compared() -> None:
    found = difference_over_systems(HUMAN, (FIRST, SECOND), SYSTEM, DIALOGUE, resamples=100, seed=3)
    expected = (
        stats.pearsonr(means(HUMAN), means(FIRST)).statistic - stats.pearsonr(means(HUMAN), means(SECOND)).statistic
    )
    assert found["pearson"].value == pytest.approx(expected)
    low, high = found["pearson"].ci or (0, 0)
    assert low <= expected <= high


def test_a_metric_of_whole_systems_keeps_its_scores() -> None:
    fixed = np.array([5.0, 3.0, 4.0, 1.0, 2.0])
    found = difference_over_systems(HUMAN, (FIRST, FIRST), SYSTEM, DIALOGUE, (None, fixed), resamples=50, seed=3)
    expected = stats.pearsonr(means(HUMAN), means(FIRST)).statistic - stats.pearsonr(means(HUMAN), fixed).statistic
    assert found["pearson"].value == pytest.approx(expected)
    assert found["pearson"].ci is not None


def test_one_dialogue_has_no_interval_and_a_constant_metric_no_difference() -> None:
    one = difference_over_items(HUMAN, FIRST, SECOND, np.zeros(40, dtype=np.int64), resamples=20)
    assert one["pearson"].ci is None
    assert "at least 2 dialogues" in one["pearson"].reason
    constant = difference_over_items(HUMAN, np.ones(40), SECOND, DIALOGUE, resamples=20)
    assert constant["pearson"].value is None
    assert constant["pearson"].reason
