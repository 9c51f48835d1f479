"""Heavy tails: what Pearson's interval is worth there, that the page says so, and that Spearman's
holds."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.statistics.correlation.heavy_tails import (
    MOST_KURTOSIS,
    excess_kurtosis,
    heavy_tail_remark,
)
from leaderboard.statistics.correlation.levels import correlate_items

DIALOGUES, EACH, STRENGTH = 30, 4, 0.7


def pairs(seed, dialogues=DIALOGUES, tail=1.5):
    """Ratings of three people on 1…5, and a metric whose logarithm correlates with what they
    rate."""
    random = np.random.default_rng(seed)
    people, other = random.standard_normal((2, dialogues * EACH))
    ratings = np.clip(
        np.rint(3 + people + 0.7 * random.standard_normal((3, len(people)))), 1, 5
    ).mean(axis=0)
    return ratings, np.exp(tail * (STRENGTH * people + np.sqrt(1 - STRENGTH**2) * other))


def test_excess_kurtosis_is_that_of_the_moments():
    from scipy import stats

    scores = np.random.default_rng(1).standard_t(4, 300)
    assert excess_kurtosis(scores) == pytest.approx(stats.kurtosis(scores))
    assert excess_kurtosis(np.full(5, 2.0)) == 0
    assert excess_kurtosis(np.empty(0)) == 0


def test_pearson_s_interval_of_a_heavy_tailed_metric_is_said_to_be_too_narrow_and_spearman_s_to_hold():
    """It is too narrow, and ρ's holds: the remark promises what happens."""
    large = pairs(0, dialogues=200_000)
    true_r = np.corrcoef(*large)[0, 1]
    true_rho = np.corrcoef(*(np.argsort(np.argsort(one)) for one in large))[0, 1]
    dialogue = np.repeat(np.arange(DIALOGUES), EACH)
    r_held, rho_held, remarked = [], [], []
    for seed in range(1, 151):
        human, metric = pairs(seed)
        (found,) = correlate_items(human, metric, dialogue)
        remarked.append("heavy tails" in found.pearson_remark)
        r_held.append(found.pearson.ci[0] <= true_r <= found.pearson.ci[1])
        rho_held.append(found.spearman.ci[0] <= true_rho <= found.spearman.ci[1])
    assert np.mean(r_held) < 0.85
    assert np.mean(rho_held) > 0.90
    assert np.mean(remarked) > 0.95


def test_the_remark_names_the_side_and_its_kurtosis():
    even = np.tile(np.arange(1.0, 6), 20)
    one_far_off = np.where(np.arange(100) == 7, 100.0, even)
    kurtosis = f"{excess_kurtosis(one_far_off):.1f}"
    assert f"the metric scores have heavy tails (excess kurtosis {kurtosis})" in heavy_tail_remark(
        even, one_far_off
    )
    assert "the human scores have heavy tails" in heavy_tail_remark(one_far_off, even)
    assert heavy_tail_remark(even, even) == ""


@pytest.mark.parametrize(
    "scores", [np.random.default_rng(2).normal(size=400), np.tile([0.0, 1.0], 50), np.empty(0)]
)
def test_ordinary_scores_have_no_remark(scores):
    assert excess_kurtosis(scores) < MOST_KURTOSIS
    assert heavy_tail_remark(scores, scores) == ""
