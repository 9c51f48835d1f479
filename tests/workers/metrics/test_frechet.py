"""The Fréchet distance: small sums by hand, the definition with a matrix root, and sets of every
shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import sqrtm

from workers.metrics.common.frechet import frechet_distance


def by_definition(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """With the root of the covariances' product, as the released code has it."""
    one, other = np.cov(first, rowvar=False), np.cov(second, rowvar=False)
    root = np.real(sqrtm(one @ other))
    return float(np.sum((first.mean(0) - second.mean(0)) ** 2) + np.trace(one + other - 2 * root))


def points(count: int, dimensions: int, seed: int) -> NDArray[np.float64]:
    mixing = np.random.default_rng(99).standard_normal((dimensions, dimensions))
    return np.random.default_rng(seed).standard_normal((count, dimensions)) @ mixing + seed


def test_on_a_line_it_is_the_difference_of_means_and_of_deviations() -> None:
    # 0, 2: mean 1, variance 2. 3, 7: mean 5, variance 8. (5 − 1)² + 2 + 8 − 2 √16 = 16 + 2 = 18.
    first, second = np.array([[0.0], [2.0]]), np.array([[3.0], [7.0]])
    assert frechet_distance(first, second) == pytest.approx(18.0)
    assert frechet_distance(first, second, "norm") == pytest.approx(4.0 + 2.0)


def test_spreads_along_different_axes_share_nothing() -> None:
    # Covariances diag(2, 0) and diag(0, 2) have the product 0: 0 + 2 + 2 − 0.
    assert frechet_distance(
        np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([[0.0, -1.0], [0.0, 1.0]])
    ) == pytest.approx(4.0)


@pytest.mark.parametrize(("first", "second"), [(50, 60), (40, 7), (6, 45), (8, 8), (9, 9)])
def test_it_is_the_definition_with_more_or_fewer_points_than_dimensions(
    first: int, second: int
) -> None:
    one, other = points(first, 8, 1), points(second, 8, 2)
    # The root of a singular product is good to six digits only: that is why it is not taken.
    assert frechet_distance(one, other) == pytest.approx(by_definition(one, other), rel=1e-5)


@pytest.mark.parametrize("count", [2, 3, 10, 60, 500])
def test_equal_sets_are_at_distance_0_and_a_shift_is_its_square(count: int) -> None:
    one = points(count, 20, 3)
    assert frechet_distance(one, one) == pytest.approx(0.0, abs=1e-9 * count * 20)
    shift = np.zeros(20)
    shift[4] = 3.0
    assert frechet_distance(one, one + shift) == pytest.approx(9.0)
    assert frechet_distance(one, one + shift, "norm") == pytest.approx(3.0)


def test_it_is_never_below_0_and_the_same_both_ways() -> None:
    for seed in range(20):
        one, other = points(5, 12, seed), points(7, 12, seed + 1)
        assert frechet_distance(one, one.copy()) >= 0.0
        assert frechet_distance(one, other) == pytest.approx(frechet_distance(other, one))


def test_more_points_than_dimensions_cost_no_more_than_the_smaller_side() -> None:
    """10,000 points are taken through a triangle as large as there are dimensions: the same figure
    as by definition."""
    one, other = points(10_000, 16, 1), points(10_000, 16, 2)
    assert frechet_distance(one, other) == pytest.approx(by_definition(one, other), rel=1e-9)


def test_points_far_from_the_origin_lose_no_digits() -> None:
    one, other = points(30, 6, 1), points(30, 6, 2)
    assert frechet_distance(one + 1e4, other + 1e4) == pytest.approx(
        frechet_distance(one, other), rel=1e-8
    )


def test_float32_points_are_taken_in_float64() -> None:
    one, other = points(30, 6, 1).astype(np.float32), points(30, 6, 2).astype(np.float32)
    assert frechet_distance(one, other) == frechet_distance(
        one.astype(np.float64), other.astype(np.float64)
    )


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    one = points(4, 3, 1)
    one[2, 1] = wrong
    with pytest.raises(ValueError, match="not finite"):
        frechet_distance(points(4, 3, 2), one)


def test_one_point_has_no_covariance() -> None:
    with pytest.raises(ValueError, match="two points"):
        frechet_distance(points(1, 3, 1), points(4, 3, 2))
