"""Random numbers by seed and name."""

from __future__ import annotations

import pytest

from workers.training.core.negatives import stream


def test_the_same_seed_and_names_give_the_same_numbers() -> None:
    assert stream(3, "a", "b").random(4).tolist() == stream(3, "a", "b").random(4).tolist()


@pytest.mark.parametrize("names", [("a", "c"), ("ab",), ("a", "b", ""), ("a",), ("b", "a")])
def test_other_names_give_other_numbers(names: tuple[str, ...]) -> None:
    """Names run together are other names: ("a", "b") is not ("ab",)."""
    assert stream(3, *names).random() != stream(3, "a", "b").random()


def test_another_seed_gives_other_numbers_and_the_numbers_stay_over_processes() -> None:
    assert stream(4, "a").random() != stream(3, "a").random()
    # Written down once: no salt of the process is in it.
    assert stream(0, "x").integers(1_000_000, size=3).tolist() == [865613, 206570, 854027]
