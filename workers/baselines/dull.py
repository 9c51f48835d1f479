"""Picks one of a few safe answers that fit everywhere: never wrong, never about anything (cf. Li et
al. 2016)."""

from __future__ import annotations

import random

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
