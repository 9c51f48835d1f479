"""What was said where two metrics differ most in their nearness to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotations.corpora.queries import shown_systems
from annotations.models import CorpusVersion, Dialogue, Response, System


@dataclass(frozen=True)
class Driver:
    """A driving item with what was said there."""

    system: str
    kind: str
    swatch: int
    dialogue: Dialogue | None
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str
    human: float
    first: float
    second: float
    human_z: float
    first_z: float
    second_z: float
    share: float

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None


_FIGURES = ("human", "first", "second", "human_z", "first_z", "second_z", "share")


def drivers_with_texts(version: CorpusVersion, items: Sequence[dict[str, Any]]) -> list[Driver]:
    """Without what is not shown any more."""
    systems: dict[int, System] = shown_systems(version).in_bulk([one["system"] for one in items])
    dialogues = version.dialogues.in_bulk(
        [one["dialogue"] for one in items if one["dialogue"] is not None]
    )
    condition = Q(pk__in=())
    for one in items:
        if one["turn"] is not None and one["system"] in systems:
            condition |= Q(system=one["system"], turn=one["turn"])
    responses = {
        (response.system_id, response.turn_id): response
        for response in Response.objects.filter(condition).select_related("turn")
    }
    found = []
    for one in items:
        system = systems.get(one["system"])
        if system is None:
            continue
        response = responses.get((system.pk, one["turn"]))
        found.append(
            Driver(
                system=system.name,
                kind=system.kind,
                swatch=system.position,
                dialogue=dialogues.get(one["dialogue"]),
                turn=response.turn.number if response else None,
                context=tuple((speaker, text) for speaker, text in response.turn.context)
                if response
                else (),
                response=response.text if response else "",
                **{key: one[key] for key in _FIGURES},
            )
        )
    return found
