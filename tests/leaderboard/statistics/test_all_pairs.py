"""All pairs at once give what ``permutation_test`` gives pair by pair, with the same seed."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.correlation.rowwise import human_order, spearman_and_kendall
from leaderboard.statistics.significance.all_pairs import (
    BLOCK,
    ENOUGH,
    all_pairs_of_items,
    all_pairs_of_systems,
)
from leaderboard.statistics.significance.permutation import permutation_test
from tests.leaderboard.statistics.campaign import campaign

SWAPPED = ["systems", "dialogues", "both"]


def holed(c):
    """Metric 0 lacks what metric 2 has, and metric 1 lacks a whole system."""
    metrics = c.metrics.copy()
    metrics[0, :7] = np.nan
    metrics[1, c.system == 3] = np.nan
    return metrics


def one_by_one(c, metrics, **settings):
    places = zip(*np.triu_indices(len(metrics), 1), strict=True)
    return [
        permutation_test(c.human, metrics[i], metrics[j], c.system, c.dialogue, **settings)
        for i, j in places
    ]


@pytest.mark.parametrize("swapped", SWAPPED)
@pytest.mark.parametrize("has_holes", [False, True])
def test_items(swapped, has_holes):
    c = campaign(metrics=3)
    metrics = holed(c) if has_holes else c.metrics
    settings = {"permutations": 200, "seed": 4, "swapped": swapped}
    found = all_pairs_of_items(c.human, metrics, c.system, c.dialogue, **settings)
    expected = one_by_one(c, metrics, level="item", **settings)
    assert found.difference.tolist() == pytest.approx(
        [one.difference.value for one in expected], abs=1e-12
    )
    assert found.p.tolist() == [one.difference.p for one in expected]


@pytest.mark.parametrize("swapped", SWAPPED)
@pytest.mark.parametrize("has_holes", [False, True])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_systems(swapped, has_holes, name):
    c = campaign(metrics=3)
    metrics = holed(c) if has_holes else c.metrics
    settings = {"permutations": 200, "seed": 4, "swapped": swapped}
    human = PlacedScores(c.human, c.system, c.dialogue)
    found = all_pairs_of_systems(
        human, PlacedScores(metrics, c.system, c.dialogue), c.systems, None, [name], **settings
    )
    for row, one in enumerate(one_by_one(c, metrics, level="system", coefficient=name, **settings)):
        # People are held to all that they rated; where all is scored this is the same
        if has_holes and row != 2:
            continue
        assert found[name].difference[row] == pytest.approx(one.difference.value, abs=1e-9)
        assert found[name].p[row] == one.difference.p
    assert np.isfinite(found[name].p).all()


def test_a_metric_of_systems_only_is_compared_by_swapping_systems():
    c = campaign(metrics=2, systems=9)
    human, placed = (PlacedScores(one, c.system, c.dialogue) for one in (c.human, c.metrics))
    of_systems = np.random.default_rng(2).normal(size=(1, c.systems))
    found = all_pairs_of_systems(human, placed, c.systems, of_systems, ["pearson"], 300, 1)[
        "pearson"
    ]
    means = [c.metrics[1].reshape(c.systems, -1).mean(axis=1), of_systems[0]]
    human_means = c.human.reshape(c.systems, -1).mean(axis=1)
    number = np.arange(c.systems)
    settings = {"level": "item", "permutations": 300, "seed": 1, "swapped": "systems"}
    expected = permutation_test(human_means, *means, number, 0 * number, **settings)
    assert found.difference[2] == pytest.approx(expected.difference.value)
    assert found.p[2] == expected.difference.p


def test_a_pair_stops_when_enough_swaps_are_as_extreme():
    c = campaign(metrics=3, systems=12)
    metrics = np.array([c.metrics[0], c.metrics[1], c.human + c.metrics[0] / 10])
    found = all_pairs_of_items(c.human, metrics, c.system, c.dialogue, 5 * BLOCK)
    alike, apart = found.permutations[0], found.permutations[1:]
    assert (alike, apart.tolist()) == (BLOCK, [5 * BLOCK, 5 * BLOCK])
    assert found.p[0] >= ENOUGH / (1 + BLOCK)
    assert found.p[1] == pytest.approx(1 / (1 + 5 * BLOCK))


def test_constant_metrics_have_no_pairs_and_say_why():
    c = campaign(metrics=3)
    metrics = np.array([c.metrics[0], np.ones_like(c.human), np.full_like(c.human, np.nan)])
    found = all_pairs_of_items(c.human, metrics, c.system, c.dialogue, 50)
    assert np.isnan(found.p).all()
    assert np.isnan(found.difference).all()
    assert [one.reason for one in found.alone[1:]] == [
        "all metric scores are equal",
        "a correlation needs at least 3 pairs of scores, there are 0",
    ]


@pytest.mark.parametrize("systems", [1, 2])
def test_too_few_systems(systems):
    c = campaign(metrics=2, systems=systems)
    human, placed = (PlacedScores(one, c.system, c.dialogue) for one in (c.human, c.metrics))
    found = all_pairs_of_systems(human, placed, systems, None, permutations=10)
    assert np.isnan(found["kendall"].p).all()
    assert "at least 3 pairs" in found["kendall"].alone[0].reason


def test_huge_and_tiny_scores_change_nothing():
    c = campaign(metrics=2)
    scaled = np.array([c.metrics[0] * 1e200, c.metrics[1] * 1e-200])
    plain, same = (
        all_pairs_of_items(c.human, metrics, c.system, c.dialogue, 100)
        for metrics in (c.metrics, scaled)
    )
    assert plain.p.tolist() == same.p.tolist()


@pytest.mark.parametrize("systems", [3, 40, 130, 300])
@pytest.mark.parametrize("decimals", [0, 9])
def test_ranked_rows_are_correlated_as_scipy_does(systems, decimals):
    random = np.random.default_rng(systems)
    human = random.normal(size=systems).round(1 if systems > 3 else 9)
    rows = random.normal(scale=2.0, size=(6, systems)).round(decimals)
    rows[0, :2] += (5, -5)  # not constant
    rows[1] = 2.0  # constant
    spearman, kendall = spearman_and_kendall(human_order(human), rows)
    for row, rho, tau in zip(rows, spearman, kendall, strict=True):
        if row.min() == row.max():
            assert np.isnan([rho, tau]).all()
            continue
        assert rho == pytest.approx(stats.spearmanr(human, row).statistic, abs=1e-12)
        assert tau == pytest.approx(stats.kendalltau(human, row).statistic, abs=1e-12)


def test_a_constant_row_has_no_coefficient():
    spearman, kendall = spearman_and_kendall(human_order(np.array([1.0, 2, 3])), np.zeros((1, 3)))
    assert np.isnan([spearman[0], kendall[0]]).all()
