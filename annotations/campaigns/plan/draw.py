"""What a campaign draws: its dialogues, the order of its slots, and which of the slots that a rater
could get next is the one. Every draw can be made again from its seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Systems = int | tuple[int, int] | None
"""Of an item: one system, of pairs two, of a collection none."""
RECENT_ITEMS = 8
"""Dialogues of so many of a rater's latest items are avoided where others are left."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free slot that the rater may be given."""

    slot: int
    item: int
    dialogue: int
    ordinal: int
    system: Systems = None


@dataclass(frozen=True, slots=True)
class Drawn:
    candidate: Candidate
    propensity: float
    """With which probability the candidate's item was drawn, 0 < p ≤ 1."""
    system_propensity: float | None = None
    """With which its system was, where systems are drawn first."""


def draw(
    candidates: Sequence[Candidate], latest_dialogues: Sequence[int], seed: int, position: int
) -> Drawn:
    """One slot for the rater's item number ``position``, each eligible one with the same
    probability.

    ``latest_dialogues``: of the rater's items so far, the newest first. As many of them as
    possible, at most ``RECENT_ITEMS``, are avoided: all where enough other dialogues are left, at
    the end of a campaign perhaps none. Raises ``ValueError`` where there is no candidate.
    """
    if not candidates:
        raise ValueError("there is nothing to draw from")
    avoided = avoided_dialogues(candidates, latest_dialogues)
    eligible = [candidate for candidate in candidates if candidate.dialogue not in avoided]
    chosen = _random(seed, position, "slot").choice(eligible)
    same_item = sum(candidate.item == chosen.item for candidate in eligible)
    return Drawn(chosen, same_item / len(eligible))


def draw_by_system(
    candidates: Sequence[Candidate],
    latest_dialogues: Sequence[int],
    weights: Mapping[Systems, float],
    seed: int,
    position: int,
) -> Drawn:
    """First a system (of pairs, two systems), in proportion to its weight, of those with an
    eligible candidate; then any one of its slots.

    A system that ``weights`` does not name has the least weight that is named, or where none is,
    the weight of all others. Which candidates are eligible, ``draw`` says. Raises ``ValueError``
    where there is no candidate.
    """
    if not candidates:
        raise ValueError("there is nothing to draw from")
    avoided = avoided_dialogues(candidates, latest_dialogues)
    of_system: dict[Systems, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.dialogue not in avoided:
            of_system.setdefault(candidate.system, []).append(candidate)
    unnamed = min(weights.values(), default=1.0)
    parts = [weights.get(system, unnamed) for system in of_system]
    random = _random(seed, position, "slot")
    (system,) = random.choices(list(of_system), parts)
    own = of_system[system]
    chosen = random.choice(own)
    of_system_p = parts[list(of_system).index(system)] / sum(parts)
    same_item = sum(candidate.item == chosen.item for candidate in own)
    return Drawn(chosen, of_system_p * same_item / len(own), of_system_p)


def avoided_dialogues(
    candidates: Sequence[Candidate], latest_dialogues: Sequence[int]
) -> frozenset[int]:
    """Of the latest dialogues, the newest first, as many as leave a candidate: the oldest is
    forgotten first.

    Whoever draws an attention item avoids the same ones: a dialogue that came back sooner would
    tell that it is one.
    """
    latest = latest_dialogues[:RECENT_ITEMS]
    for length in range(len(latest), 0, -1):
        avoided = frozenset(latest[:length])
        if any(candidate.dialogue not in avoided for candidate in candidates):
            return avoided
    return frozenset()


def attention_is_due(every: int | None, seed: int, position: int) -> bool:
    """Whether the rater's item number ``position`` is to be an attention item: one in ``every``, on
    average."""
    return every is not None and _random(seed, position, "attention").random() < 1 / every


def pick(items: Sequence[int], seed: int, position: int) -> int:
    """One of the attention items. Raises ``IndexError`` where there is none."""
    return _random(seed, position, "pick").choice(items)


def shows_second_first(seed: int, position: int) -> bool:
    """Of a pair that takes no slot, which has an order: whether its second system is shown
    first."""
    return _random(seed, position, "order").random() < 0.5


def _random(seed: int, position: int, purpose: str) -> Random:
    """Seeded by text: the same numbers in every Python, and neighbouring seeds have nothing in
    common."""
    return Random(f"{seed} {position} {purpose}")


def interleave(
    dialogue_of_item: Sequence[int] | NDArray[np.int64], k: int, seed: int
) -> NDArray[np.int64]:
    """The item (an index into ``dialogue_of_item``) at each ordinal 0 … k × items − 1.

    Dialogues take turns: a dialogue of m items has one in every m-th part of the order, at a random
    place within that part. With dialogues of one size these are rounds of one item a dialogue, in a
    random order each.

    The order of items is drawn once and repeated k times, so that an item has its places as far
    apart as can be, and whoever walks on from any ordinal meets every item once before meeting one
    again. Raters who begin at random ordinals therefore hardly ever come by places of items that
    they have judged.

    Raises ``ValueError`` for k below 1.
    """
    if k < 1:
        raise ValueError(f"an item has at least one place, not {k}")
    dialogues = np.unique(np.asarray(dialogue_of_item), return_inverse=True)[1].reshape(-1)
    if not dialogues.size:
        return np.empty(0, dtype=np.int64)
    random = np.random.default_rng(seed)
    shuffled = random.permutation(dialogues.size)
    by_dialogue = shuffled[np.argsort(dialogues[shuffled], kind="stable")]
    sizes = np.bincount(dialogues)
    begins = np.cumsum(sizes) - sizes
    dialogue = dialogues[by_dialogue]
    rank_in_dialogue = np.arange(dialogues.size) - begins[dialogue]
    place = (rank_in_dialogue + random.random(dialogues.size)) / sizes[dialogue]
    return np.tile(by_dialogue[np.argsort(place, kind="stable")], k).astype(np.int64)


Name = TypeVar("Name")


def draw_dialogues(dialogues: Sequence[Name], wanted: int | None, seed: int) -> list[Name]:
    """``wanted`` of the dialogues, drawn without replacement, in the order in which they were
    given.

    The draw depends on the places in the sequence and the seed only, so the same corpus gives the
    same sample wherever it is stored. One draw serves all systems: they are compared under the same
    conditions. None, or more than there are, takes all. Raises ``ValueError`` where ``wanted`` is
    below 1.
    """
    if wanted is not None and wanted < 1:
        raise ValueError("at least one dialogue must be drawn")
    if wanted is None or wanted >= len(dialogues):
        return list(dialogues)
    places = sorted(random.Random(seed).sample(range(len(dialogues)), wanted))
    return [dialogues[place] for place in places]
