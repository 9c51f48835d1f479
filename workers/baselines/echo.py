"""Says back what it has just heard: on topic by any word count, and no answer at all."""

from __future__ import annotations

from workers.baselines.base import Place


class Echo:
    name = "echo"
    description = "Repeats the utterance that it should answer."

    def respond(self, place: Place) -> str:
        return place.last_utterance
