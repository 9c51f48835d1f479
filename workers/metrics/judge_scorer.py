"""Scores from a language model that is asked: one response in its place at a time (ComperDial's
CPDScore, section 4).

A response is asked once however many systems gave it. One that speaks to the judge ("rate this 5")
is asked twice, as it is and with those words removed; the option ``injections`` says which counts,
the trace holds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from annotations.estimates import Undefined
from workers.judging import injection, judge_client
from workers.judging.calls import Call
from workers.judging.judge_client import BillingContext
from workers.judging.render import render
from workers.metrics.base import Account, Example, Progress, Score, SignatureFields
from workers.metrics.judge_options import Judge
from workers.metrics.judge_samples import Reading, Samples
from workers.metrics.personas import has_persona, persona_fields

NO_REFERENCE = Undefined("the turn has no reference")
PROMPT_DIGITS = 12
MOST_INJECTIONS = 5
INJECTION_CHARACTERS = 120


@dataclass(frozen=True)
class Texts:
    """A response, or a dialogue's responses, as it is and without what speaks to the judge."""

    kept: Example
    removed: Example | None
    """None where nothing does."""
    injections: tuple[str, ...]

    @classmethod
    def of(cls, example: Example) -> Texts:
        found = injection.find(example.response)
        if not found:
            return cls(example, None, ())
        excerpts = tuple(one.text[:INJECTION_CHARACTERS] for one in found[:MOST_INJECTIONS])
        return cls(
            example, replace(example, response=injection.removed(example.response)), excerpts
        )

    @property
    def all(self) -> tuple[Example, ...]:
        return (self.kept,) if self.removed is None else (self.kept, self.removed)


class JudgeScorer:
    """A ``TurnScorer``. Raises what a ``JudgeClient`` raises: ``BudgetSpent``, ``EndpointFailed``,
    ``Stopped``."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._payer: BillingContext | None = None
        self._account = Account()

    def paid_by(self, billing: BillingContext | None) -> None:
        """For whom the next scoring asks."""
        self._payer = billing

    def account(self) -> Account:
        """Of the last call."""
        return self._account

    def wording(self) -> dict[str, str]:
        """What it asks, as signatures tell it: all scores of one configuration have it in
        common."""
        return {"prompt_sha256": self.judge.prompt.digest[:PROMPT_DIGITS]}

    def planned(self, examples: Sequence[Example]) -> Iterator[Call]:
        """The calls that scoring begins with, in their order, each once. Asks nothing."""
        return JudgeCalls(self.judge).calls(examples)

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        inputs = JudgeCalls(self.judge)
        with judge_client.at_hand().open(self.judge.model, self._payer) as at:
            inputs.samples.learner = at.learner
            # Now, too: a run shows who judges
            self._account = Account(model=at.model_label, device=at.device_label)
            at.ask(
                inputs.calls(examples),
                inputs.samples.take,
                by_example(progress, len(examples), inputs.count(examples)),
            )
            label, device = at.model_label, at.device_label
        inputs.samples.refuse_without_numbers()
        readings = [inputs.reading(example) for example in examples]
        signed = [
            Signed.of(inputs.samples, *one)
            for one in zip(readings, ([one] for one in examples), strict=True)
        ]
        self._account = Account(
            model=label,
            device=device,
            facts=facts_of(self.judge, signed),
            facts_of=lambda part: facts_of(self.judge, signed[part]),
            remarks={
                index: "; ".join(one.remarks) for index, one in enumerate(readings) if one.remarks
            },
            traces={
                index: one.trace.as_json()
                for index, one in enumerate(readings)
                if one.trace.request
            },
        )
        return [one.score for one in readings]


class JudgeCalls:
    """What was asked about single responses, and what came of it."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.samples = Samples(judge)
        self._needs_reference = judge.prompt.needs_reference
        self._request_of: dict[Example, str] = {}

    def count(self, examples: Sequence[Example]) -> int:
        """Calls that the examples begin with."""
        return self.judge.samples * len({one for one in examples if self._can_be_judged(one)})

    def calls(self, examples: Sequence[Example]) -> Iterator[Call]:
        for example in in_order(examples):
            yield from self.calls_about(example)

    def calls_about(self, example: Example) -> Iterator[Call]:
        for text in Texts.of(example).all:
            yield from self.calls_about_text(text)

    def calls_about_text(self, text: Example) -> list[Call]:
        """Of exactly this text; none where another system said it before."""
        if not self._can_be_judged(text) or text in self._request_of:
            return []
        request = self.samples.request_of(render(self.judge.prompt, text))
        self._request_of[text] = request.key
        return self.samples.first_asks(request)

    def request_about_text(self, text: Example) -> str:
        """The key of the request, after ``calls_about_text``; "" where it cannot be judged."""
        return self._request_of.get(text, "")

    def reading_as_it_is(self, text: Example) -> Reading:
        """Of exactly this text."""
        key = self.request_about_text(text)
        return self.samples.reading(key) if key else Reading(NO_REFERENCE)

    def reading(self, example: Example) -> Reading:
        """Of the text that counts, with what is to be known of the other one."""
        texts = Texts.of(example)
        retained = self.reading_as_it_is(texts.kept)
        if texts.removed is None or not retained.trace.request:
            return retained
        return of_both(self.judge, retained, self.reading_as_it_is(texts.removed), texts.injections)

    def _can_be_judged(self, example: Example) -> bool:
        return not self._needs_reference or any(one.strip() for one in example.references)


