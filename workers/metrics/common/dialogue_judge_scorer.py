"""CPDScore-Dialogue (ComperDial, section 4 and appendix B.3): a system's whole dialogue is judged
in two steps.

First every turn is, as by the turn-level metric: the same calls, so what is stored of it is not
asked again. As soon as all turns of a dialogue have a score, these and the responses are put before
the judge, who says three numbers: one over the turns, one over how the responses go together, and a
final one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from common.estimates import Undefined
from workers.judges.core import clients
from workers.judges.core.calls import Answer, Call
from workers.judges.core.clients import BillingContext
from workers.judges.core.rendering import render_dialogue
from workers.metrics.base import Account, Example, Progress, Score, SignatureFields
from workers.metrics.common.judge_options import Judge
from workers.metrics.common.judge_samples import JudgeTrace, Reading, Samples
from workers.metrics.common.judge_scorer import (
    PROMPT_DIGITS,
    JudgeCalls,
    Signed,
    Texts,
    by_example,
    facts_of,
    of_both,
)

Dialogue = tuple[Example, ...]
LAST = 1 << 31
"""After all turns."""


class DialogueJudgeScorer:
    """A ``DialogueScorer``. ``turn_judge`` has the prompt of the first step, ``judge`` that of the
    second."""

    def __init__(self, turn_judge: Judge, judge: Judge) -> None:
        self.turn_judge, self.judge = turn_judge, judge
        self._payer: BillingContext | None = None
        self._account = Account()

    def paid_by(self, billing: BillingContext | None) -> None:
        """Set for whom the next scoring asks."""
        self._payer = billing

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def wording(self) -> dict[str, str]:
        """What its two steps ask, as signatures state it.

        Returns:
            ``prompt_sha256`` of the second step and ``turn_prompt_sha256`` of the first: the first
            ``PROMPT_DIGITS`` hexadecimal digits each.
        """
        return {
            "prompt_sha256": self.judge.prompt.digest[:PROMPT_DIGITS],
            "turn_prompt_sha256": self.turn_judge.prompt.digest[:PROMPT_DIGITS],
        }

    def planned(self, examples: Sequence[Example]) -> Iterator[Call]:
        """Calls that scoring makes where every answer can be read. Asks nothing.

        Args:
            examples: of whole dialogues, one system after another.

        Returns:
            The calls of the first step; then, for the second, one for each of a dialogue's samples
            with made-up scores: they are as many and as long as those to come.
        """
        yield from JudgeCalls(self.turn_judge).calls(examples)
        samples = Samples(self.judge)
        for dialogue in whole_dialogues(examples):
            low, high = self.turn_judge.prompt.scale
            scores = [(low + high) / 2 + index / 100 for index in range(len(dialogue))]
            yield from samples.first_asks(
                samples.request_of(render_dialogue(self.judge.prompt, dialogue, scores))
            )

    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Progress | None = None
    ) -> list[Score]:
        """Ask the judge about each turn, then about the dialogue; see ``DialogueScorer``.

        Returns:
            One score per dialogue, in order, on the scale of the second step's prompt.
            ``Undefined`` where a turn has no score, the endpoint refuses, or no answer could be
            read.

        Raises:
            BudgetSpent: the budget is spent.
            EndpointFailed: the endpoint fails, or the first answers hold no number.
            Stopped: the run was stopped.
        """
        steps = _TwoStepJudge(self.turn_judge, self.judge, [tuple(one) for one in dialogues])
        examples = [example for dialogue in dialogues for example in dialogue]
        calls = steps.turns.count(examples) + len(dialogues) * self.judge.samples
        with clients.at_hand().open(self.judge.model, self._payer) as at:
            steps.samples.learner = steps.turns.samples.learner = at.learner
            # Now, too: a run shows who judges
            self._account = Account(model=at.model_label, device=at.device_label)
            at.ask(steps.calls(), steps.follow, by_example(progress, len(examples), calls))
            label, device = at.model_label, at.device_label
        for samples in (steps.turns.samples, steps.samples):
            samples.refuse_without_numbers()
        readings = [steps.reading(dialogue) for dialogue in steps.dialogues]
        signed = [
            Signed.of(steps.samples, *one) for one in zip(readings, steps.dialogues, strict=True)
        ]
        self._account = Account(
            model=label,
            device=device,
            facts=self._facts_of(signed),
            facts_of=lambda part: self._facts_of(signed[part]),
            remarks={
                index: "; ".join(one.remarks) for index, one in enumerate(readings) if one.remarks
            },
            traces={index: one.trace.as_json() for index, one in enumerate(readings)},
        )
        return [one.score for one in readings]

    def _facts_of(self, signed: Sequence[Signed]) -> SignatureFields:
        of_turns = ("turn_prompt_sha256", self.wording()["turn_prompt_sha256"])
        return (*facts_of(self.judge, signed), of_turns)


@dataclass
class _Waiting:
    """A dialogue's texts, until all their turns are judged."""

    texts: Dialogue
    for_requests: set[str] = field(default_factory=set)
    request: str = ""
    """Of the second step, once it is asked."""


