"""Which pairs of systems a campaign asks about, and in which order each is shown; which two an
arena's battle is of, and where they meet. Every draw can be made again from its seed. Pure: no
Django here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest
from random import Random

Systems = tuple[int, int]
"""Keys of two systems, the lower one first."""


class NotConnected(ValueError):
    """The pairs leave ``groups`` of systems that are never compared with each other: no ranking
    could be made of all of them."""

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        super().__init__(f"{len(groups)} groups of systems are never compared with each other")
        self.groups = groups


def count_pairs(systems: int) -> int:
    """How many pairs so many systems make: S (S − 1) / 2."""
    return systems * (systems - 1) // 2


def draw_pairs(
    answering: Sequence[Sequence[int]], systems: Sequence[int], wanted: int | None, seed: int
) -> list[tuple[int, Systems]]:
    """The pairs to compare: all, or a random design that connects all systems.

    The design takes every two systems equally often, as far as they answered at the same points. It
    begins with a random spanning tree of the systems, so it is connected from S − 1 pairs on, and
    spreads over the points evenly.

    Args:
        answering: of each point of a conversation, keys of the systems that answered there.
        systems: keys of all systems that are to be ranked.
        wanted: how many pairs, at least one less than systems; None, or more than there are: all.
        seed: of the draw.

    Returns:
        (index of the point, systems), in the order of the points.

    Raises:
        NotConnected: some systems answered at no point together.
        ValueError: fewer pairs are wanted than connect the systems.
    """
    points: dict[Systems, list[int]] = defaultdict(list)
    for point, there in enumerate(answering):
        for first, second in combinations(sorted(there), 2):
            points[first, second].append(point)
    random = Random(f"{seed} pairs")
    met = sorted(points)
    random.shuffle(met)
    tree, groups = _spanning_tree(met, systems)
    if len(groups) > 1:
        raise NotConnected(groups)
    total = sum(map(len, points.values()))
    if wanted is None or wanted >= total:
        return sorted((point, pair) for pair in met for point in points[pair])
    if wanted < len(tree):
        raise ValueError(f"{wanted} pairs do not connect {len(systems)} systems")
    met.sort(key=lambda pair: pair not in tree)  # stable: the rest stays shuffled
    order = list(range(len(answering)))
    random.shuffle(order)
    rank = {point: number for number, point in enumerate(order)}
    queues = [
        _turned(sorted(points[pair], key=rank.__getitem__), number, len(met))
        for number, pair in enumerate(met)
    ]
    rounds = (
        (point, pair)
        for column in zip_longest(*queues)
        for pair, point in zip(met, column, strict=True)
        if point is not None
    )
    return sorted(pair for pair, _ in zip(rounds, range(wanted), strict=False))


def _turned(points: list[int], number: int, of: int) -> list[int]:
    """Pair ``number`` of ``of`` begins elsewhere than the others, so that they share the points."""
    begin = len(points) * number // of
    return points[begin:] + points[:begin]


def _spanning_tree(
    met: Sequence[Systems], systems: Sequence[int]
) -> tuple[set[Systems], list[list[int]]]:
    """The pairs, of the first ones, that connect what can be connected; and the groups that this
    makes, the largest first."""
    group_of: dict[int, list[int]] = {system: [system] for system in sorted(systems)}
    tree = set()
    for first, second in met:
        own, other = group_of[first], group_of[second]
        if own is not other:
            tree.add((first, second))
            own += other
            group_of |= dict.fromkeys(other, own)
    groups = {id(group): sorted(group) for group in group_of.values()}
    return tree, sorted(groups.values(), key=lambda group: (-len(group), group))


def first_orders(pairs: Sequence[Systems], seed: int) -> Iterator[bool]:
    """Whether the rater at the first place of each item sees its second system first. The raters at
    the places after it see the two orders in turn, so both orders come equally often for every two
    systems, to within one.

    Args:
        pairs: the systems of each item, in the order of the items.
        seed: of the draw.

    Returns:
        Iterator over one value per item: for every two systems alternating, from a random start.
    """
    last: dict[Systems, bool] = {}
    for pair in pairs:
        if pair not in last:
            last[pair] = Random(f"{seed} {pair} order").random() < 0.5
        last[pair] = not last[pair]
        yield last[pair]


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
