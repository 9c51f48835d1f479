"""Which texts go together."""

from __future__ import annotations

import random

from workers.inference.encoders.tokens import batches_by_length


def test_longest_first_and_within_the_budget() -> None:
    assert list(batches_by_length([3, 8, 3, 6], 12)) == [[1], [3, 0], [2]]  # 8; 2 × 6 = 12; 3


def test_a_text_beyond_the_budget_is_alone() -> None:
    assert list(batches_by_length([5, 100, 5], 10)) == [[1], [0, 2]]


def test_nothing_makes_no_batch() -> None:
    assert list(batches_by_length([], 10)) == []


def test_every_text_is_in_one_batch_and_no_batch_is_too_large() -> None:
    chance = random.Random(5)
    lengths = [chance.randint(2, 60) for _ in range(500)]
    batches = list(batches_by_length(lengths, 128))
    assert sorted(place for batch in batches for place in batch) == list(range(500))
    assert all(len(batch) * max(lengths[place] for place in batch) <= 128 for batch in batches)


def test_a_batch_that_pays_takes_no_text_much_shorter_than_its_longest() -> None:
    # 10 and 8 are alike; 7 is not, and 2 × 10 tokens pay; 7 alone does not pay, so that 3 stands
    # beside it
    assert list(batches_by_length([10, 8, 7, 3], 100, worth_a_batch=20)) == [[0, 1], [2, 3]]
