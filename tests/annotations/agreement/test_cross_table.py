"""Correlations of resamples from cross tables: equal to scipy on the items that were drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotations.agreement.cross_table import correlations_of_replicates, has_few_cells
from common.correlation import cluster_resamples

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.mark.parametrize("name", SCIPY)
def test_equals_scipy_on_the_drawn_items(name: str) -> None:
    random = np.random.default_rng(4)
    dialogue = np.sort(random.integers(0, 12, 150))
    one = random.integers(1, 6, 150).astype(float)
    other = np.round((one + random.integers(1, 6, 150)) / 3, 9)
    draws = cluster_resamples(12, 8, seed=5)
    found = correlations_of_replicates(one, other, dialogue, draws.astype(float))[name]
    for value, draw in zip(found, draws, strict=True):
        items = np.repeat(np.arange(150), draw[dialogue])
        assert value == pytest.approx(SCIPY[name](one[items], other[items]).statistic, abs=1e-9)


def test_a_resample_with_a_constant_side_is_undefined() -> None:
    one, other = np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    without_the_last = np.array([[2.0, 1.0, 0.0]])
    found = correlations_of_replicates(one, other, np.array([0, 1, 2]), without_the_last)
    assert all(np.isnan(values).all() for values in found.values())


def test_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    one, other = random.integers(1, 4, 60).astype(float), random.integers(1, 4, 60).astype(float)
    dialogue, draws = np.arange(60) // 6, cluster_resamples(10, 7, seed=1).astype(float)
    whole = correlations_of_replicates(one, other, dialogue, draws)["kendall"]
    monkeypatch.setattr("annotations.agreement.cross_table.CELLS_AT_A_TIME", 18)
    np.testing.assert_array_equal(
        correlations_of_replicates(one, other, dialogue, draws)["kendall"], whole
    )


def test_many_distinct_scores_do_not_pay() -> None:
    assert has_few_cells(np.arange(5.0), np.arange(40.0))
    assert not has_few_cells(np.arange(100.0), np.arange(100.0))
