"""Scores from a language model that is asked: one response in its place at a time (ComperDial's
CPDScore, section 4).

A response is asked once however many systems gave it. One that speaks to the judge ("rate this 5")
is asked twice, as it is and with those words removed; the option ``injections`` says which counts,
the trace holds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from common.estimates import Undefined
from workers.judges.core import clients, injection
from workers.judges.core.calls import Call
from workers.judges.core.clients import BillingContext
from workers.judges.core.rendering import render
from workers.metrics.base import Account, Example, Progress, Score, SignatureFields
from workers.metrics.common.judge_options import Judge
from workers.metrics.common.judge_samples import Reading, Samples
from workers.metrics.common.responses import has_persona, persona_fields

NO_REFERENCE = Undefined("the turn has no reference")
PROMPT_DIGITS = 12
MOST_INJECTIONS = 5
INJECTION_CHARACTERS = 120


@dataclass(frozen=True)
class Texts:
    """A response, or a dialogue's responses, as it is and without what speaks to the judge."""

    original: Example
    removed: Example | None
    """None where nothing does."""
    injections: tuple[str, ...]

    @classmethod
    def of(cls, example: Example) -> Texts:
        """Split a response into what is said and what speaks to the judge.

        Returns:
            The example, one with these words removed (None where there are none), and at most
            ``MOST_INJECTIONS`` excerpts of ``INJECTION_CHARACTERS`` characters.
        """
        found = injection.find(example.response)
        if not found:
            return cls(example, None, ())
        excerpts = tuple(one.text[:INJECTION_CHARACTERS] for one in found[:MOST_INJECTIONS])
        return cls(
            example, replace(example, response=injection.removed(example.response)), excerpts
        )

    @property
    def all(self) -> tuple[Example, ...]:
        """The versions that the judge is asked about, one or two."""
        return (self.original,) if self.removed is None else (self.original, self.removed)


class JudgeScorer:
    """A ``TurnScorer``. Raises what a ``JudgeClient`` raises: ``BudgetSpent``, ``EndpointFailed``,
    ``Stopped``."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._payer: BillingContext | None = None
        self._account = Account()

    def paid_by(self, billing: BillingContext | None) -> None:
        """Set for whom the next scoring asks."""
        self._payer = billing

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def wording(self) -> dict[str, str]:
        """What it asks, as signatures state it: all scores of one configuration share it.

        Returns:
            ``prompt_sha256``: the first ``PROMPT_DIGITS`` hexadecimal digits.
        """
        return {"prompt_sha256": self.judge.prompt.digest[:PROMPT_DIGITS]}

    def planned(self, examples: Sequence[Example]) -> Iterator[Call]:
        """Calls that scoring begins with. Asks nothing.

        Returns:
            In their order, each once.
        """
        return JudgeCalls(self.judge).calls(examples)

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Ask the judge about each response; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, on the scale of the judge's prompt. ``Undefined`` where
            the turn lacks the reference that the prompt shows, the endpoint refuses, or no answer
            could be read.

        Raises:
            BudgetSpent: the budget is spent.
            EndpointFailed: the endpoint fails, or the first answers hold no number.
            Stopped: the run was stopped.
        """
        inputs = JudgeCalls(self.judge)
        with clients.at_hand().open(self.judge.model, self._payer) as at:
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
        """Number of calls that the examples begin with, for progress.

        Returns:
            Distinct examples that can be judged times samples; versions with injections removed are
            not counted.
        """
        return self.judge.samples * len({one for one in examples if self._can_be_judged(one)})

    def calls(self, examples: Sequence[Example]) -> Iterator[Call]:
        """Calls about all examples, in the order in which systems share the most (``in_order``)."""
        for example in in_order(examples):
            yield from self.calls_about(example)

    def calls_about(self, example: Example) -> Iterator[Call]:
        """Calls about one example: as it is and, where something speaks to the judge, with that
        removed."""
        for text in Texts.of(example).all:
            yield from self.calls_about_text(text)

    def calls_about_text(self, text: Example) -> list[Call]:
        """Calls about exactly this text.

        Returns:
            An empty list where another system said it before, or where it lacks the reference that
            the prompt shows.
        """
        if not self._can_be_judged(text) or text in self._request_of:
            return []
        request = self.samples.request_of(render(self.judge.prompt, text))
        self._request_of[text] = request.key
        return self.samples.first_asks(request)

    def request_about_text(self, text: Example) -> str:
        """Key of the request about exactly this text, after ``calls_about_text``.

        Returns:
            "" where the text cannot be judged.
        """
        return self._request_of.get(text, "")

    def reading_as_it_is(self, text: Example) -> Reading:
        """What the judge said of exactly this text.

        Returns:
            A reading; its score is ``Undefined`` where the text lacks the reference that the prompt
            shows.
        """
        key = self.request_about_text(text)
        return self.samples.reading(key) if key else Reading(NO_REFERENCE)

    def reading(self, example: Example) -> Reading:
        """Reading of the version of a response that counts, with the other version's score."""
        texts = Texts.of(example)
        retained = self.reading_as_it_is(texts.original)
        if texts.removed is None or not retained.trace.request:
            return retained
        return of_both(self.judge, retained, self.reading_as_it_is(texts.removed), texts.injections)

    def _can_be_judged(self, example: Example) -> bool:
        return not self._needs_reference or any(one.strip() for one in example.references)


