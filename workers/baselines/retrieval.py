"""Answers with what somebody once said elsewhere: the known answer nearest to the utterance to be
answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.formats.records import DialogueRecord
from workers.baselines.base import Place

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit vectors, one row each."""


def packaged_encode() -> Encode:
    """Sentence vectors of the packaged MiniLM. Raises ``ModelError`` where it is not installed."""
    from workers.encoders.encoder import encoder_for

    encoder = encoder_for()
    return lambda texts: encoder.sentence_vectors(texts).values


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
    """Nearest by cosine of sentence vectors; answers of the dialogue itself are never
    candidates."""

    name = "retrieval"
    description = (
        "Returns the gold answer of another dialogue that lies nearest to the last utterance "
        "(MiniLM)."
    )

    def __init__(self, encode: Encode, candidates: Sequence[KnownAnswer]) -> None:
        self._encode = encode
        self._candidates = tuple(candidates)
        self._vectors = encode([candidate.text for candidate in self._candidates])

    def respond(self, place: Place) -> str:
        """Raises ``LookupError`` where no other dialogue has an answer to offer."""
        is_remote = np.array(
            [candidate.dialogue_id != place.dialogue_id for candidate in self._candidates]
        )
        if not is_remote.any():
            raise LookupError(f"no answers from dialogues other than {place.dialogue_id}")
        cosines = self._vectors @ self._encode([place.last_utterance])[0]
        return self._candidates[int(np.where(is_remote, cosines, -np.inf).argmax())].text
