"""Which pairs are drawn, and in which order each is shown."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from annotations.campaigns.plan.pairs import NotConnected, draw_pairs, first_orders

FOUR = (11, 12, 13, 14)


def test_all_pairs_of_every_point() -> None:
    answering = [FOUR, (11, 12, 13), (14,)]
    pairs = draw_pairs(answering, FOUR, None, seed=1)
    assert Counter(point for point, _ in pairs) == {0: 6, 1: 3}  # 4·3/2 and 3·2/2
    assert len(set(pairs)) == 9
    assert all(first < second for _, (first, second) in pairs)


@pytest.mark.parametrize("seed", range(20))
def test_as_few_pairs_as_systems_less_one_connect_them(seed: int) -> None:
    pairs = [two for _, two in draw_pairs([FOUR] * 5, FOUR, 3, seed)]
    joined = {FOUR[0]}
    for _ in FOUR:
        joined |= {one for two in pairs if joined & set(two) for one in two}
    assert joined == set(FOUR)


def test_which_pairs_connect_the_systems_is_random() -> None:
    trees = {frozenset(two for _, two in draw_pairs([FOUR], FOUR, 3, seed)) for seed in range(20)}
    assert len(trees) > 5  # of 16, by Cayley's formula


def test_a_design_takes_every_two_systems_and_every_point_equally_often() -> None:
    pairs = draw_pairs([FOUR] * 12, FOUR, 24, seed=3)
    assert len(set(pairs)) == 24
    assert Counter(two for _, two in pairs) == dict.fromkeys(combinations(FOUR, 2), 4)  # 24 / 6
    assert set(Counter(point for point, _ in pairs).values()) == {2}  # 24 / 12


def test_a_draw_is_made_again_from_its_seed() -> None:
    first, again, other = (draw_pairs([FOUR] * 9, FOUR, 10, seed) for seed in (5, 5, 6))
    assert first == again != other


def test_more_pairs_than_there_are_take_all() -> None:
    assert draw_pairs([FOUR], FOUR, 99, 1) == draw_pairs([FOUR], FOUR, None, 1)


def test_systems_that_never_meet_are_named_in_their_groups() -> None:
    with pytest.raises(NotConnected) as refused:
        draw_pairs([(11, 12), (13, 14), (12, 11)], FOUR, None, seed=1)
    assert refused.value.groups == [[11, 12], [13, 14]]


def test_a_system_that_answered_nowhere_is_a_group_of_its_own() -> None:
    with pytest.raises(NotConnected) as refused:
        draw_pairs([(11, 12, 13)], FOUR, None, seed=1)
    assert refused.value.groups == [[11, 12, 13], [14]]


def test_fewer_pairs_than_connect_the_systems_are_refused() -> None:
    with pytest.raises(ValueError, match="2 pairs do not connect 4 systems"):
        draw_pairs([FOUR], FOUR, 2, seed=1)


def test_both_orders_come_equally_often_for_every_two_systems() -> None:
    items = [(11, 12), (11, 13), (11, 12), (11, 12), (11, 13), (11, 12)]
    swapped = Counter(zip(items, first_orders(items, seed=4), strict=True))
    assert swapped[(11, 12), True] == swapped[(11, 12), False] == 2
    assert swapped[(11, 13), True] == swapped[(11, 13), False] == 1


def test_the_order_begins_at_random() -> None:
    begins = {next(first_orders([(11, 12)], seed)) for seed in range(20)}
    assert begins == {True, False}
