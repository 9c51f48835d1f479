"""Which ten responses a prompt is tried on, and what ten pairs can say."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from common.correlation.pearson import pearson_estimate, with_fisher_interval
from common.estimates import Estimate
from workers.judges.core.trial_sampling import Rated, drawn

# --- the draw -------------------------------------------------------------------------------------


def many(systems: int = 5, places: int = 40, seed: int = 1) -> list[Rated]:
    random = Random(seed)
    return [
        Rated(
            system * places + place,
            system,
            place,
            random.choice([1.0, 2.0, 4.0, 4.5, 5.0, 5.0, 5.0]),
        )
        for system in range(systems)
        for place in range(places)
    ]


def test_one_response_is_drawn_of_each_tenth_of_the_ratings() -> None:
    rated = many()
    chosen = drawn(rated, 10, 3)
    means = sorted(one.human for one in rated)
    assert [one.human for one in chosen] == sorted(one.human for one in chosen)
    for number, one in enumerate(chosen):
        part = means[number * 20 : (number + 1) * 20]
        assert part[0] <= one.human <= part[-1]


def test_systems_are_drawn_alike_often_and_no_place_twice_where_it_can_be_helped() -> None:
    chosen = drawn(many(systems=5), 10, 3)
    assert set(Counter(one.system for one in chosen).values()) == {2}
    assert len({one.place for one in chosen}) == 10


def test_a_seed_draws_the_same_whatever_the_order_of_the_rows_and_another_seed_others() -> None:
    rated = many()
    assert drawn(rated, 10, 7) == drawn(rated[::-1], 10, 7)
    assert drawn(rated, 10, 7) != drawn(rated, 10, 8)


def test_few_are_all_drawn_from_low_to_high_and_none_of_none() -> None:
    rated = many(systems=1, places=4)
    assert sorted(one.key for one in drawn(rated, 10, 0)) == [0, 1, 2, 3]
    assert drawn([], 10, 0) == []


def test_the_mean_of_many_draws_is_that_of_all() -> None:
    """Equal parts, one of each: no rating is likelier to be drawn than another. Here 4.01 of 200
    responses."""
    rated = many()
    everybody = sum(one.human for one in rated) / len(rated)
    means = [sum(one.human for one in drawn(rated, 10, seed)) / 10 for seed in range(200)]
    assert sum(means) / len(means) == pytest.approx(everybody, abs=0.02)


# --- ten pairs ------------------------------------------------------------------------------------


def test_pearson_s_interval_is_that_of_fisher_s_z() -> None:
    """r = .5 of 10 pairs: z = .5493, error 1/√7 = .3780, 1.96 · .3780 = .7408; tanh(−.1915) =
    −.189, tanh(1.2901) = .859."""
    found = with_fisher_interval(Estimate(0.5), 10, "pearson")
    assert found.ci == pytest.approx((-0.189, 0.859), abs=0.001)


def test_spearman_s_interval_is_wider_by_bonett_and_wright() -> None:
    """ρ = .5 of 10 pairs: error √((1 + .125)/7) = .4009; .5493 ∓ .7857 gives −.232 and .871."""
    found = with_fisher_interval(Estimate(0.5), 10, "spearman")
    assert found.ci == pytest.approx((-0.232, 0.871), abs=0.001)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """2,000 samples of 10 normal pairs with r = .6: 95 % within 1.5 points (three standard errors
    of 2,000 coins)."""
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(2000):
        human = random.normal(size=10)
        metric = 0.6 * human + 0.8 * random.normal(size=10)
        low, high = with_fisher_interval(pearson_estimate(human, metric), 10, "pearson").ci or (
            math.nan,
            math.nan,
        )
        hits += low <= 0.6 <= high
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("value", "pairs", "reason"), [(0.5, 3, "at least 4 pairs"), (1.0, 9, "one line")]
)
def test_too_few_pairs_and_a_perfect_line_have_no_interval_and_say_why(
    value: float, pairs: int, reason: str
) -> None:
    found = with_fisher_interval(Estimate(value), pairs, "pearson")
    assert found.value == value
    assert found.ci is None
    assert reason in found.reason
