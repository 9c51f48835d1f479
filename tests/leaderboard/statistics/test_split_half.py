import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from common.estimates import Estimate
from leaderboard.statistics.correlation.reliability import (
    corrected_for_unreliability,
    split_half,
    stepped_up,
)
from tests.leaderboard.statistics.made_corpora import World, made_corpus


def matrix_of(ratings, dialogue, kind="identified"):
    return RatingMatrix(
        ratings, dialogue, tuple(f"r{number}" for number in range(len(ratings))), rater_kind=kind
    )


def test_halves_of_half_the_agreement_step_up_to_two_thirds():
    # 2 · 0.5 / 1.5 = 2/3; 2 · −0.5 / 0.5 = −2: less than nothing, never cut to 0.
    assert stepped_up(np.array([0.5, 1.0, 0.0, -0.5])) == pytest.approx([2 / 3, 1.0, 0.0, -2.0])
    assert np.isnan(stepped_up(np.array([-1.0]))).all()


def test_two_raters_are_each_other_s_half():
    first, second = np.array([1.0, 2, 3, 4, 5, 2]), np.array([2.0, 2, 3, 5, 4, 1])
    found = split_half(
        matrix_of(np.stack((first, second)), np.arange(6)), np.zeros(6, dtype=int), ("turn",)
    )
    # Which half is which changes nothing in sum: see the mixed halves below
    r = np.corrcoef(first, second)[0, 1]
    halves = [
        np.where(np.array(coin) == 1, (second, first), (first, second))
        for coin in np.ndindex(*(2,) * 6)
    ]
    mixed = [np.corrcoef(*pair)[0, 1] for pair in halves]
    assert min(mixed) <= r <= max(mixed)
    low, high = 2 * min(mixed) / (1 + min(mixed)), 2 * max(mixed) / (1 + max(mixed))
    assert low <= found["turn"]["pearson"].value <= high


def test_four_parallel_raters_have_the_reliability_of_the_model():
    # A rater is truth + noise, both of variance 1: the mean of four has reliability 1 / (1 + 1/4) =
    # 0.8.
    random = np.random.default_rng(2)
    truth = random.normal(size=6000)
    ratings = truth + random.normal(size=(4, 6000))
    found = split_half(
        matrix_of(ratings, np.repeat(np.arange(60), 100)), np.zeros(6000, dtype=int), ("turn",)
    )
    assert found["turn"]["pearson"].value == pytest.approx(0.8, abs=0.02)
    low, high = found["turn"]["pearson"].ci
    assert low < 0.8 < high


def test_the_corrected_correlation_is_that_with_the_truth():
    # r with the mean of four = 0.6 · √0.8; divided by √0.8 it is the 0.6 of the truth again.
    found = corrected_for_unreliability(Estimate(0.6 * np.sqrt(0.8), ci=(0.5, 0.6)), Estimate(0.8))
    assert found.value == pytest.approx(0.6)
    assert found.ci == pytest.approx((0.5 / np.sqrt(0.8), 0.6 / np.sqrt(0.8)))


def test_an_interval_of_the_limit_of_many_dialogues_is_not_corrected_again():
    found = corrected_for_unreliability(
        Estimate(0.48, ci=(0.4, 0.7)), Estimate(0.64), interval_is_of_the_limit=True
    )
    assert found.value == pytest.approx(0.6)
    assert found.ci == (0.4, 0.7)


def test_it_is_not_cut_at_one():
    assert corrected_for_unreliability(Estimate(0.9), Estimate(0.5)).value == pytest.approx(
        0.9 / np.sqrt(0.5)
    )


@pytest.mark.parametrize(
    ("reliability", "reason"),
    [
        (Estimate(0.0), "no reliability (0.00)"),
        (Estimate(-0.3), "no reliability (-0.30)"),
        (Estimate.undefined("why"), "unknown: why"),
    ],
)
def test_without_reliability_there_is_nothing_to_correct(reliability, reason):
    found = corrected_for_unreliability(Estimate(0.5), reliability)
    assert found.value is None
    assert reason in found.reason


def test_raters_without_names_can_be_split_but_means_cannot():
    corpus = made_corpus(1, dialogues=6, systems=5, turns=2)
    anonymous = split_half(matrix_of(corpus.ratings, corpus.dialogue, "anonymous"), corpus.system)
    assert all(of_level["pearson"].is_defined for of_level in anonymous.values())
    assert "none for τ" in anonymous["turn"]["kendall"].reason
    means = split_half(matrix_of(corpus.ratings, corpus.dialogue, "aggregate"), corpus.system)
    assert "not raters" in means["system"]["pearson"].reason


def test_one_rater_cannot_be_split():
    corpus = made_corpus(1, dialogues=3, systems=3, turns=1, raters=1)
    found = split_half(matrix_of(corpus.ratings, corpus.dialogue), corpus.system)
    assert found["turn"]["pearson"].reason == "no response has two raters: nothing can be split"


def test_missing_ratings_leave_a_response_with_two_raters_in():
    world = World.made(1, systems=30, raters=4)
    corpus = world.corpus(1, dialogues=20, turns=4)
    ratings = corpus.ratings.copy()
    ratings[np.random.default_rng(0).random(ratings.shape) < 0.4] = np.nan
    found = split_half(matrix_of(ratings, corpus.dialogue), corpus.system)
    full = split_half(matrix_of(corpus.ratings, corpus.dialogue), corpus.system)
    assert 0 < found["turn"]["pearson"].value < full["turn"]["pearson"].value


def test_raters_who_say_the_same_throughout_have_no_reliability_but_a_reason():
    found = split_half(matrix_of(np.full((2, 6), 3.0), np.arange(6)), np.arange(6) % 3)
    for level in ("turn", "dialogue", "system"):
        assert found[level]["pearson"].reason == "one half's mean scores are all equal"


def test_raters_who_oppose_each_other_have_a_coefficient_below_minus_one_and_no_interval():
    first = np.tile([1.0, 2, 3, 4, 5], 8)
    second = 6.0 - first + np.random.default_rng(4).normal(0, 0.3, 40)
    found = split_half(
        matrix_of(np.stack((first, second)), np.repeat(np.arange(10), 4)),
        np.zeros(40, int),
        ("turn",),
    )
    assert found["turn"]["pearson"].value < -1
    assert found["turn"]["pearson"].ci is None
    assert "the halves of the raters are so opposed" in found["turn"]["pearson"].reason


def test_the_seed_decides_the_splits():
    corpus = made_corpus(1, dialogues=6, systems=5, turns=2)
    one, same, other = (
        split_half(
            matrix_of(corpus.ratings, corpus.dialogue),
            corpus.system,
            ("turn",),
            splits=3,
            seed=seed,
        )
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
