"""The samples of many requests, gathered as their answers come: what is asked again, what each
says, their mean; and the trace that is stored of them.

A trace tells how a judge came to a score: ``MetricRun.details["traces"]`` holds one by turn index,
or by dialogue index for a metric of whole dialogues. For people and for checks; no score is ever
read from here. The raw answers are in the cache (``workers.judges.models``): those of ``request``,
samples 0 to ``len(samples) - 1``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common.estimates import Undefined
from workers.inference.language_models.client import Message
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges.core.calls import MOST_ASKS, Answer, Call, ChatRequest
from workers.judges.core.dialects import Learner, is_begun
from workers.judges.core.parsing import expected, loose_statements, parse, statements
from workers.judges.core.rendering import begun
from workers.judges.core.response_cache import EndpointFailed
from workers.metrics.base import Score
from workers.metrics.common.judge_options import EXPECTED, Judge

TOP = 20
"""The likeliest tokens that are asked for: the most that OpenAI's interface gives."""
EXPECTED_TOKENS = 12
"""Of an answer that was begun. An endpoint that does not go on with it, but answers anew, writes
the label first."""
PACKAGED_TOKENS = 1
"""Of the packaged model, whose server goes on: its first token stands where the number does."""
MAX_ANSWER_CHARACTERS = 200
WRITTEN_INSTEAD = "no log-probabilities: the score is the number that the judge wrote"
MOST_IN_VAIN = 3
"""Answers at the beginning of a run of which none holds a number: then it ends, before more is paid
for nothing."""


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
    raw_text: str = ""
    reason: str = ""
    remark: str = ""
    forms: set[str] = field(default_factory=set)
    """How its answers were asked, where that is not the plain form."""
    is_written: bool = False
    """Whether a number that the judge wrote stands for an expected score."""
    mass: float | None = None
    chances: dict[str, float] = field(default_factory=dict)


