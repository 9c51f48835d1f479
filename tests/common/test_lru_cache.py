"""What is kept is bounded, whatever is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Barrier, Thread
from typing import Any

from common.cache import lru_cache_of_bytes


@dataclass
class Made:
    name: str
    weight: int = 0


def names(place: Any, keys: Iterable[str]) -> list[str]:
    return [place(key, lambda: Made("anew")).name for key in keys]


def test_what_nobody_asks_for_falls_out_first() -> None:
    """Four of 5,000 fit into 20,000. The first is asked for again, so the second goes when a fifth
    comes."""
    place: Any = lru_cache_of_bytes(20_000)
    for key in "abcd":
        place(key, lambda key=key: Made(key, 5_000))
    names(place, "a")
    place("e", lambda: Made("e", 5_000))
    assert names(place, "acdeb") == ["a", "c", "d", "e", "anew"]


def test_what_would_take_more_than_a_quarter_of_the_room_is_not_kept() -> None:
    place: Any = lru_cache_of_bytes(20_000)
    place("large", lambda: Made("large", 5_001))
    assert names(place, ["large"]) == ["anew"]


def test_endless_keys_of_small_things_do_not_fill_the_memory() -> None:
    """Each counts 2,000 at least."""
    place: Any = lru_cache_of_bytes(20_000)
    for number in range(50):
        place(number, lambda: Made("small"))
    assert len(place.cache) == 10


def test_what_is_forgotten_leaves_its_room() -> None:
    place: Any = lru_cache_of_bytes(20_000)
    for _ in range(2):
        for key in "abcd":
            place(key, lambda key=key: Made(key, 5_000))
        assert names(place, "abcd") == ["a", "b", "c", "d"]
        place.cache_clear()
    assert len(place.cache) == 0


def test_what_two_made_at_once_takes_its_room_once() -> None:
    """Were it counted twice, the fourth of 5,000 would not fit into 20,000 any more."""
    place: Any = lru_cache_of_bytes(20_000)
    both = Barrier(2, timeout=60)

    def make() -> Made:
        both.wait()
        return Made("a", 5_000)

    readers = [Thread(target=place, args=("a", make)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for key in "bcd":
        place(key, lambda key=key: Made(key, 5_000))
    assert names(place, "abcd") == ["a", "b", "c", "d"]
