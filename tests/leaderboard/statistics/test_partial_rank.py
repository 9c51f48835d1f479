"""Spearman's partial rank correlation; every number is worked here or held against another
computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.judges.verbosity import partial_from, partial_spearman


def of(x: list[float], y: list[float], z: list[float], **settings: int) -> object:
    dialogue = np.arange(len(x))
    settings.setdefault("resamples", 0)
    return partial_spearman(
        np.array(x, float), np.array(y, float), np.array(z, float), dialogue, **settings
    )


def test_the_formula() -> None:
    """(0.5 − 0.6 · 0.8) / √((1 − 0.36)(1 − 0.64)) = 0.02 / √(0.64 · 0.36) = 0.02 / 0.48 = 1/24."""
    assert partial_from(0.5, 0.6, 0.8) == pytest.approx(1 / 24)


def test_on_four_items_worked_by_hand() -> None:
    """x = 1 2 3 4, y = 2 1 4 3, z = 1 3 2 4, all without ties: ρ = 1 − 6 Σd² / 60. x and y differ
    by 1 four times: ρxy = 0.6. x and z: 0, 1, 1, 0, so ρxz = 0.8. y and z: 1, 4, 4, 1, so ρyz = 0.
    Then 0.6 / √(1 − 0.64) = 1."""
    assert of([1, 2, 3, 4], [2, 1, 4, 3], [1, 3, 2, 4]).value == pytest.approx(1.0)


def test_it_is_pearsons_correlation_of_what_a_line_through_the_ranks_leaves() -> None:
    """Another way to the same number: regress the ranks of x and of y on those of z, correlate the
    residuals."""
    random = np.random.default_rng(7)
    z = random.integers(1, 6, 60).astype(float)
    x, y = z + random.integers(0, 4, 60), z + random.normal(0, 2, 60)
    ranks = [stats.rankdata(side) for side in (x, y, z)]
    residuals = [side - np.polyval(np.polyfit(ranks[2], side, 1), ranks[2]) for side in ranks[:2]]
    found = partial_spearman(x, y, z, np.arange(60), resamples=0)
    assert found.value == pytest.approx(np.corrcoef(*residuals)[0, 1], abs=1e-12)


def test_what_a_third_ranking_explains_is_gone() -> None:
    """x and y are z with noise of their own: ρ(x, y) is high, and near 0 once z is held fixed."""
    random = np.random.default_rng(3)
    z = random.normal(size=4000)
    x, y = z + random.normal(size=4000), z + random.normal(size=4000)
    assert stats.spearmanr(x, y).statistic > 0.4
    assert abs(partial_spearman(x, y, z, np.arange(4000), resamples=0).value) < 0.06


def test_the_interval_redraws_dialogues() -> None:
    """The replicates are the formula on the resampled coefficients: here made one by one, by
    writing resamples out."""
    from common.correlation import cluster_resamples

    random = np.random.default_rng(11)
    dialogue = np.repeat(np.arange(12), 5)
    z = random.integers(1, 6, 60).astype(float)
    x, y = z + random.integers(0, 3, 60), z + random.integers(0, 5, 60)
    found = partial_spearman(x, y, z, dialogue, resamples=200, seed=4)
    replicates = []
    for weights in cluster_resamples(12, 200, 4):
        items = np.repeat(np.arange(60), weights[dialogue])
        pairs = ((x, y), (x, z), (y, z))
        replicates.append(
            partial_from(*(stats.spearmanr(a[items], b[items]).statistic for a, b in pairs))
        )
    assert found.ci == pytest.approx(tuple(np.percentile(replicates, [2.5, 97.5])))


@pytest.mark.parametrize(
    ("x", "y", "z", "reason"),
    [
        ([1, 2, 3], [1, 3, 2], [2, 1, 3], "at least 4 items, there are 3"),
        ([1, 1, 1, 1], [1, 2, 3, 4], [1, 3, 2, 4], "does not vary"),
        ([1, 2, 3, 4], [1, 3, 2, 4], [2, 2, 2, 2], "does not vary"),
        ([1, 2, 3, 4], [1, 3, 2, 4], [10, 20, 30, 40], "nothing is left"),
        ([1, 2, 3, 4], [1, 3, 2, 4], [-1, -3, -2, -4], "nothing is left"),
    ],
)
def test_undefined_says_why(x, y, z, reason) -> None:
    found = of(x, y, z)
    assert found.value is None
    assert reason in found.reason


def test_one_dialogue_gives_no_interval() -> None:
    x, y, z = np.arange(6.0), np.array([2, 1, 4, 3, 6, 5.0]), np.array([1, 3, 2, 6, 4, 5.0])
    found = partial_spearman(x, y, z, np.zeros(6, dtype=int), resamples=50)
    assert found.value is not None
    assert found.ci is None
    assert "at least 2 dialogues" in found.reason


def test_nan_without_variance_left() -> None:
    assert math.isnan(partial_from(0.3, 1.0, 0.3))


def test_of_a_correlation_that_is_undefined_it_is_undefined() -> None:
    assert math.isnan(partial_from(math.nan, 0.2, 0.3))
    assert math.isnan(partial_from(0.1, math.nan, 0.3))
