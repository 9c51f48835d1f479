"""Scores of responses from a trained response-selection model: its density, its classifier, and
blends with either."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from annotations.estimates import Undefined
from workers.metrics.base import Account, Example, Progress, Read, Score
from workers.metrics.checkpoints import each_once, number
from workers.metrics.readability import read_of_responses, sum_of
from workers.metrics.with_model import account_of
from workers.training.density_model import DensityModel, ModelInput, Reading, density_model
from workers.training.density_score import DialogueForm, dialogue_score, turn_scores

EMPTY_RESPONSE = Undefined("the response is empty")
NO_CONTEXT = Undefined("the turn has no context")


def mahalanobis(reading: Reading) -> float:
    """−√d², the density's score."""
    return float(turn_scores(np.array([reading.squared_mahalanobis]))[0])


def euclidean(reading: Reading) -> float:
    """−‖h − μ‖."""
    return float(turn_scores(np.array([reading.squared_euclidean]))[0])


def classifier(reading: Reading) -> float:
    """f(c, r)."""
    return reading.score


def probability(reading: Reading) -> float:
    """σ(f(c, r)), without overflow."""
    return (
        1.0 / (1.0 + math.exp(-reading.score))
        if reading.score >= 0
        else 1.0 - 1.0 / (1.0 + math.exp(reading.score))
    )


class Readings:
    """What the scorers share: which pairs are asked for, what was cut, with what it was
    computed."""

    def __init__(self, trained: str) -> None:
        self._trained = trained
        self._account = Account()

    def account(self) -> Account:
        """Of the last call."""
        return self._account

    def read(
        self, examples: Sequence[Example], progress: Progress | None = None
    ) -> list[Reading | Undefined]:
        """One each, in order; ``Undefined`` where a pair lacks one half, or the model
        knows no token of one. What was cut is remarked."""
        model, remarks = density_model(self._trained), dict[int, str]()
        self._account = account_of(model, remarks, self.facts(model))
        inputs = [inputs_of(example) for example in examples]
        whole = [index for index, one in enumerate(inputs) if not isinstance(one, Undefined)]
        pairs = [one for one in inputs if not isinstance(one, Undefined)]
        found: list[Reading | Undefined] = [
            one if isinstance(one, Undefined) else NO_CONTEXT for one in inputs
        ]
        for index, reading in zip(
            whole, each_once(pairs, model.read, progress, len(examples)), strict=True
        ):
            found[index] = reading
            if reading.cut:
                remarks[index] = f"the context was cut: the model takes {model.max_tokens} tokens"
        shown = [
            [] if isinstance(one, Undefined) else [one[1], *one[0][-model.turns :]]
            for one in inputs
        ]
        self._account = replace(self._account, read=read_of_responses(model, shown, found))
        return found

    def facts(self, model: DensityModel) -> tuple[tuple[str, str], ...]:
        return (("max_tokens", str(model.max_tokens)),)


class TurnReadings(Readings):
    """A ``TurnScorer``."""

    def __init__(self, trained: str, value: Callable[[Reading], float]) -> None:
        super().__init__(trained)
        self._value = value

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        found = self.read(examples, progress)
        return [one if isinstance(one, Undefined) else number(self._value(one)) for one in found]


class DialogueReadings(Readings):
    """A ``DialogueScorer``: of a dialogue's responses, all that can be scored."""

    def __init__(self, trained: str, form: DialogueForm) -> None:
        super().__init__(trained)
        self._form = form

    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Progress | None = None
    ) -> list[Score]:
        turns = [example for dialogue in dialogues for example in dialogue]
        reason = (
            None
            if progress is None
            else lambda done: progress(done * len(dialogues) // max(1, len(turns)))
        )
        found = self.read(turns, reason)
        account, scores = self._account, list[Score]()
        remarks: dict[int, str] = {}
        read: list[Read] = []
        begin = 0
        for index, dialogue in enumerate(dialogues):
            of_dialogue = range(begin, begin + len(dialogue))
            begin += len(dialogue)
            read.append(sum_of(account.read[turn] for turn in of_dialogue))
            distances = [
                reading.squared_mahalanobis
                for turn in of_dialogue
                if not isinstance(reading := found[turn], Undefined)
            ]
            lacking = len(dialogue) - len(distances)
            if any(turn in account.remarks for turn in of_dialogue):
                remarks[index] = "a context was cut: the model takes no more tokens"
            if lacking and distances:
                remark = f"{lacking} of {len(dialogue)} responses have no score"
                remarks[index] = "; ".join(filter(None, [remarks.get(index, ""), remark]))
            none = Undefined("no response of the dialogue has a score")
            scores.append(number(dialogue_score(distances, self._form)) if distances else none)
        self._account = replace(account, remarks=remarks, read=read)
        return scores


def inputs_of(example: Example) -> ModelInput | Undefined:
    context = tuple(text for utterance in example.context if (text := utterance.text.strip()))
    response = example.response.strip()
    if not response:
        return EMPTY_RESPONSE
    return (context, response) if context else NO_CONTEXT
