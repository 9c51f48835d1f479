import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics.correlation import tie_calibrated_accuracy
from leaderboard.statistics.correlation.tie_calibrated_accuracy import tie_calibrated_accuracies

CASES = json.loads((Path(__file__).parents[2] / "cases" / "significance.json").read_text())[
    "tie_calibration"
]["cases"]


@pytest.mark.parametrize("case", CASES)
def test_accuracy_and_epsilon_are_those_of_mt_metrics_eval(case):
    human, metric = (np.array(case[side], dtype=float) for side in ("human", "metric"))
    group = np.repeat(np.arange(len(human)), human.shape[1])
    (found,) = tie_calibrated_accuracies(human.ravel(), metric.ravel(), group)
    assert found.accuracy.value == pytest.approx(case["accuracy"])
    assert found.epsilon == case["epsilon"]


def accuracy_at(human, metric, group, epsilon):
    """Every pair of every group, one by one."""
    of_groups = []
    for number in np.unique(group):
        right = []
        for i, j in combinations(np.flatnonzero(group == number), 2):
            gap = metric[i] - metric[j]
            tied = abs(gap) <= epsilon
            right.append(
                tied if human[i] == human[j] else not tied and (gap > 0) == (human[i] > human[j])
            )
        of_groups.append(np.mean(right))
    return np.mean(of_groups)


def test_no_other_epsilon_is_better():
    random = np.random.default_rng(3)
    human, group = (
        random.integers(1, 4, 60).astype(float),
        np.repeat(np.arange(5), [4, 8, 12, 16, 20]),
    )
    metric = human + random.normal(size=60).round(1)
    (found,) = tie_calibrated_accuracies(human, metric, group)
    assert found.epsilon > 0
    assert found.accuracy.value == pytest.approx(accuracy_at(human, metric, group, found.epsilon))
    gaps = np.unique([abs(a - b) for a, b in combinations(metric, 2)])
    assert found.accuracy.value == pytest.approx(
        max(accuracy_at(human, metric, group, gap) for gap in [0, *gaps])
    )


def test_a_metric_whose_low_scores_are_good_is_turned_round():
    human, metric = np.array([1.0, 2, 3]), np.array([3.0, 2, 1])
    (found,) = tie_calibrated_accuracies(human, metric, higher_is_better=[False])
    assert found.accuracy.value == 1.0


def groups_half_right(count):
    """Accuracies of the groups: 1, 0, 1, 0, …"""
    return (
        np.tile([1.0, 2.0], count),
        np.tile([1.0, 2, 2, 1], count // 2),
        np.repeat(np.arange(count), 2),
    )


def test_ten_dialogues_that_do_not_differ_leave_room_for_others():
    """As many as 1 − 0.05^(1/10) = 0.2589 of the dialogues may be another, all right or all
    wrong."""
    human, metric, group = groups_half_right(20)
    (found,) = tie_calibrated_accuracies(human, metric, group, np.repeat(np.arange(10), 4))
    assert found.accuracy.ci == pytest.approx((0.5 * (1 - 0.25887), 0.5 + 0.5 * 0.25887), abs=1e-5)


def test_of_nine_it_may_be_chance_and_there_is_no_interval():
    human, metric, group = groups_half_right(18)
    (found,) = tie_calibrated_accuracies(human, metric, group, np.repeat(np.arange(9), 4))
    assert (found.accuracy.value, found.accuracy.ci) == (0.5, None)
    assert "agree to the digit" in found.accuracy.reason


def test_the_interval_is_over_dialogues():
    human, metric, group = groups_half_right(4)
    (apart,) = tie_calibrated_accuracies(human, metric, group, np.array([0, 0, 1, 1, 0, 0, 1, 1]))
    # Dialogue sums less 0.5 · 2 are +1 and −1: error √(2/1 · 2) / 4 = 0.5, t of one degree of
    # freedom: all of [0, 1].
    assert apart.accuracy.ci == (0.0, 1.0)


def test_too_many_pairs_are_drawn_and_the_share_is_kept(monkeypatch):
    random = np.random.default_rng(0)
    human = random.integers(1, 6, 400).astype(float)
    metric = human + random.normal(size=400)
    (whole,) = tie_calibrated_accuracies(human, metric)
    monkeypatch.setattr(tie_calibrated_accuracy, "MOST_PAIRS", 20_000)
    (drawn,) = tie_calibrated_accuracies(human, metric)
    assert (whole.pairs, drawn.pairs) == (400 * 399 // 2, 20_000)
    assert drawn.accuracy.value == pytest.approx(whole.accuracy.value, abs=0.015)


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([1, 2, 3], [1, 1, 1], "all metric scores are equal"),
        (
            [4, 4, 4],
            [1, 2, 3],
            "no two human scores of a group differ",
        ),  # an ε of 2 would be right of every pair
        ([1, 2, np.nan], [1, np.nan, 3], "no two responses"),
        ([], [], "no two responses"),
    ],
)
def test_what_has_no_accuracy_says_why(human, metric, reason):
    (found,) = tie_calibrated_accuracies(human, [metric])
    assert (found.accuracy.value, found.epsilon) == (None, None)
    assert reason in found.accuracy.reason


def test_a_group_over_two_dialogues_is_refused():
    with pytest.raises(ValueError, match="one dialogue"):
        tie_calibrated_accuracies([1, 2, 3], [1, 2, 3], [0, 0, 0], [0, 0, 1])
