"""The order of slots: even over dialogues, an item's places far apart, drawn by a seed."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.campaigns.plan.draw import interleave
from tests.processor_time import at_most


def test_every_item_has_k_places() -> None:
    order = interleave([5, 5, 5, 9, 9, 2], k=3, seed=1)
    assert np.bincount(order).tolist() == [3] * 6


def test_dialogues_of_one_size_take_turns_in_rounds() -> None:
    dialogues = np.repeat([10, 20, 30, 40], 7)  # 4 dialogues of 7 items
    rounds = dialogues[interleave(dialogues, k=1, seed=3)].reshape(7, 4)
    assert [sorted(one) for one in rounds.tolist()] == [[10, 20, 30, 40]] * 7


def test_rounds_differ_in_their_order() -> None:
    dialogues = np.repeat(np.arange(6), 10)
    rounds = dialogues[interleave(dialogues, k=1, seed=3)].reshape(10, 6)
    assert len({tuple(one) for one in rounds.tolist()}) > 5


def test_a_long_dialogue_is_spread_over_the_whole_order() -> None:
    dialogues = np.array([0] * 90 + [1] * 10)  # one item of dialogue 1 in every tenth of the order
    order = dialogues[interleave(dialogues, k=1, seed=0)]
    places = np.flatnonzero(order == 1)
    assert [place // 10 for place in places] == pytest.approx(range(10), abs=1)


def test_places_of_an_item_are_as_far_apart_as_can_be() -> None:
    order = interleave(np.repeat(np.arange(5), 4), k=3, seed=2)  # 20 items: places 20 apart
    for item in range(20):
        assert np.diff(np.flatnonzero(order == item)).tolist() == [20, 20]


def test_from_any_ordinal_every_item_comes_once_before_one_comes_again() -> None:
    order = interleave(np.repeat(np.arange(5), 4), k=3, seed=2)
    for start in range(60):
        assert sorted(np.roll(order, -start)[:20]) == list(range(20))


def test_the_seed_draws_the_order() -> None:
    dialogues = np.repeat(np.arange(5), 4)
    assert interleave(dialogues, 2, seed=1).tolist() == interleave(dialogues, 2, seed=1).tolist()
    assert interleave(dialogues, 2, seed=1).tolist() != interleave(dialogues, 2, seed=2).tolist()


def test_nothing_to_lay_out() -> None:
    assert interleave([], k=2, seed=1).tolist() == []


def test_an_item_without_places_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one place"):
        interleave([1], k=0, seed=1)


def test_a_million_slots_take_seconds() -> None:
    with at_most(5):
        assert interleave(np.arange(500_000) // 100, k=2, seed=1).size == 1_000_000