class _TwoStepJudge:
    def __init__(self, turn_judge: Judge, judge: Judge, dialogues: Sequence[Dialogue]) -> None:
        self.turns = JudgeCalls(turn_judge)
        self.judge = judge
        self.samples = Samples(judge)
        self.dialogues = list(dialogues)
        self._waiting: dict[Dialogue, _Waiting] = {}
        self._by_request: dict[str, list[_Waiting]] = {}

    def calls(self) -> Iterator[Call]:
        """Of the first step, in the order in which systems share the most; a dialogue whose turns
        were all judged before (another system said the same) begins with its second step."""
        for of_all_systems in _by_dialogue(self.dialogues):
            calls = [
                call
                for one in of_all_systems
                for texts in _variants(one)
                for call in self._calls_about(texts)
            ]
            yield from (call for _, call in sorted(calls, key=lambda one: one[0]))

    def follow(self, call: Call, answer: Answer) -> list[Call]:
        if call.purpose is _SECOND_STEP:
            return self.samples.take(call, answer)
        more = self.turns.samples.take(call, answer)
        key = call.request.key
        if more or not self.turns.samples.is_whole(key):
            return more
        begun = []
        for waiting in self._by_request.pop(key, []):
            waiting.for_requests.discard(key)
            if not waiting.for_requests:
                begun += self._second_step(waiting)
        return begun

    def reading(self, dialogue: Dialogue) -> Reading:
        """Of the texts that count, with what is to be known of the others."""
        retained, *removed = (self._reading_of(texts) for texts in _variants(dialogue))
        if not removed:
            return retained
        injections = tuple(one for example in dialogue for one in Texts.of(example).injections)
        return of_both(self.judge, retained, removed[0], injections)

    def _calls_about(self, texts: Dialogue) -> list[tuple[int, Call]]:
        """With the number of the turn that each is about."""
        if texts in self._waiting:
            return []
        waiting = self._waiting[texts] = _Waiting(texts)
        calls = [
            (example.turn, call)
            for example in texts
            for call in self.turns.calls_about_text(example)
        ]
        for key in filter(None, map(self.turns.request_about_text, texts)):
            if not self.turns.samples.is_whole(key):
                waiting.for_requests.add(key)
                self._by_request.setdefault(key, []).append(waiting)
        if waiting.for_requests:
            return calls
        return [(LAST, call) for call in self._second_step(waiting)]

    def _second_step(self, waiting: _Waiting) -> list[Call]:
        """None where a turn has no score: nothing is made up for it."""
        scores = [self.turns.reading_as_it_is(example).score for example in waiting.texts]
        defined = [score for score in scores if not isinstance(score, Undefined)]
        if len(defined) < len(scores):
            return []
        request = self.samples.request_of(
            render_dialogue(self.judge.prompt, waiting.texts, defined)
        )
        waiting.request = request.key
        return self.samples.first_asks(request, _SECOND_STEP)

    def _reading_of(self, texts: Dialogue) -> Reading:
        by_turn = [(example.turn, self.turns.reading_as_it_is(example)) for example in texts]
        traces = tuple(_turn_trace(turn, reading) for turn, reading in by_turn)
        request = self._waiting[texts].request
        if not request:
            turn, reason = next(
                (turn, one.score.reason)
                for turn, one in by_turn
                if isinstance(one.score, Undefined)
            )
            return Reading(
                Undefined(f"turn {turn} has no score: {reason}"), JudgeTrace("", turns=traces)
            )
        reading = self.samples.reading(request)
        return replace(reading, trace=replace(reading.trace, turns=traces))


_SECOND_STEP = object()


def whole_dialogues(examples: Sequence[Example]) -> list[Dialogue]:
    """Cut a sequence of responses where a dialogue ends.

    Args:
        examples: one system's responses in order, or those of several systems one after another.

    Returns:
        Each dialogue's responses; a new one begins where the dialogue changes or the turn does not
        rise.
    """
    found: list[list[Example]] = []
    for example in examples:
        if (
            not found
            or found[-1][-1].dialogue_id != example.dialogue_id
            or found[-1][-1].turn >= example.turn
        ):
            found.append([])
        found[-1].append(example)
    return [tuple(one) for one in found]


def _by_dialogue(dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
    """What all systems said in one dialogue together, dialogues as they come first."""
    found: dict[str, list[Dialogue]] = {}
    for dialogue in dialogues:
        found.setdefault(dialogue[0].dialogue_id, []).append(dialogue)
    return list(found.values())


def _variants(dialogue: Dialogue) -> list[Dialogue]:
    """As it is; and, where something in it speaks to the judge, without that."""
    texts = [Texts.of(example) for example in dialogue]
    if not any(one.removed for one in texts):
        return [dialogue]
    return [dialogue, tuple(one.removed or one.original for one in texts)]


def _turn_trace(turn: int, reading: Reading) -> dict[str, Any]:
    score = None if isinstance(reading.score, Undefined) else reading.score
    return {"turn": turn, "score": score, **reading.trace.as_json()}
