"""A small version of bench.allocation: replayed campaigns come to the order of all ratings,
adaptively too."""

from __future__ import annotations

import numpy as np
import pytest

from bench.allocation import made_pool, ratings_to_the_order
from bench.allocation_replay import replay, stays_from

MEANS = np.array([1.8, 2.4, 2.95, 3.05, 3.6, 4.2])


@pytest.mark.slow
def test_with_two_close_systems_the_order_takes_fewer_ratings_adaptively() -> None:
    """Seeded. Over 20 replays evenly 200 of 900 ratings, adaptively 146."""
    pool = made_pool("two close", MEANS, 50, 1, 3, seed=2)
    needed = {
        way: ratings_to_the_order(pool, [replay(pool, way, seed) for seed in range(20)]).mean()
        for way in (False, True)
    }
    assert needed[True] < needed[False]


def test_a_replay_ends_with_every_rating_taken_once() -> None:
    pool = made_pool("two close", MEANS, 20, 1, 2, seed=2)
    course = replay(pool, True, seed=0)
    assert course.done[-1] == pool.ratings
    assert course.misordered_plain[-1] == 0  # the plain means of all ratings are the truth


def test_what_holds_from_where_on() -> None:
    assert stays_from([2, 0, 1, 0, 0]) == 3
    assert stays_from([0, 0]) == 0
    assert stays_from([0, 1]) is None
