"""A desk for tests of judges: it answers by a function, at once, and notes what it was asked."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from annotations.formats.records import Utterance
from workers.judges.core.calls import Answer, Call, Follow, TokenChance
from workers.judges.core.clients import BillingContext
from workers.metrics.base import Example

Answers = Callable[[Call], Answer]


def written(text: str) -> Answer:
    return Answer("answered", text=text)


def chances(by_token: Mapping[str, float]) -> Answer:
    """An answer of one token, with these probabilities of the tokens at its place."""
    top = tuple((token, math.log(chance)) for token, chance in by_token.items())
    return Answer("answered", text=top[0][0], chances=(TokenChance(top[0][0], top),))


def said(call: Call) -> str:
    """What the judge reads, all messages together."""
    return "\n".join(message.text for message in call.request.messages)


class Desk:
    model_label = "wise@0123456789ab"
    device_label = "endpoint judges.example.org"
    learner = None

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[Call] = []
        self.payers: list[BillingContext | None] = []

    def ask(
        self, calls: Iterable[Call], follow: Follow, progress: Callable[[int], None] | None = None
    ) -> None:
        """First all that is known at the beginning, then what follows from it: the answers come
        late."""
        waiting = deque(calls)
        while waiting:
            call = waiting.popleft()
            self.asked.append(call)
            waiting.extend(follow(call, self.answers(call)))
            if progress is not None:
                progress(len(self.asked))

    @contextmanager
    def open(self, model: str, payer: BillingContext | None) -> Iterator[Desk]:
        self.payers.append(payer)
        yield self

    def missing(self, model: str) -> str:
        return "no endpoint has it" if model == "absent" else ""


def turn(
    response: str,
    *,
    dialogue: str = "d0",
    number: int = 0,
    reference: str = "I repair clocks.",
    persona: tuple[str, ...] = ("I repair clocks.",),
) -> Example:
    context = (Utterance("A", "What do you do?"),)
    return Example(
        dialogue, number, persona, (), context, (reference,) if reference else (), response
    )
