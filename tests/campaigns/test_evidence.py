"""What ratings say of systems that were drawn with unequal probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotations.campaigns.plan.evidence import (
    INTERIM_LEVEL,
    LOOKS,
    POCOCK_20,
    Standing,
    cells_of,
    standing_of,
    weight_of,
)


def standing(
    system: list[int], dialogue: list[int], score: list[float], p: list[float] | None = None
) -> Standing:
    weight = weight_of(np.array(p)) if p else np.ones(len(system))
    shape = (max(system) + 1, max(dialogue) + 1)
    return standing_of(
        cells_of(np.array(system), np.array(dialogue), weight, np.array(score, float), shape)
    )


def test_a_mean_weighs_each_rating_by_one_over_the_root_of_its_probability() -> None:
    # weights 1/√0.25 = 2, 1/√1 = 1: (2·5 + 1·2 + 1·2 + 1·2 + 1·2) / 6 = 18/6
    found = standing([0] * 5, [0, 1, 2, 3, 4], [5, 2, 2, 2, 2], [0.25, 1, 1, 1, 1])
    assert found.mean[0] == pytest.approx(3.0)


def test_with_one_rating_a_dialogue_the_variance_is_that_of_a_mean() -> None:
    scores = [1.0, 2.0, 4.0, 5.0, 3.0, 3.0]
    found = standing([0] * 6, list(range(6)), scores)
    assert found.covariance[0, 0] == pytest.approx(np.var(scores, ddof=1) / 6)
    assert found.unit[0] == pytest.approx(np.var(scores, ddof=1))


def test_ratings_of_one_dialogue_are_one_error_not_many() -> None:
    """Four times the same three dialogues: as sure as the three alone, not four times as sure."""
    once = standing([0] * 6, [0, 1, 2] * 2, [1, 3, 5] * 2)
    often = standing([0] * 12, [0, 1, 2] * 4, [1, 3, 5] * 4)
    assert once.covariance[0, 0] == pytest.approx(often.covariance[0, 0])
    assert once.covariance[0, 0] == pytest.approx(np.var([1, 3, 5], ddof=1) / 3)


def test_systems_that_stand_or_fall_with_the_dialogue_are_told_apart_by_their_difference() -> None:
    """b is always 0.5 above a, whatever the dialogue: intervals overlap widely, the difference is
    certain."""
    levels = [1.0, 2.0, 3.0, 4.0, 2.5, 3.5, 1.5, 4.0]
    a, b = levels, [level + 0.5 + 0.01 * (place % 2) for place, level in enumerate(levels)]
    found = standing([0] * 8 + [1] * 8, list(range(8)) * 2, a + b)
    assert found.mean[0] + found.half_width[0] > found.mean[1] - found.half_width[1]
    assert found.separated()[0, 1]


def test_equal_means_are_never_apart() -> None:
    found = standing([0] * 6 + [1] * 6, list(range(6)) * 2, [1, 2, 3, 4, 5, 3, 3, 5, 4, 3, 2, 1])
    assert not found.separated().any()


@pytest.mark.parametrize(("ratings", "dialogues"), [(4, 4), (8, 2)])
def test_of_a_system_with_few_ratings_or_dialogues_nothing_is_said(
    ratings: int, dialogues: int
) -> None:
    system = [0] * 10 + [1] * ratings
    dialogue = list(range(10)) + [place % dialogues for place in range(ratings)]
    found = standing(system, dialogue, [1.0] * 10 + [5.0] * ratings)
    assert found.known.tolist() == [True, False]
    assert np.isnan(found.mean[1])
    assert not found.separated().any()


def test_the_critical_value_is_students_t_at_the_level_of_a_look() -> None:
    scores = [1.0, 2.0, 4.0, 5.0, 3.0, 3.0]
    found = standing([0] * 6, list(range(6)), scores)
    t = stats.t.ppf(1 - INTERIM_LEVEL / 2, 5)
    assert found.half_width[0] == pytest.approx(t * np.std(scores, ddof=1) / np.sqrt(6))
    assert stats.norm.sf(POCOCK_20) * 2 == pytest.approx(INTERIM_LEVEL, abs=1e-5)


def test_twenty_looks_at_no_difference_pass_the_critical_value_in_five_percent() -> None:
    """The sum of 20 independent steps, looked at after each: 40,000 walks, standard error 0.11
    points."""
    steps = np.random.default_rng(0).normal(size=(40_000, LOOKS)).cumsum(axis=1)
    z = np.abs(steps) / np.sqrt(np.arange(1, LOOKS + 1))
    assert (z > POCOCK_20).any(axis=1).mean() == pytest.approx(0.05, abs=0.004)
    assert (z > 1.96).any(axis=1).mean() == pytest.approx(0.248, abs=0.01)


def test_scores_that_are_all_alike_are_not_certain() -> None:
    """Variance per rating: 1.5 for the one, 0 for the other, 0.75 on average; 2 parts in 6 + 2 − 1
    of it are lent."""
    scores = [3 - 1.25**0.5 * 1.0, 3 + 1.25**0.5 * 1.0] * 3  # Σ (y − 3)² / 5 = 6 · 1.25 / 5 = 1.5
    found = standing([0] * 6 + [1] * 6, list(range(6)) * 2, [*scores, *[5.0] * 6])
    assert found.unit == pytest.approx([1.5, 0.75 * 2 / 7])
    assert found.covariance[1, 1] == pytest.approx(0.75 * 2 / 7 / 6)
    everything = standing([0] * 6 + [1] * 6, list(range(6)) * 2, [1.0] * 6 + [5.0] * 6)
    assert everything.unit == pytest.approx([0, 0])
