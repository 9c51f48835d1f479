"""Answers with what somebody once said elsewhere: the known answer nearest to the utterance to be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotations.records import DialogueRecord
from workers.baselines.base import Place


class Encoder(Protocol):
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to unit vectors, one row each."""
        ...


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    dialogue_id: str
    text: str


def known_answers(dialogues: Sequence[DialogueRecord]) -> list[KnownAnswer]:
    """Every gold answer of the dialogues, in order."""
    return [
        KnownAnswer(dialogue.id, reference)
        for dialogue in dialogues
        for turn in dialogue.turns
        for reference in turn.references
    ]


class Retrieval:
    """Nearest by cosine of sentence vectors; answers of the dialogue itself are never candidates."""

    name = "retrieval"
    description = "Returns the gold answer of another dialogue that lies nearest to the last utterance (MiniLM)."

    def __init__(self, encoder: Encoder, candidates: Sequence[KnownAnswer]) -> None:
        self._encoder = encoder
        self._candidates = tuple(candidates)
        self._vectors = encoder.encode([candidate.text for candidate in self._candidates])

    def respond(self, place: Place) -> str:
        """Raises ``LookupError`` where no other dialogue has an answer to offer."""
        is_elsewhere = np.array([candidate.dialogue_id != place.dialogue_id for candidate in self._candidates])
        if not is_elsewhere.any():
            raise LookupError(f"no answers from dialogues other than {place.dialogue_id}")
        cosines = self._vectors @ self._encoder.encode([place.last_utterance])[0]
        return self._candidates[int(np.where(is_elsewhere, cosines, -np.inf).argmax())].text
