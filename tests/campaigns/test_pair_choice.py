"""Which two systems are compared next, and how sure their ranking is: arithmetic, and a
simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from annotations.campaigns.plan.allocation import reached
from annotations.campaigns.plan.pair_choice import (
    PRIOR,
    Votes,
    information,
    pair_chances,
    standing_of_votes,
)
from common.bradley_terry import ELO_SCALE, fitted_strengths

THREE = ((0, 1), (0, 2), (1, 2))


def votes(systems: int, *rows: tuple[int, int, float, int]) -> Votes:
    first, second, won, dialogue = np.asarray(rows, dtype=float).reshape(-1, 4).T
    return Votes(systems, first.astype(int), second.astype(int), won, dialogue.astype(int))


# --- errors of strengths -------------------------------------------------------------------------


def test_information_of_four_games_between_equals_is_one() -> None:
    games = np.array([[0.0, 4.0], [4.0, 0.0]])  # 4 × ½ × ½
    assert information(games, np.zeros(2)).tolist() == [[1, -1], [-1, 1]]


def test_errors_are_summed_by_dialogue() -> None:
    # 6 of 8 won, p = 0.75, A = 8 × 0.1875 = 1.5; scores 0.25 and −0.75: Σ g² = 6/16 + 18/16 = 1.5
    won = [1, 1, 1, 1, 1, 1, 0, 0]
    apart = standing_of_votes(votes(2, *((0, 1, one, n) for n, one in enumerate(won))))
    # of the difference 8/7 × 1.5 / 1.5² = 0.762, a quarter of it for each strength
    assert apart.covariance[0, 0] / ELO_SCALE**2 == pytest.approx(8 / 7 / 1.5 / 4)
    assert apart.mean.tolist() == pytest.approx(
        [1000 + 200 * np.log10(3), 1000 - 200 * np.log10(3)]
    )
    # Two equal votes in each of 4 dialogues: Σ g² doubles, and 4/3 stands in the place of 8/7
    together = standing_of_votes(votes(2, *((0, 1, one, n // 2) for n, one in enumerate(won))))
    assert together.covariance[0, 0] / ELO_SCALE**2 == pytest.approx(4 / 3 * 2 / 1.5 / 4)


def test_no_variance_is_below_that_of_independent_comparisons() -> None:
    # A win and a loss in each dialogue: every g is 0; A = 8 / 4 = 2, so ½ / 4 for each strength
    found = standing_of_votes(votes(2, *((0, 1, n % 2, n // 2) for n in range(8))))
    assert np.diag(found.covariance) / ELO_SCALE**2 == pytest.approx([0.125, 0.125])


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(0, 1, 1, n) for n in range(8)], "never lost"),
        ([(0, 1, n % 2, n) for n in range(4)], "four comparisons"),
        ([(0, 1, n % 2, n % 2) for n in range(8)], "two dialogues"),
        ([], "nothing"),
    ],
)
def test_nothing_is_known_of_a_ranking_that_has_no_errors(
    rows: list[tuple[int, int, float, int]], why: str
) -> None:
    found = standing_of_votes(votes(2, *rows))
    assert (reached(found).widest, reached(found).separated) == (None, 0), why


# --- the choice -----------------------------------------------------------------------------------


def test_before_anything_is_known_all_pairs_have_one_chance() -> None:
    for target, value in (("none", None), ("width", 100.0), ("pairs", 100.0)):
        assert pair_chances(votes(3), THREE, target, value) == pytest.approx([1 / 3] * 3)


def test_a_chance_is_in_proportion_to_the_variance_that_the_comparison_takes_away() -> None:
    seen = votes(3, *((0, 1, n % 3 > 0, n) for n in range(9)), (1, 2, 1, 9), (0, 2, 1, 9))
    games = seen.wins() + seen.wins().T
    strength = fitted_strengths(seen.wins()[np.newaxis], prior=PRIOR)[0]

    def variance_of_differences(more: np.ndarray) -> float:
        covariance = np.linalg.inv(information(games + more, strength, PRIOR))
        return sum(covariance[s, s] + covariance[t, t] - 2 * covariance[s, t] for s, t in THREE)

    taken = []
    for one, other in THREE:
        more = np.zeros((3, 3))
        more[one, other] = more[other, one] = 1
        taken.append(variance_of_differences(np.zeros((3, 3))) - variance_of_differences(more))
    found = pair_chances(seen, THREE, "width", 100, floor=0)
    assert found == pytest.approx(np.array(taken) / sum(taken))
    assert found[0] < min(found[1:])  # nine comparisons are there already


def test_a_fifth_of_the_draws_stays_even() -> None:
    seen = votes(3, *((0, 1, 1, n) for n in range(500)), (1, 2, 1, 1))
    found = pair_chances(seen, THREE)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0.2 / 3


@pytest.mark.parametrize(("target", "value"), [("none", None), ("pairs", 80.0)])
def test_neighbours_come_before_systems_far_apart(target: str, value: float | None) -> None:
    truth = np.array([2.0, 0.2, -0.2, -2.0])
    pairs = list(combinations(range(4), 2))
    rows = [
        (one, other, n < round(60 * expit(truth[one] - truth[other])), n)
        for one, other in pairs
        for n in range(60)
    ]
    found = dict(zip(pairs, pair_chances(votes(4, *rows), pairs, target, value), strict=True))
    assert max(found, key=found.__getitem__) == (1, 2)
    assert min(found, key=found.__getitem__) == (0, 3)


# --- what it saves --------------------------------------------------------------------------------


def needed(seed: int, is_adaptive: bool) -> int:
    """Comparisons until no interval is wider than 250 points: 8 systems from 4 to −4, 20 looks at
    3,000 comparisons."""
    random, pairs = np.random.default_rng(seed), list(combinations(range(8), 2))
    truth, of_pair = np.linspace(4, -4, 8), np.array(pairs)
    chances, drawn = np.full(28, 1 / 28), np.empty(0, dtype=int)
    won, dialogue = np.empty(0), np.empty(0, dtype=int)
    for number in range(1, 21):
        more = random.choice(28, 150, p=chances)
        first, second = of_pair[more].T
        drawn = np.concatenate((drawn, more))
        won = np.concatenate((won, random.random(150) < expit(truth[first] - truth[second])))
        dialogue = np.concatenate((dialogue, random.integers(0, 200, 150)))
        seen = Votes(8, *of_pair[drawn].T, won, dialogue)
        if reached(standing_of_votes(seen)).meets("width", 250):
            return 150 * number
        if is_adaptive:
            chances = pair_chances(seen, pairs, "width", 250)
    return 3150


def test_intervals_of_a_width_take_fewer_comparisons() -> None:
    evenly = sum(needed(seed, is_adaptive=False) for seed in range(6))
    adaptively = sum(needed(seed, is_adaptive=True) for seed in range(6))
    assert adaptively < 0.9 * evenly
