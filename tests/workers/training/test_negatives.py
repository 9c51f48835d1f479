"""Negatives: from elsewhere, another text, uniform, and the same ones again for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workers.training.talk import numbered, talk
from workers.training.core.conversations import pairs_of
from workers.training.core.negatives import NegativeSampler


def test_there_are_as_many_as_were_asked_for() -> None:
    assert NegativeSampler(pairs_of(numbered(10)), 5, seed=0).for_epoch(0).shape == (30, 5)


def test_none_is_of_the_same_dialogue() -> None:
    pairs = pairs_of(numbered(6, lines=9))
    drawn = NegativeSampler(pairs, 20, seed=1).for_epoch(0)
    assert all(
        pairs[k].dialogue != pair.dialogue
        for pair, row in zip(pairs, drawn, strict=True)
        for k in row
    )


def test_none_says_what_the_response_says() -> None:
    # Half of all answers are "Yes, please." in three spellings.
    spellings = ("Yes, please.", "yes , please .", "YES PLEASE")
    pairs = pairs_of(
        [talk(str(k), "?", spellings[k % 3] if k % 2 else f"no {k}") for k in range(40)]
    )
    drawn = NegativeSampler(pairs, 10, seed=0).for_epoch(0)
    for pair, row in zip(pairs, drawn, strict=True):
        if "no" not in pair.response:
            assert all("no" in pairs[k].response for k in row)


def test_no_pair_is_drawn_twice_for_a_context() -> None:
    # 9 allowed pairs (3 other dialogues × 3), 9 wanted: each row must hold all of them.
    pairs = pairs_of(numbered(4))
    drawn = NegativeSampler(pairs, 9, seed=0).for_epoch(0)
    for pair, row in zip(pairs, drawn, strict=True):
        assert sorted(row) == [
            k for k, other in enumerate(pairs) if other.dialogue != pair.dialogue
        ]


def test_they_are_uniform_over_what_is_allowed() -> None:
    # 5 dialogues × 2 pairs; pair 0 may draw the 8 pairs 2..9. Of 8,000 single draws each gets 1,000
    # ± 30 (sd).
    pairs = pairs_of(numbered(5, lines=3))
    sampler = NegativeSampler(pairs, 2, seed=7)
    counts = np.bincount(
        np.concatenate([sampler.for_epoch(epoch)[0] for epoch in range(4_000)]), minlength=10
    )
    assert list(counts[:2]) == [0, 0]
    assert counts[2:] == pytest.approx(np.full(8, 1_000), abs=130)


def test_an_epoch_has_its_own_and_has_them_again() -> None:
    pairs = pairs_of(numbered(30))
    first, second = NegativeSampler(pairs, 3, seed=5), NegativeSampler(pairs, 3, seed=5)
    second.for_epoch(0)
    assert np.array_equal(first.for_epoch(4), second.for_epoch(4))
    assert not np.array_equal(first.for_epoch(4), first.for_epoch(5))


def test_another_seed_draws_others() -> None:
    pairs = pairs_of(numbered(30))
    assert not np.array_equal(
        NegativeSampler(pairs, 3, seed=5).for_epoch(0),
        NegativeSampler(pairs, 3, seed=6).for_epoch(0),
    )


def test_too_small_data_is_refused_in_words() -> None:
    # The pair that says "a" has 2 of the other dialogues, and one of those says "a" too.
    pairs = pairs_of([talk("0", "hi", "a"), talk("1", "hi", "A!"), talk("2", "hi", "b")])
    assert NegativeSampler(pairs, 1, seed=0).for_epoch(0).tolist()[:2] == [[2], [2]]
    with pytest.raises(
        ValueError, match="2 negatives a context are wanted, and a response of the data has only 1 "
    ):
        NegativeSampler(pairs, 2, seed=0)


def test_none_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        NegativeSampler(pairs_of(numbered(3)), 0, seed=0)
