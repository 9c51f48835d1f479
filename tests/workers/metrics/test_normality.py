"""The test of Shapiro and Wilk over dimensions: equal to SciPy's, and what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import shapiro

from workers.metrics.common.normality import normality, shapiro_wilk


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7, 11, 12, 13, 50, 150, 1000, 5000])
def test_w_and_p_are_scipys(count: int) -> None:
    draw = np.random.default_rng(count)
    columns = [
        draw.standard_normal(count),
        draw.exponential(size=count),
        draw.standard_t(2, size=count),
        draw.random(count),
    ]
    w, p = shapiro_wilk(np.stack(columns, axis=1))
    expected = [shapiro(column) for column in columns]
    assert w == pytest.approx([one.statistic for one in expected], abs=1e-7)
    assert p == pytest.approx([one.pvalue for one in expected], abs=1e-6)


def test_three_points_by_hand() -> None:
    # 0, 1, 5: W = ((5 − 0) √½)² / (4 + 1 + 9) = 12.5 / 14; p = 6/π (arcsin √W − arcsin √¾).
    w, p = shapiro_wilk(np.array([[0.0], [1.0], [5.0]]))
    assert w == pytest.approx([12.5 / 14])
    assert p == pytest.approx(
        [6 / math.pi * (math.asin(math.sqrt(12.5 / 14)) - math.asin(math.sqrt(0.75)))]
    )


def test_a_scale_and_a_shift_change_nothing() -> None:
    values = np.random.default_rng(0).exponential(size=(40, 3))
    w, p = shapiro_wilk(values)
    moved_w, moved_p = shapiro_wilk(values * -1e-3 + 7)
    assert moved_w == pytest.approx(w)
    assert moved_p == pytest.approx(p)


def test_means_deviations_and_the_share_that_is_not_refuted() -> None:
    draw = np.random.default_rng(1)
    columns = [draw.standard_normal(80), draw.exponential(size=80) ** 2, draw.standard_normal(80)]
    found = normality(np.stack(columns, axis=1))
    statistics = np.array([shapiro(column).statistic for column in columns])
    probabilities = np.array([shapiro(column).pvalue for column in columns])
    assert found.points == 80
    assert found.dimensions == 3
    assert found.constant == 0
    assert (found.w_mean, found.w_sd) == pytest.approx((statistics.mean(), statistics.std()))
    assert (found.p_mean, found.p_sd) == pytest.approx(
        (probabilities.mean(), probabilities.std()), abs=1e-7
    )
    # The squared exponential is refuted, the two others are not
    assert found.share_normal == pytest.approx(2 / 3)


def test_a_constant_dimension_is_left_out_and_counted() -> None:
    values = np.random.default_rng(2).standard_normal((30, 2))
    with_constant = np.column_stack([values[:, 0], np.full(30, 4.2), values[:, 1]])
    found = normality(with_constant)
    assert (found.dimensions, found.constant) == (2, 1)
    assert found.w_mean == normality(values).w_mean


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (np.zeros((0, 4)), "needs 3 points, there are 0"),
        (np.eye(2), "needs 3 points, there are 2"),
        (np.ones((5, 4)), "every dimension is constant"),
    ],
)
def test_without_enough_to_test_there_is_a_reason_and_no_figure(points, reason: str) -> None:
    found = normality(points).as_json()
    assert reason in found["reason"]
    assert found["w_mean"] is found["p_mean"] is found["share_normal"] is None


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        normality(np.array([[1.0], [math.nan], [2.0]]))