class Samples:
    """Of one judge. Knows every request by its key, and asks none twice."""

    def __init__(self, judge: Judge, learner: Learner | None = None) -> None:
        self._judge = judge
        self.learner = learner
        """Learns the endpoint's dialect from what is read; None where nothing is to be learned."""
        self._gathered: dict[str, _Gathered] = {}
        self._has_number = False
        self._in_vain = 0
        self._last = ""

    def request_of(self, messages: Sequence[Message]) -> ChatRequest:
        """Make the request that asks the judge.

        An expected score is read where the number would come, so the answer is begun for the model.

        Args:
            messages: the rendered prompt.
        """
        judge = self._judge
        parameters: dict[str, Any] = {
            **dict(judge.more_parameters),
            "temperature": judge.temperature,
            "seed": judge.seed,
        }
        if judge.scoring == EXPECTED:  # no stop: where one was drawn, llama.cpp tells no chances
            messages = (*messages, Message("assistant", begun(judge.prompt, judge.label)))
            tokens = PACKAGED_TOKENS if judge.model == PACKAGED_MODEL_NAME else EXPECTED_TOKENS
            parameters |= {"logprobs": True, "top_logprobs": TOP, "max_tokens": tokens}
        else:
            parameters["max_tokens"] = judge.prompt.max_tokens
        return ChatRequest(
            judge.model,
            tuple(messages),
            tuple(sorted(parameters.items())),
            judge.prompt.labels,
            judge.prompt.scale,
            judge.prompt.digest,
            judge.most_tokens,
        )

    def first_asks(self, request: ChatRequest, purpose: Any = None) -> list[Call]:
        """Calls that a request begins with.

        Args:
            purpose: handed on with each call.

        Returns:
            One call per sample; an empty list where the request is known already.
        """
        if request.key in self._gathered:
            return []
        count = self._judge.samples
        self._gathered[request.key] = _Gathered([None] * count, [0] * count, [False] * count)
        return [Call(request, sample, purpose=purpose) for sample in range(count)]

    def take(self, call: Call, answer: Answer) -> list[Call]:
        """Read the answer to a call.

        Args:
            call: of a request that ``first_asks`` has seen.

        Returns:
            Calls that follow from it: the same sample again where no number could be read, else an
            empty list.

        Raises:
            EndpointFailed: the first answers of the run hold no number.
        """
        gathered = self._gathered[call.request.key]
        gathered.asks[call.sample] = call.ask + 1
        if answer.reported_model and answer.reported_model != self._judge.model:
            gathered.reported_models.add(answer.reported_model)
        if answer.state == "refused":
            gathered.reason = (
                f"the endpoint refuses to judge it: {answer.error[:MAX_ANSWER_CHARACTERS]}"
            )
            gathered.raw_text = answer.error[:MAX_ANSWER_CHARACTERS]
        elif self._is_read(gathered, call, answer):
            self._has_number = True
            if form := answer.sent.words():
                gathered.forms.add(form)
            if self.learner:
                self.learner.number(call.request, answer, _is_continued(answer))
        elif again := self._without_number(gathered, call, answer):
            return [again]
        gathered.answered[call.sample] = True
        return []

    def _is_read(self, gathered: _Gathered, call: Call, answer: Answer) -> bool:
        """Whether the answer holds a number; then it is the sample's. Without log-probabilities an
        expected score is the number that was written."""
        is_expected = self._judge.scoring == EXPECTED
        if (
            is_expected
            and answer.chances is not None
            and self._read_chances(gathered, call, answer)
        ):
            return True
        if (numbers := self._numbers(call, answer)) is None:
            return False
        gathered.samples[call.sample] = numbers
        gathered.is_written = gathered.is_written or is_expected
        return True

    def _without_number(self, gathered: _Gathered, call: Call, answer: Answer) -> Call | None:
        """The same once more where that may help: in another form if one was learned, or with
        another seed."""
        gathered.raw_text = answer.text[:MAX_ANSWER_CHARACTERS]
        is_outdated = self.learner is not None and answer.sent != self.learner.dialect
        has_learned = self.learner is not None and self.learner.no_number(call.request, answer)
        self._last = _quoted(answer)
        self._in_vain += not (answer.from_store or is_outdated)
        if not self._has_number and self._in_vain >= MOST_IN_VAIN:
            if self.learner is None or not self.learner.begin_again():
                self.refuse_without_numbers()
            has_learned, self._in_vain = True, 0
        is_continued = answer.sent.prefill != "none" and answer.chances is not None
        same_comes_again = self._judge.scoring == EXPECTED and is_continued
        most = MOST_ASKS + (MOST_ASKS if has_learned else 0)
        if call.ask + 1 < most and (has_learned or not same_comes_again):
            return Call(call.request, call.sample, call.ask + 1, call.purpose)
        gathered.reason = gathered.reason or f"no answer could be read, asked {call.ask + 1} times"
        return None

    def refuse_without_numbers(self) -> None:
        """Fail if there were answers and none held a number.

        Raises:
            EndpointFailed: with what was answered last.
        """
        if self._last and not self._has_number:
            raise EndpointFailed(
                f"{self._judge.model}: the first answers hold no number for {self._judge.label}; "
                f"the last: {self._last}"
            )

    def is_whole(self, key: str) -> bool:
        """Whether no sample of a request is waited for any more.

        Args:
            key: of a request that ``first_asks`` has seen.
        """
        return all(self._gathered[key].answered)

    def reported_models(self, trace: JudgeTrace) -> frozenset[str]:
        """Models that are said to have answered the requests of a trace.

        Returns:
            Their names, without that of the judge's model; empty where only that one answered.
        """
        requests = [self._gathered[key] for key in (trace.request, trace.other_request) if key]
        return frozenset(name for one in requests for name in one.reported_models)

    def forms(self, trace: JudgeTrace) -> frozenset[str]:
        """How the requests of a trace were asked and read, where that is not the plain way.

        Returns:
            Words for signatures; ``written_number`` where a number that was written stands for an
            expected score.
        """
        requests = [self._gathered[key] for key in (trace.request, trace.other_request) if key]
        written = {"written_number"} if any(one.is_written for one in requests) else set()
        return (
            frozenset(word for one in requests for form in one.forms for word in form.split("+"))
            | written
        )

    def reading(self, key: str) -> Reading:
        """What the samples of a request say together.

        Args:
            key: of a request that ``first_asks`` has seen.

        Returns:
            The mean over the samples that could be read, its trace and remarks; ``Undefined``, with
            the reason, where none could be read.
        """
        gathered = self._gathered[key]
        read = [numbers for numbers in gathered.samples if numbers is not None]
        score = _mean([numbers[self._judge.label] for numbers in read])
        labels = dict.fromkeys(label for numbers in read for label in numbers)
        trace = JudgeTrace(
            request=key,
            samples=tuple(
                None if one is None else one[self._judge.label] for one in gathered.samples
            ),
            asks=tuple(gathered.asks),
            aspects={
                label: _mean([one[label] for one in read if label in one]) for label in labels
            },
            mass=gathered.mass,
            chances=gathered.chances,
            said="" if read else gathered.raw_text,
        )
        if not read:
            return Reading(Undefined(gathered.reason or "it was not judged"), trace)
        return Reading(score, trace, tuple(self._remarks(gathered, len(read))))

    def _remarks(self, gathered: _Gathered, read: int) -> list[str]:
        remarks = []
        if read < self._judge.samples:
            remarks.append(f"read from {read} of {self._judge.samples} samples")
        if gathered.is_written:
            remarks.append(WRITTEN_INSTEAD)
        if gathered.remark:
            remarks.append(gathered.remark)
        return remarks

    def _numbers(self, call: Call, answer: Answer) -> dict[str, float] | None:
        """By label; None where the one that counts is not there."""
        judge, text = self._judge, answer.text
        if is_begun(call.request) and answer.sent.prefill != "none" and _is_continued(answer):
            text = begun(judge.prompt, judge.label) + text.lstrip()
        found = {
            label: value for label, value in parse(text, judge.prompt).items() if value is not None
        }
        if judge.label not in found and not any(
            one.label == judge.label for one in statements(text, judge.prompt)
        ):
            loose = {one.label: one.value for one in loose_statements(text, judge.prompt)}
            found = {label: value for label, value in loose.items() if value is not None} | found
        return found if judge.label in found else None

    def _read_chances(self, gathered: _Gathered, call: Call, answer: Answer) -> bool:
        found = expected(answer, self._judge.prompt, self._judge.label)
        if isinstance(found.value, Undefined):
            gathered.reason = found.value.reason
            return False
        gathered.samples[call.sample] = {self._judge.label: found.value}
        if call.sample == 0 or gathered.mass is None:
            gathered.mass, gathered.remark = found.mass, found.remark
            gathered.chances = {str(number): chance for number, chance in found.by_number}
        return True


