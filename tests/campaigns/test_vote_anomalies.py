"""Votes that look careless or made to manipulate, and the draw of battles: pure."""

from __future__ import annotations

from collections import Counter

import pytest

from annotations.campaigns.plan.pairs import draw_index, shuffled_pairs
from annotations.campaigns.rater_statistics.vote_anomalies import (
    ArenaVote,
    fair_coin_p,
    vote_anomalies,
)


def votes(said: str, visitor: int = 1, seconds: float = 9, every: float = 3600, address="here"):
    return [
        ArenaVote(visitor, address, one, seconds, number * every) for number, one in enumerate(said)
    ]


def test_the_binomial_test_is_exact() -> None:
    # 2 · (1 + 10) / 2^10 = 22 / 1024
    assert fair_coin_p(9, 10) == fair_coin_p(1, 10) == pytest.approx(22 / 1024)
    assert fair_coin_p(5, 10) == 1


def test_always_the_same_side_is_conspicuous_from_eleven_votes_on() -> None:
    # 2 / 2^10 = .00195, 2 / 2^11 = .00098
    side = ["a"] * 11
    assert vote_anomalies(votes(side[:10])) == {}
    assert vote_anomalies(votes(side)) == {1: ["side"]}
    assert vote_anomalies(votes(side[:6] + ["b"] * 5)) == {}


def test_ties_are_for_no_side() -> None:
    assert vote_anomalies(votes(["tie"] * 30)) == {}


@pytest.mark.parametrize(("seconds", "count", "found"), [(1.9, 5, ["fast"]), (2, 5, 0), (1, 4, 0)])
def test_half_of_the_votes_within_two_seconds_is_too_fast(seconds, count, found) -> None:
    assert vote_anomalies(votes(["tie"] * count, seconds=seconds)) == ({1: found} if found else {})


def test_twenty_votes_of_one_address_within_ten_minutes_are_a_burst_of_all_its_visitors() -> None:
    one = votes(["tie"] * 10, visitor=1, every=60)
    other = votes(["tie"] * 10, visitor=2, every=60)
    elsewhere = votes(["tie"] * 10, visitor=3, every=60, address="there")
    assert vote_anomalies([*one, *other, *elsewhere]) == {1: ["burst"], 2: ["burst"]}
    assert vote_anomalies([*one[:9], *other]) == {}
    slow = votes(["tie"] * 20, every=600 / 19 + 0.1)
    assert vote_anomalies(slow) == {}


def test_every_pair_and_both_orders_are_drawn_equally_often() -> None:
    first = Counter(shuffled_pairs([3, 1, 2], seed)[0] for seed in range(6000))
    assert set(first) == {(1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2)}
    # 1000 expected of each, with standard deviation √(6000 · 1/6 · 5/6) = 28.9
    assert all(880 < count < 1120 for count in first.values())


def test_a_draw_is_made_again_from_its_seed_and_holds_each_pair_once() -> None:
    pairs = shuffled_pairs([4, 2, 9, 7], 5)
    assert pairs == shuffled_pairs([9, 7, 4, 2], 5)
    assert len({frozenset(one) for one in pairs}) == len(pairs) == 6
    assert draw_index(10, 5) == draw_index(10, 5)
    assert {draw_index(3, seed) for seed in range(50)} == {0, 1, 2}
