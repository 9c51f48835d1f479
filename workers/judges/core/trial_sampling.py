"""Which responses a prompt is tried on: a few that stand for all that people rated. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Rated:
    """A response, with whom it is from, where it stands and what people said of it on average."""

    key: int
    system: int
    place: int
    human: float


def drawn(rated: Sequence[Rated], wanted: int, seed: int) -> list[Rated]:
    """``wanted`` of the responses (all where there are fewer), from the lowest human mean to the
    highest.

    The responses are put in the order of their human means, those of one mean at random, and cut
    into ``wanted`` parts of equal size. One is drawn of each part: of those whose system was drawn
    least so far, one whose place was drawn least. So the few have the spread of all: a corpus that
    people liked gives many that they liked, and a correlation is neither widened nor narrowed by
    the choice. The same seed draws the same ones.
    """
    random = Random(seed)
    shuffled = sorted(rated, key=lambda one: one.key)
    random.shuffle(shuffled)
    ordered = sorted(shuffled, key=lambda one: one.human)
    if len(ordered) <= wanted:
        return ordered
    systems: Counter[int] = Counter()
    places: Counter[int] = Counter()
    chosen: list[Rated] = []
    for number in range(wanted):
        part = ordered[number * len(ordered) // wanted : (number + 1) * len(ordered) // wanted]
        least = min((systems[one.system], places[one.place]) for one in part)
        taken = random.choice(
            [one for one in part if (systems[one.system], places[one.place]) == least]
        )
        systems[taken.system] += 1
        places[taken.place] += 1
        chosen.append(taken)
    return chosen
