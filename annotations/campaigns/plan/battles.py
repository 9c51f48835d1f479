"""Which two systems an arena's battle is of, in which order, and where they meet. Every draw can be
made again from its seed. Pure: no Django here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random


def shuffled_pairs(systems: Sequence[int], seed: int) -> list[tuple[int, int]]:
    """Every two systems, in random order: a battle is of the first pair that can meet.

    Args:
        systems: keys of the systems.
        seed: of the battle.

    Returns:
        (system A, system B): each pair once. All pairs, and of each pair both orders, are equally
        likely to be first.
    """
    random = Random(f"{seed} pairs")
    pairs = [
        (a, b) if random.random() < 0.5 else (b, a) for a, b in combinations(sorted(systems), 2)
    ]
    random.shuffle(pairs)
    return pairs


def draw_index(count: int, seed: int) -> int:
    """Where the systems meet: one of ``count`` dialogues or turns, each equally likely."""
    return Random(f"{seed} point").randrange(count)
