import numpy as np
import pytest

from leaderboard.statistics.correlation.placed_scores import (
    PlacedScores,
    dialogue_means,
    system_sums,
)


def test_system_means_leave_missing_scores_out():
    system, dialogue = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1])
    sums = system_sums(
        np.array([1.0, np.nan, 4.0, 2.0, 3.0]), system, dialogue, systems=3, dialogues=2
    )
    # System 0: (1 + 4)/2; system 1: (2 + 3)/2; system 2 has nothing.
    np.testing.assert_allclose(sums.means(), [2.5, 2.5, np.nan])


def test_resampled_means_count_a_dialogue_as_often_as_it_was_drawn():
    system, dialogue = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    sums = system_sums(np.array([1.0, 4.0, 2.0, np.nan]), system, dialogue, systems=2, dialogues=2)
    # Drawn (2, 1): system 0 (1 + 1 + 4)/3, system 1 (2 + 2)/2. Drawn (0, 3): system 1 has no score.
    np.testing.assert_allclose(
        sums.resampled_means(np.array([[2.0, 1.0], [0.0, 3.0]])), [[2.0, 2.0], [4.0, np.nan]]
    )


def test_dialogue_means_lie_on_the_full_grid_of_systems_and_dialogues():
    placed = PlacedScores(
        scores=np.array([[1.0, 2.0, 5.0], [np.nan, 4.0, np.nan]]),
        system=np.array([0, 0, 1]),
        dialogue=np.array([0, 0, 1]),
    )
    means = dialogue_means(placed, systems=2, dialogues=2)
    assert means.system.tolist() == [0, 0, 1, 1]
    assert means.dialogue.tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(
        means.scores, [[1.5, np.nan, np.nan, 5.0], [4.0, np.nan, np.nan, np.nan]]
    )


def test_places_of_the_wrong_length_are_an_error():
    with pytest.raises(ValueError, match="dialogue has shape"):
        PlacedScores(np.ones(3), np.zeros(3, dtype=int), np.zeros(2, dtype=int))
