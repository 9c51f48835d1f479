"""Places with ranges, and where a metric's lie clear of people's; worked by hand."""

from __future__ import annotations

import numpy as np

from leaderboard.statistics.ranking.rank_differences import places, rank_differences

NONE = np.full(4, np.nan)


def ends(*pairs: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = np.array(pairs, dtype=np.float64).T
    return (low + high) / 2, low, high


def test_places_count_who_is_clearly_better_and_clearly_worse() -> None:
    # 4.5–5 clear of all; 3–4 and 3.5–4.4 overlap; 1–2 below all.
    found = places(*ends((3, 4), (4.5, 5), (1, 2), (3.5, 4.4)))
    assert found.place.tolist() == [3, 1, 4, 2]
    assert found.best.tolist() == [2, 1, 4, 2]
    assert found.worst.tolist() == [3, 1, 4, 3]


def test_of_a_distance_the_lowest_is_best() -> None:
    found = places(*[np.array([0.1, 0.3, 0.2])] * 3, higher_is_better=False)
    assert found.place.tolist() == found.best.tolist() == found.worst.tolist() == [1, 3, 2]


def test_equal_scores_share_the_better_place_and_a_range() -> None:
    found = places(*[np.array([2.0, 2.0, 1.0])] * 3)
    assert (found.place.tolist(), found.best.tolist(), found.worst.tolist()) == (
        [1, 1, 3],
        [1, 1, 3],
        [2, 2, 3],
    )


def test_a_difference_within_the_rank_ranges_does_not_mislead() -> None:
    # People: the first two cannot be told apart (places 1–2); the metric turns them round, with
    # certainty.
    human = ends((3, 4), (3.2, 4.2), (1, 2))
    metric = (np.array([3.0, 2.0, 1.0]), np.full(3, np.nan), np.full(3, np.nan))
    found = rank_differences(human, metric)
    assert found.difference.tolist() == [-1, 1, 0]
    assert found.beyond.tolist() == [0, 0, 0]
    assert (found.misled, found.worst) == (0, 0)


def test_what_lies_clear_of_the_range_misleads_by_the_distance_between_the_ranges() -> None:
    # People: 1–2, 1–2, 3, 4. The metric, sure of itself: 4, 3, 2, 1.
    human = ends((3, 4), (3.2, 4.2), (2, 2.5), (1, 1.5))
    metric = (np.array([1.0, 2.0, 3.0, 4.0]), NONE, NONE)
    found = rank_differences(human, metric)
    assert found.beyond.tolist() == [4 - 2, 3 - 2, 2 - 3, 1 - 4]
    assert (found.misled, found.worst) == (4, 3)


def test_an_uncertain_metric_misleads_less() -> None:
    human = ends((3, 4), (3.2, 4.2), (2, 2.5), (1, 1.5))
    metric = ends((0, 9), (0, 9), (0, 9), (0, 9))  # every place is possible
    assert rank_differences(human, metric).beyond.tolist() == [0, 0, 0, 0]


def test_systems_without_a_score_are_in_neither_order() -> None:
    human = (np.array([4.0, 3.0, np.nan, 1.0]),) * 3
    metric = (np.array([1.0, np.nan, 9.0, 2.0]), NONE, NONE)
    found = rank_differences(human, metric)
    assert found.is_placed.tolist() == [True, False, False, True]
    assert (found.human.place.tolist(), found.metric.place.tolist()) == ([1, 0, 0, 2], [2, 0, 0, 1])
    assert found.beyond.tolist() == [1, 0, 0, -1]


def test_a_mean_without_an_interval_may_lie_anywhere() -> None:
    found = places(np.array([4.0, 3.1]), np.array([np.nan, 2.9]), np.array([np.nan, 3.3]))
    assert (found.place.tolist(), found.best.tolist(), found.worst.tolist()) == (
        [1, 2],
        [1, 1],
        [2, 2],
    )


def test_of_people_s_means_without_any_interval_no_metric_says_the_opposite() -> None:
    turned = (np.array([1.0, 2.0]), np.array([0.9, 1.9]), np.array([1.1, 2.1]))
    found = rank_differences((np.array([4.0, 3.0]), *np.full((2, 2), np.nan)), turned)
    assert (found.difference.tolist(), found.misled) == ([1, -1], 0)


def test_nobody_scored_is_nobody_misled() -> None:
    found = rank_differences((NONE, NONE, NONE), (NONE, NONE, NONE))
    assert (found.misled, found.worst) == (0, 0)