def in_order(examples: Iterable[Example]) -> list[Example]:
    """Sort examples so that prompts that begin alike follow each other.

    All that systems share of a prompt stands at its beginning, and a server that caches prompts
    reads it once.

    Returns:
        By dialogue (in the order of their first appearance), turn, then system (as they come).
    """
    listed = list(examples)
    dialogues = {
        name: number for number, name in enumerate(dict.fromkeys(one.dialogue_id for one in listed))
    }
    return sorted(listed, key=lambda one: (dialogues[one.dialogue_id], one.turn))


def of_both(
    judge: Judge, retained: Reading, removed: Reading, injections: tuple[str, ...]
) -> Reading:
    """Combine the readings of a text with and without its injections.

    Args:
        judge: says which of the two counts.
        retained: of the text as it is.
        removed: of the text without what speaks to the judge.
        injections: excerpts, at least one.

    Returns:
        The reading that counts, with the other one's score in its trace and in a remark.
    """
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
        """Collect what a signature says of one score.

        Args:
            samples: that gave the reading.
            reading: of a response, or of a dialogue.
            examples: the response, or the dialogue's responses.
        """
        return cls(
            samples.reported_models(reading.trace),
            samples.forms(reading.trace),
            tuple(map(has_persona, examples)),
        )


def facts_of(judge: Judge, signed: Sequence[Signed]) -> SignatureFields:
    """Signature fields that are known only once a judge has answered.

    Args:
        signed: one for each score.

    Returns:
        ``prompt_sha256``; ``reported_model`` where another model is said to have answered;
        ``asked_with`` where that was not the plain way; ``with_persona`` where the prompt shows the
        persona.
    """
    facts = [("prompt_sha256", judge.prompt.digest[:PROMPT_DIGITS])]
    if models := {name for one in signed for name in one.reported_models}:
        facts.append(("reported_model", "+".join(sorted(models))))
    if forms := {word for one in signed for word in one.forms}:
        facts.append(("asked_with", "+".join(sorted(forms))))
    if judge.prompt.needs_fact:
        facts += persona_fields([having for one in signed for having in one.having_persona])
    return tuple(facts)


def by_example(progress: Progress | None, examples: int, calls: int) -> Progress | None:
    """Convert progress in calls into progress in examples.

    Args:
        progress: hears examples; None to report nothing.
        examples: how many there are.
        calls: that the examples begin with. Calls that follow from answers are not among them, so
            progress is capped at ``examples``.

    Returns:
        A callback that hears calls; None where there is no ``progress`` or no call.
    """
    if progress is None or not calls:
        return None
    return lambda done: progress(min(examples, done * examples // calls))


def _defined(score: Score) -> float | None:
    return None if isinstance(score, Undefined) else score


def _figure(score: Score) -> str:
    return "no score" if isinstance(score, Undefined) else f"{score:.2f}"
