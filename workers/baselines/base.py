"""What a baseline sees and what it must do: one answer for B at one place in a dialogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from annotations.formats.records import DialogueRecord, Utterance


@dataclass(frozen=True, slots=True)
class Place:
    """A turn as an honest system sees it: everything before the answer, and never the gold answer
    itself."""

    dialogue_id: str
    turn: int
    persona: tuple[str, ...]
    """Of the speaker who must answer."""
    partner_persona: tuple[str, ...]
    context: tuple[Utterance, ...]
    """Oldest first; the last one is the utterance to be answered."""

    @property
    def last_utterance(self) -> str:
        return self.context[-1].text


class Baseline(Protocol):
    """A system that is a program. ``name`` is its name in a corpus, ``description`` one sentence
    for readers."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def respond(self, place: Place) -> str:
        """The answer: one utterance on one line."""
        ...


def places_of(dialogue: DialogueRecord) -> list[Place]:
    """The places of a dialogue where its target speaker must answer, in order."""
    return [
        Place(
            dialogue.id,
            turn.number,
            dialogue.persona,
            dialogue.partner_persona,
            dialogue.context_of(turn),
        )
        for turn in dialogue.turns
    ]
