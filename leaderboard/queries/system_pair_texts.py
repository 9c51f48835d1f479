"""Items of two systems with what was said there: for a page of them, and for a file of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.models import CorpusVersion, Response, System, Turn

REQUESTED_BY_NAME = 400
"""More items than these are read with all others of the version: a query takes only so many
parameters."""


@dataclass(frozen=True, slots=True)
class TurnText:
    """``first``, ``second``: the systems' responses; None where one gave none. ``context``:
    (speaker, text)."""

    number: int
    context: tuple[tuple[str, str], ...]
    first: str | None
    second: str | None

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None

    @property
    def earlier(self) -> tuple[tuple[str, str], ...]:
        return self.context[:-1]


@dataclass(frozen=True, slots=True)
class ItemText:
    """A turn, or the turns of a dialogue."""

    row: int
    dialogue: int
    """Its position."""
    dialogue_id: str
    turn: int | None
    turns: tuple[TurnText, ...]


def item_texts(
    version: CorpusVersion,
    document: Mapping[str, Any],
    systems: tuple[System, System],
    chosen: Sequence[int],
) -> list[ItemText]:
    """The items of these rows of a ``system_pair``, in this order; those whose dialogue is gone are
    left out. ``systems``: the first and the second, which the reader may see."""
    rows = document["rows"]
    turns = Turn.objects.filter(dialogue__version=version)
    if len(chosen) <= REQUESTED_BY_NAME:
        turns = turns.filter(dialogue__position__in={rows["dialogue"][row] for row in chosen})
    responses = _responses(turns, systems)
    places: dict[int, list[TurnText]] = {}
    names: dict[int, str] = {}
    for turn in turns.select_related("dialogue").order_by("dialogue__position", "number"):
        names[turn.dialogue.position] = turn.dialogue.external_id
        places.setdefault(turn.dialogue.position, []).append(
            TurnText(
                turn.number,
                tuple((speaker, text) for speaker, text in turn.context),
                *(responses.get((system.pk, turn.pk)) for system in systems),
            )
        )
    found = []
    for row in map(int, chosen):
        position, number = rows["dialogue"][row], rows["turn"][row]
        own = [turn for turn in places.get(position, ()) if number < 0 or turn.number == number]
        if own:
            found.append(
                ItemText(row, position, names[position], None if number < 0 else number, tuple(own))
            )
    return found


def _responses(turns: Any, systems: tuple[System, System]) -> dict[tuple[int, int], str]:
    rows = Response.objects.filter(turn__in=turns, system__in=systems).values_list(
        "system_id", "turn_id", "text"
    )
    return {(system, turn): text for system, turn, text in rows}
