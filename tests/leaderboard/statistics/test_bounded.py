"""No interval reaches where no value can lie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from common.estimates import Estimate
from leaderboard.statistics.bounded import (
    bounds_of_difference,
    cut_to,
    interval_of_identical,
    interval_within,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.ranking.system_ranking import rank_systems
from leaderboard.statistics.significance.correlation_difference import difference_over_items
from leaderboard.statistics.significance.system_differences import compare_systems

SCALE = (1.0, 5.0)


def nearly_all_fives(seed, dialogues, systems=40):
    """Two ratings a dialogue; a twentieth of them are lower than 5."""
    random = np.random.default_rng(seed)
    scores = np.where(
        random.random((systems, dialogues, 2)) < 0.95,
        5.0,
        random.integers(2, 5, (systems, dialogues, 2)),
    )
    system = np.repeat(np.arange(systems), 2 * dialogues)
    return PlacedScores(
        scores.reshape(1, -1), system, np.tile(np.repeat(np.arange(dialogues), 2), systems)
    )


def test_a_mean_of_nothing_but_fives_is_not_certain():
    """Fifteen dialogues of fives: up to 1 − .05^(1/15) = .181 of others may be lower, by 4 at most:
    5 − .181 · 4 = 4.276. A true mean of 4.94 gives such corpora a quarter of the time."""
    low, high = interval_of_identical(5.0, 15, SCALE)
    assert (round(low, 3), high) == (4.276, 5.0)
    dialogue = np.repeat(np.arange(15), 2)
    placed = PlacedScores(np.full((1, 30), 5.0), np.zeros(30, dtype=int), dialogue)
    (found,) = rank_systems(placed, 1, bounds=SCALE)
    assert found.mean.ci == (low, high)
    both = compare_systems(np.full(30, 5.0), np.full(30, 4.0), dialogue, bounds=SCALE)
    assert both.first.ci == pytest.approx((low, high))
    assert (both.difference.value, both.difference.ci) == (1.0, None)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dialogues", [2, 4, 12, 30])
def test_a_mean_of_ratings_from_one_to_five_has_no_interval_beyond_them(dialogues, turned):
    placed = nearly_all_fives(1, dialogues)
    if turned:
        placed = PlacedScores(6.0 - placed.scores, placed.system, placed.dialogue)
    plain = [one.mean for one in rank_systems(placed, 40)]
    bounded = [one.mean for one in rank_systems(placed, 40, bounds=SCALE)]
    beyond = 0
    for before, after in zip(plain, bounded, strict=True):
        assert before.value == after.value
        if after.ci is None:
            continue
        assert 1.0 <= after.ci[0] <= after.value <= after.ci[1] <= 5.0
        if before.ci is None:  # nothing but fives
            assert after.ci == interval_of_identical(after.value, dialogues, SCALE)
        elif before.ci[0] >= 1.0 and before.ci[1] <= 5.0:
            assert after.ci == before.ci
        else:
            beyond += 1
    assert beyond > 3


def test_where_students_interval_leaves_the_scale_it_is_the_one_of_a_share_of_as_many_items():
    # Mean 4.6 of 1…5 is a place of .9; ± 0.6 with 9 degrees of freedom is a standard error of .0663
    # places.
    reach = stats.t.ppf(0.975, 9)
    low, high = interval_within(4.6, (4.0, 5.2), SCALE, 9)
    items = 0.9 * 0.1 / (0.15 / reach) ** 2
    for end in (low, high):  # Wilson's ends are the places from which .9 lies just within reach
        place = (end - 1) / 4
        assert abs(0.9 - place) == pytest.approx(reach * np.sqrt(place * (1 - place) / items))
    assert low < 4.6 < high < 5


def test_one_open_end_is_left_open_and_a_mean_outside_keeps_its_interval():
    assert interval_within(0.5, (-0.5, 1.5), (0.0, None), 5) == (0.0, 1.5)
    assert interval_within(6.0, (5.0, 7.0), SCALE, 5) == (5.0, 7.0)
    assert interval_within(3.0, (2.0, 4.0), SCALE, 5) == (2.0, 4.0)
    assert cut_to(Estimate(4.9, ci=(4.0, 5.8)), SCALE).ci == (4.0, 5.0)
    assert cut_to(Estimate(5.2, ci=(4.0, 5.8)), SCALE).ci == (4.0, 5.8)
    assert bounds_of_difference(SCALE) == (-4.0, 4.0)


def test_near_the_end_of_the_scale_intervals_hold_more_often_than_cut_ones():
    """Of 30 dialogues with a true mean near 4.9 Student's holds less than 90 %."""
    placed = nearly_all_fives(3, 30, systems=600)
    true = 0.95 * 5 + 0.05 * 3
    plain = [one.mean.ci for one in rank_systems(placed, 600)]
    bounded = [one.mean.ci for one in rank_systems(placed, 600, bounds=SCALE)]
    # Thirty dialogues that are all of fives have no Student's interval.
    vary = [number for number, ends in enumerate(plain) if ends is not None]
    held = [
        np.mean([cis[number][0] <= true <= cis[number][1] for number in vary])
        for cis in (plain, bounded)
    ]
    assert held[0] < 0.90
    assert held[1] > 0.92


def test_two_systems_differ_by_no_more_than_the_scale_is_wide():
    first, second = np.array([5.0, 5, 5, 4]), np.array([1.0, 1, 2, 5])
    dialogue = np.array([0, 0, 1, 1])
    plain = compare_systems(first, second, dialogue, permutations=9)
    found = compare_systems(first, second, dialogue, permutations=9, bounds=SCALE)
    assert plain.difference.ci[1] > 4
    assert found.difference.ci == (max(plain.difference.ci[0], -4.0), 4.0)
    assert found.difference.value == plain.difference.value
    for one in (found.first, found.second):
        assert one.ci is None or (one.ci[0] >= 1 and one.ci[1] <= 5)


def test_two_coefficients_differ_by_no_more_than_two():
    random = np.random.default_rng(5)
    reached = 0.0
    for _ in range(40):
        human = random.normal(size=6)
        both = human + 0.3 * random.normal(size=6), -human + 0.3 * random.normal(size=6)
        for one in difference_over_items(human, *both, np.arange(6)).values():
            if one.ci is not None:
                assert -2 <= one.ci[0] <= one.value <= one.ci[1] <= 2
                reached = max(reached, one.ci[1])
    assert reached == 2
