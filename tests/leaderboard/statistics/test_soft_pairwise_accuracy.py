import json
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics.correlation.placed_scores import PlacedScores
from leaderboard.statistics.correlation.soft_pairwise_accuracy import soft_pairwise_accuracies

CASE = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())[
    "soft_pairwise_accuracy"
]


def placed(grid):
    grid = np.array(grid, dtype=float)
    systems, dialogues = grid.shape
    return PlacedScores(
        grid.ravel(),
        np.repeat(np.arange(systems), dialogues),
        np.tile(np.arange(dialogues), systems),
    )


def accuracy(human, metric, **settings):
    return soft_pairwise_accuracies(placed(human), placed(metric), len(human), **settings)[0]


def test_the_accuracy_is_that_of_the_published_definition():
    found = accuracy(CASE["human"], CASE["metric"], permutations=20_000)
    assert found.value == pytest.approx(CASE["accuracy"], abs=0.003)


def test_p_of_two_dialogues_by_hand():
    # People: differences 1 and 1; of the sums 2, 0, 0, −2 one is at least 2: p = 1/4. The metric
    # has −1 and −1: p = 1.
    found = accuracy([[2, 3], [1, 2]], [[1, 2], [2, 3]], permutations=20_000)
    assert found.value == pytest.approx(1 - 0.75, abs=0.01)


def test_people_themselves_and_their_scores_on_another_scale_are_right_throughout():
    assert accuracy(CASE["human"], CASE["human"]).value == 1.0
    assert accuracy(CASE["human"], 1e6 * np.array(CASE["human"]) + 5).value == 1.0


def test_a_metric_whose_low_scores_are_good_is_turned_round():
    assert accuracy(CASE["human"], -np.array(CASE["human"]), higher_is_better=[False]).value == 1.0


def test_turns_of_a_dialogue_change_places_together():
    # Each score thrice, as three turns of its dialogue: the dialogues are no more than they were.
    human, metric = placed(CASE["human"]), placed(CASE["metric"])
    thrice = [
        PlacedScores(
            np.repeat(one.scores[0], 3), *(np.repeat(n, 3) for n in (one.system, one.dialogue))
        )
        for one in (human, metric)
    ]
    (found,) = soft_pairwise_accuracies(*thrice, 6)
    assert found.value == pytest.approx(accuracy(CASE["human"], CASE["metric"]).value)


def test_a_missing_score_leaves_its_dialogue_out_of_its_pairs():
    holed = np.array(CASE["metric"])
    holed[0, 0] = np.nan
    human = np.array(CASE["human"])
    without = human.copy()
    without[0, 0] = np.nan
    assert accuracy(human, holed).value == accuracy(without, holed).value


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([[1, 1], [1, 1]], [[1, 2], [3, 4]], "all human scores are equal"),
        ([[1, 2], [3, 4]], [[1, 1], [1, 1]], "all metric scores are equal"),
        ([[1], [2]], [[1], [2]], "at least 2 dialogues"),
        ([[1, 2]], [[1, 2]], "no two systems"),
        ([[np.nan, 2], [1, np.nan]], [[1, 2], [1, 2]], "no two systems"),
    ],
)
def test_what_has_no_accuracy_says_why(human, metric, reason):
    found = accuracy(human, metric)
    assert found.value is None
    assert reason in found.reason
