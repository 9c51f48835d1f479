"""Answers spoilt in known ways, which a metric should score below the answers (DEnsity, Park et
al., 2023, Figure 3).

The kinds are those of Khalid and Lee (2022) that the paper shows, made here by rules:

- ``repetition``: a word said again and again ("Not yet yet yet yet yet.");
- ``speaker``: what the other speaker just said, put before the answer ("Have you thought about the
  cost? Not yet.");
- ``random``: an answer of another dialogue.

The paper's fourth, contradiction, is not made: a text that contradicts needs a model that knows
what does. Khalid and Lee copy the speaker only after a question; here, as the paper describes it,
at every turn with a context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from annotations.formats.records import Utterance
from workers.training.core.negatives import stream

Kind = Literal["repetition", "speaker", "random"]
KINDS: tuple[Kind, ...] = ("repetition", "speaker", "random")

MOST_REPEATS = 5
"""A word is repeated once to five times more, as often as Khalid and Lee's generator does."""
TRIES = 100
"""Draws for another dialogue's answer before it is looked for among all of them."""

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


class Answered(Protocol):
    """A pair of ``workers.training.core.conversations``: an answer in its context."""

    @property
    def dialogue(self) -> int: ...

    @property
    def context(self) -> tuple[Utterance, ...]: ...

    @property
    def response(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Spoilt:
    place: int
    """Of the pair, in the order given."""
    kind: Kind
    response: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Over pairs of an answer and what was made of it."""

    pairs: int
    higher: int
    """The answer scores higher: what is asked for."""
    equal: int
    """A tie, which is a failure and not a half success."""

    @property
    def share(self) -> float | None:
        return self.higher / self.pairs if self.pairs else None


def spoilt(pairs: Sequence[Answered], seed: int, kinds: Sequence[Kind] = KINDS) -> list[Spoilt]:
    """At most one of each kind for each pair, in order; none where the kind cannot be made: without
    a word, without a context, without another dialogue with another answer. Repetition and speaker
    depend on the seed and the pair alone.
    """
    made = []
    for index, pair in enumerate(pairs):
        for kind in kinds:
            text = _spoilt_one(
                pairs,
                index,
                kind,
                stream(seed, kind, *(utterance.text for utterance in pair.context), pair.response),
            )
            if text is not None:
                made.append(Spoilt(index, kind, text))
    return made


def repeated(response: str, random: np.random.Generator) -> str | None:
    """With one of its words, drawn, said one to five times more behind itself; None where there is
    no word."""
    words = list(WORD.finditer(response))
    if not words:
        return None
    word = words[random.integers(len(words))]
    more = f" {word[0]}" * int(random.integers(1, MOST_REPEATS + 1))
    return response[: word.end()] + more + response[word.end() :]


def speaker_copied(context: Sequence[Utterance], response: str) -> str | None:
    """With the last utterance of the context before it; None where there is none."""
    last = context[-1].text.strip() if context else ""
    return f"{last} {response}" if last else None


def accuracy(answers: Sequence[float], manipulated: Sequence[float]) -> Accuracy:
    """Of scores side by side; higher is better. What is not a number is neither higher nor
    equal."""
    both = list(zip(answers, manipulated, strict=True))
    return Accuracy(
        len(both), sum(one > other for one, other in both), sum(one == other for one, other in both)
    )


def accuracies(
    answers: Sequence[float], scored: Sequence[tuple[Spoilt, float]], kinds: Sequence[Kind] = KINDS
) -> Mapping[Kind, Accuracy]:
    """By kind: ``answers`` are the pairs' scores in order, ``scored`` what was made of them with
    its score."""
    by_kind: dict[Kind, tuple[list[float], list[float]]] = {kind: ([], []) for kind in kinds}
    for one, score in scored:
        by_kind[one.kind][0].append(answers[one.place])
        by_kind[one.kind][1].append(score)
    return {kind: accuracy(*sides) for kind, sides in by_kind.items()}


def _spoilt_one(
    pairs: Sequence[Answered], index: int, kind: Kind, random: np.random.Generator
) -> str | None:
    pair = pairs[index]
    if kind == "repetition":
        return repeated(pair.response, random)
    if kind == "speaker":
        return speaker_copied(pair.context, pair.response)
    return of_another_dialogue(pairs, pair, random)


def of_another_dialogue(
    pairs: Sequence[Answered], pair: Answered, random: np.random.Generator
) -> str | None:
    """Another answer, drawn, of another dialogue; None where there is none."""

    def other(candidate: Answered) -> bool:
        return candidate.dialogue != pair.dialogue and candidate.response != pair.response

    drawn: list[int] = random.integers(len(pairs), size=TRIES).tolist()
    for index in drawn:
        if other(pairs[index]):
            return pairs[index].response
    responses = [candidate.response for candidate in pairs if other(candidate)]
    return responses[int(random.integers(len(responses)))] if responses else None
