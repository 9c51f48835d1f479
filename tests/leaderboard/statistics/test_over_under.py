"""Widest gaps between z-scores; every number is worked here."""

from __future__ import annotations

import math

import numpy as np
import pytest

from common.estimates import Undefined
from leaderboard.statistics.significance.driving_items import OverUnder, widest_gaps

NAN = math.nan


def gaps(
    metric: list[float], human: list[float], *, higher_is_better: bool = True, top: int = 10
) -> OverUnder:
    found = widest_gaps(
        np.array(metric), np.array(human), higher_is_better=higher_is_better, top=top
    )
    assert isinstance(found, OverUnder)
    return found


def test_the_gap_is_the_difference_of_z_scores() -> None:
    """Metric 1, 2, 3: mean 2, sd √(2/3), z ∓1.2247, 0. People 3, 2, 1: the same turned round. Gaps
    −2.449, 0, 2.449."""
    found = gaps([1, 2, 3], [3, 2, 1])
    (over,) = found.over
    (under,) = found.under
    assert (over.item, over.metric, over.human) == (2, 3, 1)
    assert over.metric_z == pytest.approx(math.sqrt(1.5))
    assert over.human_z == pytest.approx(-math.sqrt(1.5))
    assert over.gap == pytest.approx(2 * math.sqrt(1.5))
    assert under.item == 0
    assert under.gap == pytest.approx(-2 * math.sqrt(1.5))
    assert found.n == 3


def test_each_side_has_its_own_units() -> None:
    """Scores in other units and from another zero are the same z-scores: nothing is over- or
    under-rated."""
    found = gaps([100, 300, 200], [1, 3, 2])
    assert (found.over, found.under) == ((), ())


def test_lower_is_better_turns_the_metric_round() -> None:
    """A distance of 3 is the worst: with people at their worst for it, too, nothing is left; the
    other way all is."""
    agreeing = gaps([1, 2, 3], [3, 2, 1], higher_is_better=False)
    assert (agreeing.over, agreeing.under) == ((), ())
    found = gaps([1, 2, 3], [1, 2, 3], higher_is_better=False)
    (over,) = found.over
    assert over.item == 0
    assert over.metric_z == pytest.approx(math.sqrt(1.5))  # the least distance, so the best


def test_only_items_with_both_scores_count() -> None:
    """The 1,000 has no human score and the 9 no metric score: z is over the other three, as
    above."""
    found = gaps([1, 1000, 2, 3, NAN], [3, NAN, 2, 1, 9])
    assert found.n == 3
    assert [one.item for one in found.over] == [3]
    assert found.over[0].gap == pytest.approx(2 * math.sqrt(1.5))


def test_the_widest_come_first_and_no_more_than_asked_for() -> None:
    """People agree with themselves (0, …, 9) but the metric gives 9 − i: gaps fall evenly from item
    0 on."""
    human = list(range(10))
    found = gaps([9.0 - one for one in human], [float(one) for one in human], top=3)
    assert [one.item for one in found.over] == [0, 1, 2]
    assert [one.item for one in found.under] == [9, 8, 7]


def test_equal_gaps_stand_in_the_order_of_the_items() -> None:
    found = gaps([1, 0, 1, 0], [0, 1, 0, 1])
    assert [one.item for one in found.over] == [0, 2]
    assert [one.item for one in found.under] == [1, 3]


@pytest.mark.parametrize(
    ("metric", "human", "reason"),
    [
        ([1, 1, 1], [1, 2, 3], "all scores of the metric are equal"),
        ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], "all scores of the metric are equal"),
        ([1, 2, 3], [2, 2, 2], "all human scores are equal"),
        (
            [1, NAN],
            [1, 2],
            "fewer than two items have both a human score and a score of the metric",
        ),
        ([], [], "fewer than two items have both a human score and a score of the metric"),
        (
            [math.inf, 1],
            [1, 2],
            "fewer than two items have both a human score and a score of the metric",
        ),
    ],
)
def test_without_spread_or_items_there_is_no_gap(
    metric: list[float], human: list[float], reason: str
) -> None:
    found = widest_gaps(
        np.array(metric, float), np.array(human, float), higher_is_better=True, top=10
    )
    assert found == Undefined(reason)


def test_scores_near_the_end_of_floating_point_have_z_scores_too() -> None:
    """1e300 squared overflows; ±1e300 are z = ±1 all the same. People say the opposite, so the gaps
    are ±2."""
    found = gaps([1e300, -1e300], [0, 1])
    assert [one.gap for one in (*found.over, *found.under)] == pytest.approx([2, -2])
