"""Verbosity, turns and self-preference of a judge; every number is worked here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from common.estimates import Undefined
from leaderboard.statistics.judges.self_preference import SelfPreference, self_preference
from leaderboard.statistics.judges.standardised_gaps import (
    Gaps,
    by_turn_number,
    difference_of_means,
    mean_gap,
    standardised_gaps,
)
from leaderboard.statistics.judges.verbosity import with_covariate, words_of

NAN = math.nan


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


# --- length ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("yes", 1),
        ("I do,  really\nI do.", 5),
        ("你好 吗", 3),
        ("ありがとう", 5),
        ("🙂 🙂", 2),
        ("مرحبا بك", 2),
        ("a" * 4000, 1),
    ],
)
def test_words_are_apart_by_white_space_and_ideographs_count_by_themselves(text, words) -> None:
    assert words_of(text) == words


def test_the_three_coefficients_of_one_set_of_items() -> None:
    """Judge 1 2 3 4, people 1 3 2 4, words 2 1 4 3 over the same four: ρ(judge, words) = 1 − 6·4/60
    = 0.6, ρ(people, words): d² 1, 4, 4, 1, so 1 − 6·10/60 = 0, ρ(judge, people): 0, 1, 1, 0, so
    0.8; partial: 0.6 / 0.6 = 1. The fifth item has no human score and is in none of them."""
    found = with_covariate(
        floats(1, 2, 3, 4, 5),
        floats(1, 3, 2, 4, NAN),
        floats(2, 1, 4, 3, 900),
        np.arange(5),
        resamples=0,
    )
    assert found.n == 4
    assert found.judge.value == pytest.approx(0.6)
    assert found.human.value == pytest.approx(0.0)
    assert found.judge_given_human.value == pytest.approx(1.0)
    assert found.judge.p is None


def test_without_human_scores_only_the_judge_is_correlated() -> None:
    found = with_covariate(
        floats(1, 2, 3, NAN), floats(NAN, NAN, NAN, 4), floats(3, 2, 1, 9), np.arange(4), 0
    )
    assert found.n == 3
    assert found.judge.value == pytest.approx(-1.0)
    assert (
        found.human.reason
        == found.judge_given_human.reason
        == "nobody has rated what the judge scored"
    )


def test_undefined_in_the_words_of_what_was_compared() -> None:
    equal = with_covariate(
        floats(2, 2, 2, 2), floats(1, 3, 2, 4), floats(2, 1, 4, 3), np.arange(4), resamples=0
    )
    assert equal.judge.reason == "all scores of the judge are equal"
    people = with_covariate(
        floats(1, 3, 2, 4), floats(2, 2, 2, 2), floats(2, 1, 4, 3), np.arange(4), resamples=0
    )
    assert people.human.reason == "all human scores are equal"
    alike = with_covariate(
        floats(1, 3, 2, 4), floats(1, 2, 3, 4), floats(7, 7, 7, 7), np.arange(4), resamples=0
    )
    assert alike.judge.reason == alike.human.reason == "all items are alike in it"


def test_the_interval_of_the_plain_coefficient_is_over_dialogues() -> None:
    from common.correlation import cluster_resamples

    random = np.random.default_rng(2)
    dialogue, words = np.repeat(np.arange(10), 4), random.integers(1, 30, 40).astype(float)
    judge, human = words + random.normal(0, 9, 40), random.integers(1, 6, 40).astype(float)
    found = with_covariate(judge, human, words, dialogue, resamples=100, seed=5)
    replicates = []
    for weights in cluster_resamples(10, 100, 5):
        items = np.repeat(np.arange(40), weights[dialogue])
        replicates.append(stats.spearmanr(judge[items], words[items]).statistic)
    assert found.judge.ci == pytest.approx(tuple(np.percentile(replicates, [2.5, 97.5])))


# --- z(judge) − z(people) -------------------------------------------------------------------------


def gaps_of(judge: np.ndarray, human: np.ndarray) -> Gaps:
    found = standardised_gaps(judge, human)
    assert isinstance(found, Gaps)
    return found


def test_scales_do_not_matter() -> None:
    """Judge 10, 20, 30 against people 1, 2, 3: z is −√1.5, 0, √1.5 on both sides."""
    assert gaps_of(floats(10, 20, 30), floats(1, 2, 3)).value == pytest.approx([0, 0, 0])


def test_a_mean_gap_and_a_difference_of_two() -> None:
    """Judge 3, 1, 1, 3 and people 1, 1, 3, 3: both have mean 2 and sd 1, so z are ±1 and the gaps
    2, 0, −2, 0."""
    gaps = gaps_of(floats(3, 1, 1, 3), floats(1, 1, 3, 3))
    assert gaps.value == pytest.approx([2, 0, -2, 0])
    first, dialogue = np.array([True, True, False, False]), np.arange(4)
    assert mean_gap(gaps, first, dialogue, 0).value == pytest.approx(1.0)
    assert difference_of_means(gaps, first, ~first, dialogue, 0).value == pytest.approx(2.0)


def test_the_interval_of_a_mean_gap_redraws_dialogues() -> None:
    """Two dialogues with mean gaps 1 and −1: a resample has both of one, both of the other, or one
    of each."""
    gaps = Gaps(floats(1, 1, -1, -1), 4)
    found = mean_gap(gaps, np.ones(4, dtype=bool), np.array([0, 0, 1, 1]), 1000)
    assert found.value == pytest.approx(0.0)
    assert found.ci == pytest.approx((-1.0, 1.0))


def test_a_group_that_a_resample_may_miss_has_no_interval() -> None:
    """Ours stand in one of three dialogues: (2/3)³ = 30 % of the resamples miss it, more than the
    tenth allowed."""
    gaps = Gaps(floats(1, -1, -1), 3)
    ours = np.array([True, False, False])
    found = difference_of_means(gaps, ours, ~ours, np.arange(3), 1000)
    assert found.value == pytest.approx(2.0)
    assert found.ci is None
    assert "of the resamples" in found.reason


@pytest.mark.parametrize(
    ("judge", "human", "reason"),
    [
        (floats(1, 2, 3), floats(NAN, NAN, 3), "fewer than two items"),
        (floats(1, 2, 3), floats(4, 4, 4), "all human scores are equal"),
        (floats(1, 1, 1), floats(1, 2, 3), "all scores of the judge are equal"),
    ],
)
def test_no_gaps_without_spread(judge, human, reason) -> None:
    found = standardised_gaps(judge, human)
    assert isinstance(found, Undefined)
    assert reason in found.reason


# --- turns ----------------------------------------------------------------------------------------


def test_one_line_for_each_turn_number() -> None:
    """The four items of above, two at turn 0 and two at turn 6."""
    found = by_turn_number(
        floats(3, 1, 1, 3, 5),
        floats(1, 1, 3, 3, NAN),
        np.array([0, 0, 6, 6, 6]),
        np.arange(5),
        resamples=0,
    )
    first, last = found
    assert (first.number, first.n, first.judge, first.human) == (0, 2, 2.0, 1.0)
    assert (last.number, last.n, last.judge, last.human) == (6, 2, 2.0, 3.0)
    assert first.gap.value == pytest.approx(1.0)
    assert last.gap.value == pytest.approx(-1.0)


# --- own family -----------------------------------------------------------------------------------


def preference(judge_family: str, families: list[str]) -> SelfPreference:
    """The four items of above, one a system: gaps 2, 0, −2, 0."""
    return self_preference(
        floats(3, 1, 1, 3),
        floats(1, 1, 3, 3),
        np.arange(4),
        np.arange(4),
        judge_family,
        families,
        resamples=0,
    )


def test_own_family_against_the_others() -> None:
    """Own: 2. Others: (0 − 2) / 2 = −1. The fourth system's family is not known: its 0 is in
    neither."""
    found = preference("gpt", ["gpt", "claude", "llama", ""])
    assert (found.own.value, found.others.value) == (pytest.approx(2.0), pytest.approx(-1.0))
    assert found.difference.value == pytest.approx(3.0)
    assert (found.own_systems, found.other_systems, found.unknown_systems) == (1, 2, 1)


@pytest.mark.parametrize(
    ("judge", "families", "reason"),
    [
        ("", ["gpt", "claude", "", ""], "the judge's name says no model family"),
        ("gpt", ["", "", "", ""], "no system's name says a model family"),
        ("gpt", ["claude", "llama", "", ""], "no system is known to be of the judge's family, gpt"),
        ("gpt", ["gpt", "gpt", "", ""], "no system is known to be of another family"),
    ],
)
def test_undefined_where_families_are_not_known(judge, families, reason) -> None:
    found = preference(judge, families)
    for estimate in (found.own, found.others, found.difference):
        assert estimate.value is None
        assert reason in estimate.reason