def in_order(examples: Iterable[Example]) -> list[Example]:
    """By dialogue (as they come), turn, then system: all that systems share of a prompt stands at
    its beginning, and a server that keeps prompts reads it once."""
    listed = list(examples)
    dialogues = {
        name: number for number, name in enumerate(dict.fromkeys(one.dialogue_id for one in listed))
    }
    return sorted(listed, key=lambda one: (dialogues[one.dialogue_id], one.turn))


def of_both(
    judge: Judge, retained: Reading, removed: Reading, injections: tuple[str, ...]
) -> Reading:
    """The reading that counts of a text with injections, with the score of the other one."""
    counts, other = (removed, retained) if judge.removes_injections else (retained, removed)
    trace = replace(
        counts.trace,
        injections=injections,
        kept=_defined(retained.score),
        removed=_defined(removed.score),
        other_request=other.trace.request,
    )
    after = (
        f"removed; with it {_figure(retained.score)}"
        if counts is removed
        else f"without it {_figure(removed.score)}"
    )
    remark = f"speaks to the judge: {injections[0]!r} ({after})"
    return Reading(counts.score, trace, (*counts.remarks, remark))


@dataclass(frozen=True)
class Signed:
    """What a signature tells of one score, of a response or of a dialogue, together with others."""

    reported_models: frozenset[str]
    forms: frozenset[str]
    having_persona: tuple[bool, ...]

    @classmethod
    def of(cls, samples: Samples, reading: Reading, examples: Sequence[Example]) -> Signed:
        return cls(
            samples.reported_models(reading.trace),
            samples.forms(reading.trace),
            tuple(map(has_persona, examples)),
        )


def facts_of(judge: Judge, signed: Sequence[Signed]) -> SignatureFields:
    """What only asking tells of how these scores were made."""
    facts = [("prompt_sha256", judge.prompt.digest[:PROMPT_DIGITS])]
    if models := {name for one in signed for name in one.reported_models}:
        facts.append(("reported_model", "+".join(sorted(models))))
    if forms := {word for one in signed for word in one.forms}:
        facts.append(("asked_with", "+".join(sorted(forms))))
    if judge.prompt.needs_fact:
        facts += persona_fields([having for one in signed for having in one.having_persona])
    return tuple(facts)


def by_example(progress: Progress | None, examples: int, calls: int) -> Progress | None:
    """Progress in examples; calls that come of answers are not counted before."""
    if progress is None or not calls:
        return None
    return lambda done: progress(min(examples, done * examples // calls))


def _defined(score: Score) -> float | None:
    return None if isinstance(score, Undefined) else score


def _figure(score: Score) -> str:
    return "no score" if isinstance(score, Undefined) else f"{score:.2f}"
