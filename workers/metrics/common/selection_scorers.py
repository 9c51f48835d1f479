"""Scores of responses from a trained response-selection model: its density, its classifier, and
blends with either."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Progress, Read, Score
from workers.metrics.common.options import account_of, each_once, number
from workers.metrics.common.readability import read_of_responses, sum_of
from workers.training.core.density_model import (
    DensityModel,
    DialogueForm,
    ModelInput,
    Reading,
    density_model,
    dialogue_score,
    turn_scores,
)

EMPTY_RESPONSE = Undefined("the response is empty")
NO_CONTEXT = Undefined("the turn has no context")


def mahalanobis(reading: Reading) -> float:
    """DEnsity: minus the Mahalanobis distance from people's answers.

    Returns:
        0 or less; higher is better.

    −√d², the root of the paper's equation 3, as in its experiments and released code (Park et al.,
    2023).
    """
    return float(turn_scores(np.array([reading.squared_mahalanobis]))[0])


def euclidean(reading: Reading) -> float:
    """Minus the Euclidean distance from the mean of people's answers.

    Returns:
        0 or less; higher is better.

    −‖h − μ‖ (Park et al., 2023, Table 2).
    """
    return float(turn_scores(np.array([reading.squared_euclidean]))[0])


def classifier(reading: Reading) -> float:
    """The response-selection model's output f(c, r) before the softmax.

    Returns:
        Any real number; higher is better.
    """
    return reading.score


def probability(reading: Reading) -> float:
    """The response-selection model's output as a probability, σ(f(c, r)), without overflow.

    Returns:
        In [0, 1].
    """
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
        """Run metadata of the last call."""
        return self._account

    def read(
        self, examples: Sequence[Example], progress: Progress | None = None
    ) -> list[Reading | Undefined]:
        """Read each example's context and response with the trained model.

        What was cut is remarked in the run metadata.

        Args:
            progress: called with the number of examples finished so far; None to report nothing.

        Returns:
            One per example, in order; ``Undefined`` where the context or the response is empty, or
            the model knows no token of one.

        Raises:
            ModelError: there is no such trained model.
        """
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
        """Signature fields of the model: how many tokens it takes."""
        return (("max_tokens", str(model.max_tokens)),)


class TurnReadings(Readings):
    """A ``TurnScorer``: of each response one number of what the model reads."""

    def __init__(self, trained: str, value: Callable[[Reading], float]) -> None:
        super().__init__(trained)
        self._value = value

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Score each response by one number of its reading; see ``TurnScorer.score``.

        Returns:
            One score per example, in order. ``Undefined`` without a response or a context, where
            the model knows no token of one, or where the number is not finite.
        """
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
        """DEnsity of whole dialogues; see ``DialogueScorer.score_dialogues``.

        Returns:
            One score per dialogue, in order, 0 or less; higher is better. Responses without a score
            are left out and remarked. ``Undefined`` where no response of the dialogue has a score.
        """
        turns = [example for dialogue in dialogues for example in dialogue]
        found = self.read(turns, progress)
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
    """What the selection model reads of an example.

    Returns:
        The context's utterances that are not blank, and the response; ``Undefined`` where the
        response is empty or no utterance is left.
    """
    context = tuple(text for utterance in example.context if (text := utterance.text.strip()))
    response = example.response.strip()
    if not response:
        return EMPTY_RESPONSE
    return (context, response) if context else NO_CONTEXT
