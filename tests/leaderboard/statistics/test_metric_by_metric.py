"""Which metrics say the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.correlation.metric_by_metric import (
    correlate_metrics,
    correlate_metrics_of_systems,
    similar_order,
)

SOURCE = np.random.default_rng(7)
DIALOGUE = np.repeat(np.arange(12), 5)
BASE = SOURCE.normal(size=60)
SCORES = np.stack([BASE, BASE + SOURCE.normal(size=60), SOURCE.integers(0, 3, 60).astype(float)])


def test_every_pair_is_what_scipy_says_of_what_both_scored():
    scores = SCORES.copy()
    scores[1, :7] = np.nan
    first, _, last = correlate_metrics(scores, DIALOGUE)
    assert (first.first, first.second, first.n) == (0, 1, 53)
    assert first.pearson.value == pytest.approx(
        stats.pearsonr(scores[0, 7:], scores[1, 7:]).statistic, abs=1e-12
    )
    assert last.spearman.value == pytest.approx(
        stats.spearmanr(scores[1, 7:], scores[2, 7:]).statistic, abs=1e-12
    )
    assert last.kendall.value == pytest.approx(
        stats.kendalltau(scores[1, 7:], scores[2, 7:]).statistic, abs=1e-12
    )


def test_the_interval_redraws_dialogues():
    """Five equal copies of one pair a dialogue: 60 pairs know no more than 12, and the interval is
    as wide."""
    twelve = SCORES[:2, ::5]
    wide, narrow = (
        correlate_metrics(np.repeat(twelve, copies, axis=1), np.repeat(np.arange(12), copies))[
            0
        ].pearson
        for copies in (1, 5)
    )
    assert narrow.ci == pytest.approx(wide.ci, abs=1e-9)


def test_a_constant_metric_is_undefined_and_the_others_are_not():
    scores = np.stack([SCORES[0], np.full(60, 0.5), SCORES[1]])
    found = {
        (pair.first, pair.second): pair.pearson for pair in correlate_metrics(scores, DIALOGUE)
    }
    assert found[0, 1].reason == "all scores of the second metric are equal"
    assert found[0, 2].value is not None


def test_two_constant_metrics_are_undefined_together():
    pair = correlate_metrics(np.full((2, 60), 0.5), DIALOGUE)[0]
    assert pair.pearson.reason == "all scores of both metrics are equal"


@pytest.mark.parametrize(
    "scores", [np.full((2, 3), np.nan), np.zeros((2, 0)), np.array([[1.0, 2], [2, 1]])]
)
def test_fewer_than_three_places_have_a_reason(scores):
    pair = correlate_metrics(scores, np.zeros(scores.shape[1], dtype=np.int64))[0]
    assert pair.pearson.reason.startswith("a correlation needs at least 3 places that both scored")


def test_one_dialogue_gives_a_value_without_interval():
    pair = correlate_metrics(SCORES[:2], np.zeros(60, dtype=np.int64))[0]
    assert pair.pearson.value is not None
    assert "at least 2 dialogues" in pair.pearson.reason


def test_systems_are_correlated_over_their_means_and_redrawn_means_make_the_interval():
    means = np.array([[1.0, 2, 3, 4], [2.0, 1, 4, 3], [1.0, 1, 1, 2]])
    redrawn = [means[0] + SOURCE.normal(scale=0.1, size=(500, 4)), None, None]
    first, second, last = correlate_metrics_of_systems(means, redrawn, dialogues=9)
    # Σ(−1.5·−.5, −.5·−1.5, .5·1.5, 1.5·.5) / 5 = 3 / 5
    assert first.pearson.value == pytest.approx(0.6)
    expected = [stats.pearsonr(row, means[1]).statistic for row in redrawn[0]]
    assert first.pearson.ci == pytest.approx(tuple(np.percentile(expected, [2.5, 97.5])), abs=1e-9)
    assert second.pearson.ci is not None
    assert last.pearson.ci is None  # both are fixed: nothing is redrawn


def test_similar_metrics_stand_side_by_side():
    values = {(0, 1): 0.1, (0, 2): 0.9, (0, 3): 0.0, (1, 2): 0.1, (1, 3): 0.8, (2, 3): None}
    order = similar_order(4, values)
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1
    assert sorted(order) == [0, 1, 2, 3]


@pytest.mark.parametrize("metrics", [0, 1, 2])
def test_there_is_nothing_to_order_among_two(metrics):
    assert similar_order(metrics, {}) == list(range(metrics))
