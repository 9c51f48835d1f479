"""The samples of many requests, gathered as their answers come: what is asked again, what each says, their mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.estimates import Undefined
from workers.judging.book import EndpointFailed
from workers.judging.calls import MOST_ASKS, Answer, Call, ChatRequest
from workers.judging.expected import expected
from workers.judging.parsing import parse
from workers.judging.render import begun
from workers.language_models.client import Message
from workers.language_models.server import PACKAGED_MODEL_NAME
from workers.metrics.base import Score
from workers.metrics.judge_options import EXPECTED, Judge
from workers.metrics.judge_trace import JudgeTrace

TOP = 20
"""The likeliest tokens that are asked for: the most that OpenAI's interface gives."""
EXPECTED_TOKENS = 12
"""Of an answer that was begun. An endpoint that does not go on with it, but answers anew, writes the label first."""
PACKAGED_TOKENS = 1
"""Of the packaged model, whose server goes on: its first token stands where the number does."""
SAID_CHARACTERS = 200
WITHOUT_CHANCES = 8
"""Answers without log-probabilities after which an endpoint is known to give none."""
NO_CHANCES = "the endpoint gives no log-probabilities: choose scoring=answer"


@dataclass(frozen=True)
class Reading:
    """What a request's samples said together."""

    score: Score
    trace: JudgeTrace = field(default_factory=lambda: JudgeTrace(""))
    remarks: tuple[str, ...] = ()


@dataclass
class _Gathered:
    samples: list[Mapping[str, float] | None]
    asks: list[int]
    answered: list[bool]
    reported_models: set[str] = field(default_factory=set)
    said: str = ""
    reason: str = ""
    remark: str = ""
    mass: float | None = None
    chances: dict[str, float] = field(default_factory=dict)


class Samples:
    """Of one judge. Knows every request by its key, and asks none twice."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._gathered: dict[str, _Gathered] = {}
        self._with_chances = 0
        self._without_chances = 0

    def request_of(self, messages: Sequence[Message]) -> ChatRequest:
        """An expected score is read where the number would come: the answer is begun for the model."""
        judge = self._judge
        parameters: dict[str, Any] = {"temperature": judge.temperature, "seed": judge.seed}
        if judge.scoring == EXPECTED:  # no stop: where one was drawn, llama.cpp tells no chances
            messages = (*messages, Message("assistant", begun(judge.prompt, judge.label)))
            tokens = PACKAGED_TOKENS if judge.model == PACKAGED_MODEL_NAME else EXPECTED_TOKENS
            parameters |= {"logprobs": True, "top_logprobs": TOP, "max_tokens": tokens}
        else:
            parameters["max_tokens"] = judge.prompt.max_tokens
        return ChatRequest(judge.model, tuple(messages), tuple(sorted(parameters.items())))

    def first_asks(self, request: ChatRequest, purpose: Any = None) -> list[Call]:
        """The calls that a request begins with; none where it is known already."""
        if request.key in self._gathered:
            return []
        count = self._judge.samples
        self._gathered[request.key] = _Gathered([None] * count, [0] * count, [False] * count)
        return [Call(request, sample, purpose=purpose) for sample in range(count)]

    def take(self, call: Call, answer: Answer) -> list[Call]:
        """Reads an answer. The calls that come of it: the same sample again where nothing could be read.

        Raises ``EndpointFailed`` where expected scores are wanted of an endpoint that gives no log-probabilities.
        """
        gathered = self._gathered[call.request.key]
        gathered.asks[call.sample] = call.ask + 1
        if answer.reported_model and answer.reported_model != self._judge.model:
            gathered.reported_models.add(answer.reported_model)
        if answer.state == "refused":
            gathered.reason = f"the endpoint refuses to judge it: {answer.error[:SAID_CHARACTERS]}"
            gathered.said = answer.error[:SAID_CHARACTERS]
        elif self._judge.scoring == EXPECTED:
            self._read_chances(gathered, call, answer)
        elif (numbers := self._numbers(answer)) is not None:
            gathered.samples[call.sample] = numbers
        else:
            gathered.said = answer.text[:SAID_CHARACTERS]
            if call.ask + 1 < MOST_ASKS:
                return [Call(call.request, call.sample, call.ask + 1, call.purpose)]
            gathered.reason = f"no answer could be read, asked {MOST_ASKS} times"
        gathered.answered[call.sample] = True
        return []

    def is_whole(self, key: str) -> bool:
        return all(self._gathered[key].answered)

    def reported_models(self, trace: JudgeTrace) -> frozenset[str]:
        """What is said to have answered the requests of a trace, where that is not the judge's model."""
        requests = [self._gathered[key] for key in (trace.request, trace.other_request) if key]
        return frozenset(name for one in requests for name in one.reported_models)

    def reading(self, key: str) -> Reading:
        gathered = self._gathered[key]
        read = [numbers for numbers in gathered.samples if numbers is not None]
        score = _mean([numbers[self._judge.label] for numbers in read])
        labels = dict.fromkeys(label for numbers in read for label in numbers)
        trace = JudgeTrace(
            request=key,
            samples=tuple(None if one is None else one[self._judge.label] for one in gathered.samples),
            asks=tuple(gathered.asks),
            aspects={label: _mean([one[label] for one in read if label in one]) for label in labels},
            mass=gathered.mass,
            chances=gathered.chances,
            said="" if read else gathered.said,
        )
        if not read:
            return Reading(Undefined(gathered.reason or "it was not judged"), trace)
        return Reading(score, trace, tuple(self._remarks(gathered, len(read))))

    def _remarks(self, gathered: _Gathered, read: int) -> list[str]:
        remarks = []
        if read < self._judge.samples:
            remarks.append(f"read from {read} of {self._judge.samples} samples")
        if gathered.remark:
            remarks.append(gathered.remark)
        return remarks

    def _numbers(self, answer: Answer) -> dict[str, float] | None:
        """By label; None where the one that counts is not there."""
        found = {label: value for label, value in parse(answer.text, self._judge.prompt).items() if value is not None}
        return found if self._judge.label in found else None

    def _read_chances(self, gathered: _Gathered, call: Call, answer: Answer) -> None:
        if answer.chances is None:
            self._without_chances += 1
            if not self._with_chances and self._without_chances >= WITHOUT_CHANCES:
                raise EndpointFailed(f"{self._judge.model}: {NO_CHANCES}")
            gathered.reason = NO_CHANCES
            return
        self._with_chances += 1
        found = expected(answer, self._judge.prompt, self._judge.label)
        if isinstance(found.value, Undefined):
            gathered.reason, gathered.said = found.value.reason, answer.text[:SAID_CHARACTERS]
            return
        gathered.samples[call.sample] = {self._judge.label: found.value}
        if call.sample == 0 or gathered.mass is None:
            gathered.mass, gathered.remark = found.mass, found.remark
            gathered.chances = {str(number): chance for number, chance in found.by_number}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
