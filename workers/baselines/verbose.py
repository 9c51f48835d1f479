"""Talks at length about nothing: fluent sentences that would fit any conversation, so that length
alone is tested."""

from __future__ import annotations

import random

from workers.baselines.base import Place

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
