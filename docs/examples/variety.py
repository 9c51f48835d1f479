"""How much of what a system says in a dialogue it says there for the first time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from common.estimates import Undefined
from workers.metrics.base import Example, Metric, OptionValue, Progress, Score

ONE_RESPONSE = Undefined("the dialogue has one response")


class Variety:
    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Progress | None = None
    ) -> list[Score]:
        scores = [
            self._score_one([example.response.strip().lower() for example in one])
            for one in dialogues
        ]
        if progress is not None:
            progress(sum(len(one) for one in dialogues))  # in responses, as of every metric
        return scores

    def _score_one(self, responses: Sequence[str]) -> Score:
        return len(set(responses)) / len(responses) if len(responses) > 1 else ONE_RESPONSE


def _build(_options: Mapping[str, OptionValue]) -> Variety:
    return Variety()


METRIC = Metric(
    name="variety",
    version="1",
    summary="Share of a dialogue's responses that the system has not given before in it.",
    citation="Doe (2026), an example in the documentation of dialeval",
    build=_build,
    levels=frozenset({"dialogue", "system"}),
)
