"""Scores from how likely a causal language model finds a response: given its context, and out of
nowhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from annotations.formats.records import target_of
from common.estimates import Undefined
from workers.inference.language_models.likelihood import (
    CausalModel,
    Continuation,
    Likelihood,
    causal_model_for,
)
from workers.metrics.base import Account, Example, Progress, Score
from workers.metrics.common.options import account_of
from workers.metrics.common.readability import read_of_responses
from workers.metrics.common.responses import Before, after_silence, before_utterance, copies

EMPTY_RESPONSE = Undefined("the response is empty")
NO_CONTEXT = Undefined("the turn has no context")
TARGET = "B"
"""Whose responses are scored."""
PARTNER = "A"
CUT = "the beginning of the context was cut: the model takes no more tokens"
COPIED = "repeats what was said or the persona, which this metric overrates"


class Coherency:
    """log p(response | context) / tokens, one of ``dialogue_text``'s formats, with the persona or
    without."""

    def __init__(self, model: str, style: str, persona: bool) -> None:
        self._model_name = model
        self._style = style
        self._persona = persona
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Log-likelihood of each response per token; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, in natural logarithms per token; higher is better.
            ``Undefined`` without a response or a context, or where the model cannot read the texts.

        Raises:
            ModelError: the model cannot be loaded.
            NoChatTemplateError: ``chat`` with a model that has no chat template.
        """
        model = causal_model_for(self._model_name)
        self._account = account_of(model, {})  # now, too: a run shows with what it is computed
        inputs = self._inputs_of(model, examples)
        continuations = [one for index in sorted(inputs) for one in inputs[index]]
        found = iter(
            model.likelihoods(
                continuations, _by_example(progress, len(examples), len(continuations))
            )
        )
        remarks: dict[int, str] = {}
        scores: list[Score] = []
        for index, example in enumerate(examples):
            if index not in inputs:
                scores.append(NO_CONTEXT if example.response.strip() else EMPTY_RESPONSE)
                continue
            likelihoods = [next(found) for _ in inputs[index]]
            scores.append(self._score_of(likelihoods))
            if remark := self._remark(example, likelihoods):
                remarks[index] = remark
        shown = [
            [one.response.strip(), *(utterance.text for utterance in one.context)]
            for one in examples
        ]
        self._account = replace(
            account_of(model, remarks), read=read_of_responses(model, shown, scores)
        )
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _inputs_of(
        self, model: CausalModel, examples: Sequence[Example]
    ) -> dict[int, list[Continuation]]:
        """By the example's place what is to be computed; nothing for one that has no score."""
        befores: dict[object, Before] = {}
        inputs: dict[int, list[Continuation]] = {}
        for index, example in enumerate(examples):
            response = example.response.strip()
            persona = example.persona if self._persona else ()
            if not response or not any(one.text.strip() for one in example.context):
                continue
            key = (example.context, persona)
            if key not in befores:
                target = target_of(example.context)
                befores[key] = before_utterance(
                    self._style, target, example.context, persona, model
                )
            inputs[index] = self._continuations(befores[key], response, model)
        return inputs

    def _continuations(
        self,
        before: Before,
        response: str,
        model: CausalModel,  # noqa: ARG002
    ) -> list[Continuation]:
        return [Continuation(before.text, before.lead + response)]

    def _score_of(self, likelihoods: Sequence[Likelihood]) -> float:
        return likelihoods[0].per_token

    def _remark(self, example: Example, likelihoods: Sequence[Likelihood]) -> str:  # noqa: ARG002
        return CUT if likelihoods[0].cut else ""


class Information(Coherency):
    """(log p(response | persona, context) − log p(response)) / tokens.

    p(response) is that in the same format after an empty utterance and without a persona: tags,
    marks and whatever the model's chat template adds stand before both, and are no part of the
    difference.
    """

    def _continuations(
        self, before: Before, response: str, model: CausalModel
    ) -> list[Continuation]:
        nothing = after_silence(self._style, TARGET, PARTNER, model)
        continuations = super()._continuations(before, response, model)
        return [*continuations, Continuation(nothing.text, nothing.lead + response)]

    def _score_of(self, likelihoods: Sequence[Likelihood]) -> float:
        given, untold = likelihoods
        return given.per_token - untold.per_token

    def _remark(self, example: Example, likelihoods: Sequence[Likelihood]) -> str:
        texts = [one.text for one in example.context] + list(
            example.persona if self._persona else ()
        )
        copied = COPIED if copies(example.response, texts) else ""
        return "; ".join(filter(None, [super()._remark(example, likelihoods), copied]))


def _by_example(
    progress: Progress | None, examples: int, continuations: int
) -> Callable[[int], None] | None:
    """Progress in examples, of which each may ask for several continuations."""
    if progress is None:
        return None
    return lambda done: progress(done * examples // continuations)
