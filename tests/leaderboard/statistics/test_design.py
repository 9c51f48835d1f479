"""Crossed, nested, partly crossed: what the places of scores say, and what draws of dialogues make
of it."""

from __future__ import annotations

import numpy as np
import pytest

from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.levels import correlate_systems
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.correlation.soft_pairwise_accuracy import soft_pairwise_accuracies
from leaderboard.statistics.design import Design
from leaderboard.statistics.ranking.system_ranking import rank_systems
from leaderboard.statistics.significance.power import dialogues_for, needed_to_separate, power_of

CROSSED = [[1, 1, 1], [1, 1, 1]]
NESTED = [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]
HALF = [[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]]
BLOCKS = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]


def design(rows: list[list[int]]) -> Design:
    return Design(np.array(rows, dtype=bool))


@pytest.mark.parametrize(
    ("rows", "kind", "strata"),
    [
        (CROSSED, "crossed", [0, 0, 0]),
        (NESTED, "nested", [0, 0, 1, 1, 1]),
        (HALF, "partly crossed", [0] * 6),
        (BLOCKS, "partly crossed", [0, 0, 1, 1]),
        ([[1, 1, 0]], "crossed", [0, 0, 0]),  # one system; nobody has the last dialogue
        ([[1, 1], [0, 0]], "crossed", [0, 0]),  # the second system has nothing
        ([[0, 0], [0, 0]], "crossed", [0, 0]),
    ],
)
def test_the_kind_and_the_strata(rows: list[list[int]], kind: str, strata: list[int]) -> None:
    assert design(rows).kind == kind
    assert design(rows).strata.tolist() == strata


def test_two_systems_are_paired_from_half_of_the_smaller_set_on() -> None:
    assert design(HALF).is_paired(0, 1)  # 2 of 4
    assert not design([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]).is_paired(0, 1)  # 1 of 3
    assert not design(NESTED).is_paired(0, 1)


def test_dialogues_are_drawn_within_each_system_of_a_nested_design() -> None:
    drawn = cluster_resamples(5, 50, 0, design(NESTED).strata)
    assert (drawn[:, :2].sum(axis=1) == 2).all()
    assert (drawn[:, 2:].sum(axis=1) == 3).all()
    crossed = cluster_resamples(3, 50, 0, design(CROSSED).strata)
    assert (crossed == cluster_resamples(3, 50, 0)).all()  # as ever


def nested_scores(each: int, seed: int, systems: int = 4) -> PlacedScores:
    random = np.random.default_rng(seed)
    system = np.repeat(np.arange(systems), each)
    return PlacedScores(random.normal(0.5 * system, 1.0), system, np.arange(systems * each))


def test_percentiles_of_few_dialogues_of_each_system_are_defined() -> None:
    """Drawn among all systems' dialogues, a system of two would have none in an eighth of the
    draws."""
    human, metric = nested_scores(2, 1), nested_scores(2, 2)
    (found,) = correlate_systems(human, metric, 4, None, 300, method="percentile")
    assert found.pearson.ci is not None
    assert all(one.mean.ci is not None for one in rank_systems(human, 4, 300, method="percentile"))


def test_a_system_in_one_dialogue_has_no_percentiles() -> None:
    human, metric = nested_scores(1, 1), nested_scores(1, 2)
    (found,) = correlate_systems(human, metric, 4, None, 100, method="percentile")
    assert found.pearson.value is not None
    assert found.pearson.ci is None
    assert found.pearson.reason == "a system has scores in one dialogue only"


def test_soft_pairwise_accuracy_is_unpaired_where_systems_share_no_dialogue() -> None:
    human = nested_scores(12, 3)
    (same,) = soft_pairwise_accuracies(human, human, 4)
    assert same.value == pytest.approx(1.0)
    (turned,) = soft_pairwise_accuracies(human, human, 4, higher_is_better=[False])
    assert turned.value is not None
    assert turned.value < 0.6


def test_the_unpaired_p_of_soft_pairwise_accuracy_is_uniform_under_the_null() -> None:
    from leaderboard.statistics.correlation.soft_pairwise_accuracy import better_p

    random = np.random.default_rng(4)
    coins = random.integers(0, 2, (20, 400)) * 2.0 - 1.0
    p = []
    for seed in range(400):
        grid = np.full((2, 20), np.nan)
        grid[0, :8], grid[1, 8:] = random.normal(size=8), random.normal(size=12)
        p.append(better_p(grid, coins, seed)[0])
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(p) == pytest.approx(0.5, abs=0.05)


def test_what_would_separate_nested_systems_is_dialogues_of_each() -> None:
    """Equal variances: 64 of each find half a standard deviation in 80 % (Cohen 1988, table 2.4.1;
    R's power.t.test gives .8015 for them)."""
    random = np.random.default_rng(5)
    one, other = random.normal(0, 1, 15), random.normal(0, 1, 15)
    one, other = (
        (one - one.mean()) / one.std(ddof=1) + 0.5,
        (other - other.mean()) / other.std(ddof=1),
    )
    sides = np.full((2, 30), np.nan)
    sides[0, :15], sides[1, 15:] = one, other
    found = needed_to_separate(*sides)
    assert not found.is_paired
    assert found.dialogues == 15
    assert found.dialogues_needed == 64
    assert dialogues_for(0.5, 2.0, spread=2.0) == 64
    assert power_of(0.5, 2 / 64, 64, spread=2.0) == pytest.approx(0.8015, abs=1e-4)


def test_strata_are_drawn_independently_of_each_other_and_of_another_seed() -> None:
    """As many dialogues in each: with seeds that count up, the second stratum's draws were those of
    the next seed."""
    drawn = cluster_resamples(20, 500, 3, np.repeat([0, 1], 10))
    assert (drawn.reshape(500, 2, 10).sum(axis=2) == 10).all()
    assert not (drawn[:, :10] == drawn[:, 10:]).all()
    assert not (drawn[:, 10:] == cluster_resamples(10, 500, 4)).all()
