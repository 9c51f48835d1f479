"""Baselines without a language model.

* ``Dull`` picks one of a few safe answers that fit everywhere: never wrong, never about anything
  (cf. Li et al. 2016).
* ``Echo`` says back what it has just heard: on topic by any word count, and no answer at all.
* ``Verbose`` talks at length about nothing: fluent sentences that would fit any conversation, so
  that length alone is tested.
* ``Retrieval`` answers with what somebody once said elsewhere: the known answer nearest to the
  utterance to be answered.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.formats.records import DialogueRecord
from workers.baselines.base import Place

SAFE_ANSWERS = (
    "I see.",
    "Yes, I think so too.",
    "That's nice.",
    "I don't really know.",
    "Oh, okay. Good for you.",
    "Maybe, it depends.",
)


class Dull:
    name = "dull"
    description = "Picks one of six safe answers by chance."

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def respond(self, place: Place) -> str:
        # A generator for each place, so an answer does not depend on which places were asked about
        # before.
        return random.Random(f"dull {self._seed} {place.dialogue_id} {place.turn}").choice(
            SAFE_ANSWERS
        )


class Echo:
    name = "echo"
    description = "Repeats the utterance that it should answer."

    def respond(self, place: Place) -> str:
        return place.last_utterance


Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to unit vectors, one row each."""


def packaged_encode() -> Encode:
    """Sentence vectors of the packaged MiniLM. Raises ``ModelError`` where it is not installed."""
    from workers.inference.encoders.encoder import encoder_for

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


OPENINGS = (
    "Thank you so much for telling me that, it really is a very interesting thing to think about.",
    "Well, that is certainly something, and I am very glad that you have brought it up today.",
    "There is so much that could be said about this, and I hardly know where I should begin.",
    "What you say is important, and I believe that many people would feel exactly the same way.",
)
MIDDLES = (
    "In life there are always many different sides to everything, and each of them has its own "
    "value.",
    (
        "Some people would see it in one way and other people would see it in another way, and "
        "both are fine."
    ),
    (
        "It is good to take some time, to think about what matters, and to keep an open mind "
        "along the way."
    ),
    "I have often thought that things happen in their own time and that we learn from all of them.",
    "Of course one can never know everything, but that is also what makes every day so special.",
    (
        "When you look at the whole picture there is usually more to it than one would expect at "
        "first."
    ),
    (
        "At the end of the day it is about being happy, being kind and making the best of what we "
        "have."
    ),
)
CLOSINGS = (
    "Anyway, it has been a real pleasure to talk about this, and I am sure there is much more to "
    "say.",
    (
        "So, all in all, I would say that it is a very rich subject and that I look forward to "
        "hearing more."
    ),
    "In any case, please do tell me more, because I truly enjoy a good conversation like this one.",
)
MIDDLE_SENTENCES = 3


class Verbose:
    name = "verbose"
    description = "Strings together five long sentences that would fit anywhere, chosen by chance."

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def respond(self, place: Place) -> str:
        chance = random.Random(f"verbose {self._seed} {place.dialogue_id} {place.turn}")
        middles = chance.sample(MIDDLES, MIDDLE_SENTENCES)
        return " ".join([chance.choice(OPENINGS), *middles, chance.choice(CLOSINGS)])
