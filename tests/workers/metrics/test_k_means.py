"""Mini-batch k-means from inner products: scikit-learn's labels from the same seed, and its
draws."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans

from workers.metrics.common.k_means import MOST_POINTS, Products, mini_batch_k_means


def by_scikit_learn(
    points: NDArray[np.float32], clusters: int, draws: RandomState
) -> NDArray[np.intp]:
    return MiniBatchKMeans(clusters, n_init=10, random_state=draws).fit(points).labels_


def clouds(count: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(seed)
    centres = 2.0 * draw.standard_normal((6, dimensions))
    return (
        centres[draw.integers(6, size=count)] + draw.standard_normal((count, dimensions))
    ).astype(np.float32) + 3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("count", "dimensions", "clusters"), [(120, 32, 20), (300, 64, 20), (210, 8, 5)]
)
def test_a_seed_gives_scikit_learns_clusters_run_after_run(
    count: int, dimensions: int, clusters: int, seed: int
) -> None:
    """Two runs from one generator: the second shows that the first took as many draws.

    With 60 points in 16 dimensions scikit-learn's labels for float32 and float64 are the same for
    33 of 40 seeds only.
    """
    points = clouds(count, dimensions, seed)
    ours, theirs = RandomState(seed), RandomState(seed)
    products = Products.of(points)
    for _ in range(2):
        assert (
            mini_batch_k_means(products, clusters, 10, ours)
            == by_scikit_learn(points, clusters, theirs)
        ).all()


def test_as_many_points_as_a_mini_batch_holds() -> None:
    points = clouds(MOST_POINTS, 10, 0)
    found = mini_batch_k_means(Products.of(points), 20, 10, RandomState(0))
    assert (found == by_scikit_learn(points, 20, RandomState(0))).all()


def test_points_that_lie_in_clear_groups_are_found() -> None:
    points = np.repeat(np.eye(4) * 100, 10, axis=0) + np.random.default_rng(0).standard_normal(
        (40, 4)
    )
    found = mini_batch_k_means(Products.of(points), 4, 10, RandomState(0))
    assert [len(set(found[begin : begin + 10])) for begin in range(0, 40, 10)] == [1, 1, 1, 1]
    assert len(set(found)) == 4


@pytest.mark.parametrize("different", [1, 3, 20])
def test_equal_points_go_together_however_few_are_different(different: int) -> None:
    points = np.tile(
        np.random.default_rng(0).standard_normal((different, 6)), (40 // different + 1, 1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mini_batch_k_means(Products.of(points), 20, 10, RandomState(0))
    assert all(len(set(found[place::different])) == 1 for place in range(different))


@pytest.mark.parametrize("count", [19, MOST_POINTS + 1])
def test_fewer_points_than_clusters_or_more_than_a_batch_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} points"):
        mini_batch_k_means(Products.of(np.zeros((count, 2))), 20, 10, RandomState(0))


def test_products_are_squared_distances_wherever_the_origin_is() -> None:
    products = Products.of(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]) + 1000.0)
    assert products.distances == pytest.approx(np.array([[0, 25, 1], [25, 0, 18], [1, 18, 0]]))
