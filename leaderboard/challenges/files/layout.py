"""Which places a file of responses must fill: the dialogues of a corpus version and the turns of
each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Shape:
    """The turn numbers of a dialogue, in order. Dialogues with the same numbers share one."""

    numbers: tuple[int, ...]
    offsets: dict[int, int]
    """Turn number to its place in the dialogue, from 0."""
    offsets_of_keys: dict[str, int]
    """The same by the name that a JSON list gives the turn: ``turn_0``."""

    @classmethod
    def of(cls, numbers: tuple[int, ...]) -> Shape:
        return cls(
            numbers,
            {number: offset for offset, number in enumerate(numbers)},
            {key_of(number): offset for offset, number in enumerate(numbers)},
        )


def key_of(turn: int) -> str:
    """How the CPD challenge names a turn in a JSON object."""
    return f"turn_{turn}"


@dataclass
class Layout:
    """Dialogue ids and their turn numbers, in corpus order; every place has a number from 0 in that
    order.

    Built for a million places: a few small numbers a dialogue, and one ``Shape`` for all dialogues
    of seven turns.
    """

    _ordinals: dict[str, int] = field(default_factory=dict)
    _shapes: list[Shape] = field(default_factory=list)
    _starts: array[int] = field(default_factory=lambda: array("Q"))
    places: int = 0
    """How many responses a complete file holds."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, int]]) -> Layout:
        """``pairs`` of dialogue id and turn number in corpus order, those of one dialogue together.

        Raises ``ValueError`` where a dialogue comes twice or has a turn twice.
        """
        layout = cls()
        known: dict[tuple[int, ...], Shape] = {}
        current: str | None = None
        numbers: list[int] = []
        for dialogue_id, turn in pairs:
            if dialogue_id != current:
                if current is not None:
                    layout._add(current, tuple(numbers), known)
                current, numbers = dialogue_id, []
            numbers.append(turn)
        if current is not None:
            layout._add(current, tuple(numbers), known)
        return layout

    def _add(
        self, dialogue_id: str, numbers: tuple[int, ...], known: dict[tuple[int, ...], Shape]
    ) -> None:
        if dialogue_id in self._ordinals:
            raise ValueError(f"the dialogue {dialogue_id!r} occurs twice")
        if len(set(numbers)) != len(numbers):
            raise ValueError(f"the dialogue {dialogue_id!r} has a turn twice")
        self._ordinals[dialogue_id] = len(self._shapes)
        self._shapes.append(known.setdefault(numbers, Shape.of(numbers)))
        self._starts.append(self.places)
        self.places += len(numbers)

    @property
    def dialogues(self) -> int:
        return len(self._shapes)

    def __contains__(self, dialogue_id: object) -> bool:
        return dialogue_id in self._ordinals

    def __iter__(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Every dialogue id with its turn numbers, in corpus order."""
        for dialogue_id, ordinal in self._ordinals.items():
            yield dialogue_id, self._shapes[ordinal].numbers

    def dialogue_of(self, dialogue_id: str) -> int | None:
        """The dialogue's place in the corpus, from 0; None where there is no such dialogue."""
        return self._ordinals.get(dialogue_id)

    def shape_of(self, dialogue: int) -> Shape:
        return self._shapes[dialogue]

    def start_of(self, dialogue: int) -> int:
        """The place of the dialogue's first turn."""
        return self._starts[dialogue]

    def place_of(self, dialogue_id: str, turn: int) -> int | None:
        """The place's number, from 0 in corpus order; None where the corpus has no such turn."""
        dialogue = self._ordinals.get(dialogue_id)
        if dialogue is None:
            return None
        offset = self._shapes[dialogue].offsets.get(turn)
        return None if offset is None else self._starts[dialogue] + offset