def _is_continued(answer: Answer) -> bool:
    """Whether the answer goes on with the one that was begun: a number comes first."""
    return answer.text.lstrip()[:1].isdigit()


def _quoted(answer: Answer) -> str:
    """What was answered, for an error."""
    if words := " ".join(answer.text.split()):
        cut = f"{words[:MAX_ANSWER_CHARACTERS]}…" if len(words) > MAX_ANSWER_CHARACTERS else words
        return f'"{cut}"'
    taken = "" if answer.output_tokens is None else f", {answer.output_tokens} tokens"
    return f"nothing (finish_reason {answer.finish_reason or 'none'}{taken})"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


@dataclass(frozen=True)
class JudgeTrace:
    """One text that was judged. What is empty is not written."""

    request: str
    """The key of the stored request; "" where nothing was asked."""
    samples: tuple[float | None, ...] = ()
    """The score that each sample gave, None for one that could not be read however often it was
    asked."""
    asks: tuple[int, ...] = ()
    """How often each sample was asked: 1 to 3."""
    aspects: Mapping[str, float] = field(default_factory=dict)
    """Every number of the answer by its label, the one that counts too: means over the samples that
    could be read."""
    mass: float | None = None
    """Expected scores: the probability of all numbers of the scale together, before it is divided
    out."""
    chances: Mapping[str, float] = field(default_factory=dict)
    """Expected scores: the probability of each number of the scale, divided by ``mass``."""
    said: str = ""
    """Where there is no score: how the answer begins, or why the endpoint refuses."""
    injections: tuple[str, ...] = ()
    """What in the response speaks to the judge, as it stands there."""
    kept: float | None = None
    """Where there are injections: the score of the response as it is …"""
    removed: float | None = None
    """… and without them. The option ``injections`` says which counts; ``request`` is that
    one's."""
    other_request: str = ""
    """The key of the other one."""
    turns: tuple[Mapping[str, Any], ...] = ()
    """Metrics of dialogues: the trace of each turn with its ``turn`` (number) and ``score``."""

    def as_json(self) -> dict[str, Any]:
        """The trace as a JSON object.

        Returns:
            ``request`` and ``samples``, and of the other fields those that say something: ``asks``
            where a sample was asked more than once, ``aspects`` where there are several.
        """
        document: dict[str, Any] = {"request": self.request, "samples": list(self.samples)}
        if any(asks > 1 for asks in self.asks):
            document["asks"] = list(self.asks)
        if len(self.aspects) > 1:
            document["aspects"] = dict(self.aspects)
        for name in ("mass", "kept", "removed"):
            if (value := getattr(self, name)) is not None:
                document[name] = value
        for name in ("said", "other_request"):
            if value := getattr(self, name):
                document[name] = value
        if self.chances:
            document["chances"] = dict(self.chances)
        for name in ("injections", "turns"):
            if values := getattr(self, name):
                document[name] = list(values)
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> JudgeTrace:
        """Read what ``as_json`` wrote.

        Args:
            document: unknown keys are ignored, missing ones are empty.
        """
        samples = tuple(document.get("samples", ()))
        return cls(
            request=str(document.get("request", "")),
            samples=samples,
            asks=tuple(document.get("asks", (1,) * len(samples))),
            aspects=dict(document.get("aspects", {})),
            mass=document.get("mass"),
            chances=dict(document.get("chances", {})),
            said=str(document.get("said", "")),
            injections=tuple(document.get("injections", ())),
            kept=document.get("kept"),
            removed=document.get("removed"),
            other_request=str(document.get("other_request", "")),
            turns=tuple(document.get("turns", ())),
        )
