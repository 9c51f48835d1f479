"""Which dialogues are drawn, and what a campaign costs: the arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotations.campaigns.plan.cost import (
    Cost,
    assumed_response_time,
    expected_end,
    measured_response_time,
)
from annotations.campaigns.plan.draw import draw_dialogues

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_a_seed_draws_the_same_dialogues_again() -> None:
    names = [f"d{number}" for number in range(100)]
    assert draw_dialogues(names, 10, 7) == draw_dialogues(names, 10, 7)
    assert draw_dialogues(names, 10, 7) != draw_dialogues(names, 10, 8)


def test_the_draw_is_without_replacement_and_keeps_the_order() -> None:
    drawn = draw_dialogues(range(100), 30, 1)
    assert len(set(drawn)) == 30
    assert drawn == sorted(drawn)


def test_the_draw_depends_on_places_not_on_keys() -> None:
    """The same corpus imported elsewhere has other primary keys and must give the same
    dialogues."""
    assert [key - 500 for key in draw_dialogues(range(500, 600), 10, 3)] == draw_dialogues(
        range(100), 10, 3
    )


def test_every_dialogue_is_drawn_as_often() -> None:
    """10 of 20, 2000 seeds: each is expected 1000 times, with a standard deviation of √(2000 · ½ ·
    ½) = 22.4."""
    counts = [0] * 20
    for seed in range(2000):
        for place in draw_dialogues(range(20), 10, seed):
            counts[place] += 1
    assert sum(counts) == 20_000
    assert all(abs(count - 1000) < 5 * 22.4 for count in counts)


@pytest.mark.parametrize("wanted", [None, 3, 4, 10**9])
def test_all_are_taken_where_no_fewer_are_wanted(wanted: int | None) -> None:
    assert draw_dialogues(["a", "b", "c"], wanted, 1) == ["a", "b", "c"]


def test_nobody_draws_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        draw_dialogues(["a"], 0, 1)


def test_items_times_k_is_ratings_and_hours_follow() -> None:
    """105 items × 3 = 315 ratings; at 20 s that is 6300 s = 1.75 h, from half of it to twice as
    much."""
    cost = Cost(105, 3, assumed_response_time("turn"))
    assert cost.ratings == 315
    assert cost.hours == pytest.approx(1.75)
    assert (cost.hours_low, cost.hours_high) == (pytest.approx(0.875), pytest.approx(3.5))


def test_raters_share_the_work_and_round_up() -> None:
    """315 ratings for 4 raters: 78.75, so 79 each, 79 × 20 s = 0.439 h."""
    share = Cost(105, 3, assumed_response_time("turn")).shared_by(4)
    assert share.ratings == 79
    assert share.hours == pytest.approx(79 * 20 / 3600)


def test_fewer_than_k_raters_cannot_do_it() -> None:
    with pytest.raises(ValueError, match="at least as many"):
        Cost(10, 3, assumed_response_time("turn")).shared_by(2)


def test_k_raters_rate_every_item_each() -> None:
    assert Cost(10, 3, assumed_response_time("turn")).shared_by(3).ratings == 10


def test_the_pace_is_the_median_with_the_interval_of_its_order_statistics() -> None:
    """100 values 1 … 100: the median is 50.5; 50 ± 1.96 · √100 / 2 = 40.2 and 59.8, so the ranks 40
    and 61."""
    pace = measured_response_time([float(value) for value in range(100, 0, -1)], "campaign")
    assert pace is not None
    assert (pace.seconds, pace.low, pace.high, pace.ratings) == (50.5, 40.0, 61.0, 100)


def test_the_interval_stays_within_what_was_seen() -> None:
    """10 values: 5 ± 3.1 gives the ranks 1 and 10."""
    pace = measured_response_time([float(value) for value in range(1, 11)], "kind")
    assert pace is not None
    assert (pace.low, pace.high) == (1.0, 10.0)


def test_too_few_ratings_make_no_pace() -> None:
    assert measured_response_time([20.0] * 9, "campaign") is None


def test_the_end_is_as_far_as_the_pace_says() -> None:
    """30 ratings in 2 days, 45 left: 3 more days."""
    assert expected_end(45, 30, NOW - timedelta(days=2), NOW) == NOW + timedelta(days=3)


@pytest.mark.parametrize(("left", "lately"), [(0, 10), (10, 0), (10**9, 1)])
def test_no_end_is_named_where_there_is_none(left: int, lately: int) -> None:
    assert expected_end(left, lately, NOW - timedelta(days=2), NOW) is None
