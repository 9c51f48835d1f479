"""Two systems on the same items, against hand-worked figures and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.significance.system_differences import compare_systems


def test_one_item_a_dialogue_is_the_paired_t_interval() -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(3, 1, 40), random.normal(2.5, 1, 40)
    found = compare_systems(first, second, np.arange(40))
    expected = stats.ttest_rel(first, second).confidence_interval()
    assert found.difference.value == pytest.approx((first - second).mean())
    assert found.difference.ci == pytest.approx((expected.low, expected.high))


def test_items_of_one_dialogue_count_as_one_draw() -> None:
    """Each difference seven times over in its dialogue says as much as once."""
    random = np.random.default_rng(4)
    once = random.normal(0.3, 1, 12)
    alone = compare_systems(once, np.zeros(12), np.arange(12))
    repeated = compare_systems(np.repeat(once, 7), np.zeros(84), np.repeat(np.arange(12), 7))
    assert repeated.difference.ci == pytest.approx(alone.difference.ci)
    assert repeated.difference.p == alone.difference.p
    assert (repeated.items, repeated.dialogues) == (84, 12)


def test_wins_ties_and_losses_are_of_items_that_both_have() -> None:
    first = np.array([1.0, 3.0, 2.0, 5.0, np.nan, 4.0])
    second = np.array([2.0, 1.0, 2.0, 4.0, 3.0, np.nan])
    found = compare_systems(first, second, np.array([0, 0, 1, 1, 2, 2]))
    assert (found.wins, found.ties, found.losses, found.items, found.dialogues) == (2, 1, 1, 4, 2)
    assert found.difference.value == pytest.approx((-1 + 2 + 0 + 1) / 4)
    assert found.first.value == pytest.approx(11 / 4)  # over the shared items alone


def test_a_mean_that_differs_in_its_last_bit_alone_is_a_tie() -> None:
    found = compare_systems(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5]), np.array([0, 1]))
    assert (found.wins, found.ties) == (1, 1)


def test_few_dialogues_are_counted_out() -> None:
    # Totals 3, 1, 2: |±3 ±1 ±2| ≥ 6 for two of the eight ways to change sides.
    found = compare_systems(np.array([3.0, 1.0, 2.0]), np.zeros(3), np.arange(3))
    assert (found.difference.p, found.permutations, found.is_exact) == (2 / 8, 8, True)


def test_the_exact_test_equals_scipys_permutation_test() -> None:
    random = np.random.default_rng(5)
    gaps = random.normal(0.4, 1, 10)
    expected = (
        sum(
            abs(np.dot(signs, gaps)) >= abs(gaps.sum()) - 1e-12
            for signs in product((1, -1), repeat=10)
        )
        / 2**10
    )
    scipys = stats.permutation_test(
        (gaps, np.zeros(10)),
        lambda one, other: np.mean(one - other),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    found = compare_systems(gaps, np.zeros(10), np.arange(10))
    assert found.difference.p == pytest.approx(expected) == pytest.approx(scipys.pvalue)


def test_drawn_permutations_come_near_the_t_test_and_hold_their_seed() -> None:
    random = np.random.default_rng(6)
    first, second = random.normal(0.25, 1, 60), random.normal(0, 1, 60)
    one, same, other = (
        compare_systems(first, second, np.arange(60), seed=seed) for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one.difference.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)
    assert (one.permutations, one.is_exact) == (10_000, False)


def test_one_dialogue_has_a_difference_and_no_interval() -> None:
    found = compare_systems(np.array([1.0, 2.0]), np.array([0.0, 0.0]), np.array([4, 4]))
    assert (found.difference.value, found.difference.ci, found.difference.p) == (1.5, None, None)
    assert "at least 2 dialogues" in found.difference.reason


def test_a_system_without_scores_is_compared_with_none() -> None:
    found = compare_systems(np.array([1.0, 2.0]), np.full(2, np.nan), np.array([0, 1]))
    assert (found.difference.value, found.items) == (None, 0)
    assert found.difference.reason == "no item has a score of both systems"


def test_equal_systems_have_p_1() -> None:
    found = compare_systems(np.ones(20), np.ones(20), np.arange(20))
    assert (found.difference.value, found.difference.ci, found.difference.p) == (
        0.0,
        None,
        1.0,
    )
    assert "agree to the digit" in found.difference.reason


@pytest.mark.parametrize("dialogues", [9, 10])
def test_the_same_gap_in_all_dialogues_has_a_p_and_no_interval(dialogues: int) -> None:
    """Of the 2ⁿ ways to change sides two are as extreme; the next dialogue may still be another."""
    found = compare_systems(np.full(dialogues, 4.0), np.full(dialogues, 3.0), np.arange(dialogues))
    assert (found.difference.value, found.difference.ci, found.difference.p) == (
        1.0,
        None,
        2 / 2**dialogues,
    )
    assert "agree to the digit" in found.difference.reason


def test_the_interval_covers_in_corpora_of_fifteen_dialogues() -> None:
    """400 corpora of 15 dialogues × 7 turns with a dialogue effect of the difference: 95 % ± 3
    standard errors. The plain t interval over the 105 items covers 70 %."""
    random = np.random.default_rng(7)
    dialogue = np.repeat(np.arange(15), 7)
    covered = 0
    for _ in range(400):
        gap = 0.5 + random.normal(0, 0.6, 15)[dialogue] + random.normal(0, 0.8, 105)
        low, high = compare_systems(gap, np.zeros(105), dialogue, permutations=1).difference.ci
        covered += low <= 0.5 <= high
    assert covered / 400 == pytest.approx(0.95, abs=3 * (0.95 * 0.05 / 400) ** 0.5)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e200, 1e307])
def test_the_test_and_the_interval_do_not_depend_on_the_unit_of_the_scores(scale: float) -> None:
    """Likelihoods are tiny and a metric that was handed in may be huge: p stays, the interval grows
    with the scores."""
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 12))
    dialogue = np.arange(12) // 3
    plain = compare_systems(first, second, dialogue).difference
    scaled = compare_systems(first * scale, second * scale, dialogue).difference
    assert plain.ci is not None
    assert scaled.ci == pytest.approx((plain.ci[0] * scale, plain.ci[1] * scale), rel=1e-9)
    assert scaled.p == plain.p == 0.625


def test_scores_as_large_as_numbers_can_be_have_no_interval() -> None:
    largest = np.full(4, 1.7e308)
    found = compare_systems(largest, -largest, np.arange(4)).difference
    assert found.value is None
    assert "too large" in found.reason


def test_two_systems_with_dialogues_of_their_own_are_compared_unpaired_by_welchs_t() -> None:
    random = np.random.default_rng(6)
    first, second = random.normal(3, 1, 20), random.normal(2.5, 2, 12)
    nothing = np.full(32, np.nan)
    one, other = nothing.copy(), nothing.copy()
    one[:20], other[20:] = first, second
    found = compare_systems(one, other, np.arange(32))
    expected = stats.ttest_ind(first, second, equal_var=False)
    assert not found.is_paired
    assert (found.items, found.dialogues, found.first_dialogues, found.second_dialogues) == (
        32,
        32,
        20,
        12,
    )
    assert found.difference.value == pytest.approx(first.mean() - second.mean())
    assert found.difference.p == pytest.approx(expected.pvalue)
    assert found.difference.ci == pytest.approx(tuple(expected.confidence_interval()))
    assert found.first.value == pytest.approx(first.mean())


def test_items_of_one_dialogue_count_as_one_draw_when_unpaired() -> None:
    random = np.random.default_rng(7)
    once = random.normal(size=(2, 10))
    alone, repeated = (
        compare_systems(
            *_disjoint(*np.repeat(once, times, axis=1)), np.repeat(np.arange(20), times)
        )
        for times in (1, 7)
    )
    assert repeated.difference.ci == pytest.approx(alone.difference.ci)
    assert repeated.difference.p == pytest.approx(alone.difference.p)


def test_a_few_shared_dialogues_do_not_throw_the_others_away() -> None:
    """12 and 13 dialogues, of which the systems share 2: paired, 2 dialogues would be left."""
    random = np.random.default_rng(8)
    first, second = random.normal(3, 1, 23), random.normal(2, 1, 23)
    first[12:], second[:10] = np.nan, np.nan
    found = compare_systems(first, second, np.arange(23))
    assert not found.is_paired
    assert (found.first_dialogues, found.second_dialogues, found.dialogues) == (12, 13, 23)
    assert found.difference.value == pytest.approx(np.nanmean(first) - np.nanmean(second))


def test_what_two_systems_share_in_a_dialogue_cancels_in_the_error() -> None:
    """Means 3 and 4, a dialogue each of three; c² = 3/2. Both lie 2 below their mean in the one
    that they share: 0. In the others one of them strays by 2/3, twice: s² = 2 · 3/2 · 4/9 = 4/3.
    Welch: (4/3 + 4/3)² / (2 · (4/3)² / 2) = 4 degrees of freedom, t = 2.776445."""
    first = np.array([1.0, 3.0, 5.0, np.nan, np.nan])
    second = np.array([2.0, np.nan, np.nan, 4.0, 6.0])
    found = compare_systems(first, second, np.arange(5))
    assert not found.is_paired
    half = 2.776445 * (4 / 3) ** 0.5
    assert found.difference.ci == pytest.approx((-1 - half, -1 + half), abs=1e-5)


def test_a_few_missing_scores_leave_a_comparison_paired() -> None:
    first, second = np.arange(20.0) % 5, np.arange(20.0) % 7
    first[:3], second[-2:] = np.nan, np.nan
    assert compare_systems(first, second, np.arange(20)).is_paired


def test_an_unpaired_interval_needs_two_dialogues_of_either_system() -> None:
    found = compare_systems(*_disjoint(np.array([1.0, 2.0, 3.0]), np.array([4.0])), np.arange(4))
    assert found.difference.value == pytest.approx(-2)
    assert "2 dialogues of either system" in found.difference.reason


@pytest.mark.parametrize(("dialogues", "turns"), [((20, 20), 4), ((8, 30), 2), ((5, 5), 3)])
def test_equal_systems_with_dialogues_of_their_own_are_told_apart_in_5_percent(
    dialogues: tuple[int, int], turns: int
) -> None:
    """1,500 corpora: a true 5 % shows as 3.6 to 6.6 %; with five dialogues each Welch's test stays
    below. Items taken as independent would reject 15 to 25 %."""
    random = np.random.default_rng(9)
    rejected, held = 0, 0
    total = sum(dialogues)
    for _ in range(1500):
        scores = np.repeat(random.normal(0, 0.6, total), turns) + random.normal(
            0, 0.7, total * turns
        )
        sides = _disjoint(scores[: dialogues[0] * turns], scores[dialogues[0] * turns :])
        found = compare_systems(*sides, np.repeat(np.arange(total), turns)).difference
        assert found.p is not None
        assert found.ci is not None
        rejected += found.p < 0.05
        held += found.ci[0] <= 0 <= found.ci[1]
    assert 0.03 <= rejected / 1500 <= 0.066
    assert held == 1500 - rejected


def _disjoint(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two systems that share no item, one after the other."""
    sides = np.full((2, len(first) + len(second)), np.nan)
    sides[0, : len(first)], sides[1, len(first) :] = first, second
    return sides[0], sides[1]
