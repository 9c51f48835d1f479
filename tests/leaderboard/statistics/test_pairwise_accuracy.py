import numpy as np
import pytest

from common.correlation import cluster_resamples
from leaderboard.statistics.correlation.pairwise_accuracy import (
    pairwise_accuracy,
    pairwise_accuracy_over_dialogues,
)
from leaderboard.statistics.correlation.placed_scores import PlacedScores
from tests.common.correlation.resampled import drawn_items
from tests.leaderboard.statistics.campaign import campaign


def test_five_of_six_pairs():
    # Only systems 1 and 2 change places.
    assert pairwise_accuracy([1, 2, 3, 4], [1, 3, 2, 4]).value == pytest.approx(5 / 6)


def test_pairs_that_tie_for_people_are_left_out_and_metric_ties_are_wrong():
    # Pairs: (0,1) tied for people; (0,2) right; (1,2) tied for the metric.
    assert pairwise_accuracy([1, 1, 2], [1, 3, 3]).value == pytest.approx(1 / 2)


def test_a_metric_whose_low_scores_are_good_is_turned_round():
    assert pairwise_accuracy([1, 2, 3], [9, 5, 1], higher_is_better=False).value == pytest.approx(
        1.0
    )


def test_systems_without_a_score_are_dropped():
    assert pairwise_accuracy([1, 2, np.nan, 4], [1, 2, 9, np.nan]).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [([1.0], [2.0], "at least 2 systems"), ([2, 2, 2], [1, 2, 3], "all human scores are equal")],
)
def test_undefined_says_why(human, metric, reason):
    assert reason in pairwise_accuracy(human, metric).reason


def test_interval_redraws_dialogues():
    c = campaign(systems=6, dialogues=8, metrics=1)
    found = pairwise_accuracy_over_dialogues(
        PlacedScores(c.human, c.system, c.dialogue),
        PlacedScores(c.metrics, c.system, c.dialogue),
        6,
        resamples=50,
    )
    replicates = []
    for multiplicity in cluster_resamples(8, 50, 0):
        items = drawn_items(c.dialogue, multiplicity)
        means = [
            np.round([scores[items][c.system[items] == number].mean() for number in range(6)], 10)
            for scores in (c.human, c.metrics[0])
        ]
        replicates.append(pairwise_accuracy(*means).value)
    assert found.ci == pytest.approx(tuple(np.percentile(replicates, [2.5, 97.5])))
