"""Batches get smaller where memory runs out, and one text is the least."""

from __future__ import annotations

import pytest
import torch

from workers.inference.encoders.devices import Memory
from workers.inference.model_files import ModelError

LENGTHS = [5, 5, 5, 5]


def memory(tokens_at_once: int) -> Memory:
    return Memory("m", torch.device("cpu"), "cpu", tokens_at_once)


def full(batch: list[int]) -> None:
    raise MemoryError


def test_what_is_left_is_halved_with_the_batch_that_failed() -> None:
    mine = memory(100)
    batches = mine.batches(LENGTHS)
    assert mine.attempt(batches, batches.take(), full) is None
    # 4 × 5 tokens failed: 10 at once from now on
    assert [batches.take() for _ in range(2)] == [[0, 1], [2, 3]]
    assert not batches
    assert mine.tokens_at_once == 10


def test_a_later_call_begins_with_no_less_than_the_longest_text_of_this_one() -> None:
    mine = memory(10)
    batches = mine.batches([9, 1, 1])
    mine.attempt(batches, [1, 2], full)  # 2 × 1 tokens failed
    assert (batches.token_budget, mine.tokens_at_once) == (1, 9)


def test_a_caller_may_ask_for_smaller_batches_than_memory_holds() -> None:
    batches = memory(100).batches(LENGTHS, at_most=5)
    assert batches.take() == [0]


def test_one_text_that_is_too_much_is_an_error_that_says_how_long_it_is() -> None:
    mine = memory(5)
    batches = mine.batches(LENGTHS)
    with pytest.raises(
        ModelError,
        match="the model m is out of memory on cpu: there was too little to read a text of 5",
    ):
        mine.attempt(batches, batches.take(), full)
