"""Metrics made for tests: what a third-party package might bring, with all its ways to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Metric, Option
from workers.metrics.common.options import HUMAN


@dataclass
class Scorer:
    function: Callable[[Sequence[Example]], Any]

    def score(
        self, examples: Sequence[Example], progress: Callable[[int], None] | None = None
    ) -> Any:
        return self.function(examples)


def metric(name: str, function: Callable[[Sequence[Example]], Any], version: str = "1") -> Metric:
    return Metric(
        name=name,
        version=version,
        summary="For tests.",
        citation="for tests",
        build=lambda options: Scorer(function),
        value_range=(None, None),
    )


class SystemLengths:
    """A metric of whole systems: how much longer the system's mean response is than the
    people's."""

    def score_system(
        self, examples: Sequence[Example], human: Sequence[Example], progress: Any = None
    ) -> Any:
        if not human:
            return Undefined("there are no human references to compare with")
        return sum(lengths(examples)) / len(examples) - sum(lengths(human)) / len(human)


class PreparedLengths(SystemLengths):
    """The same, for several systems at once: keeps what it was asked to prepare and to score, in
    order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[str]]] = []

    def prepare(self, examples: Sequence[Example], progress: Callable[[int], None]) -> None:
        self.calls.append(("prepare", [example.response for example in examples]))
        for done in range(len(examples)):
            progress(done + 1)

    def score_system(
        self, examples: Sequence[Example], human: Sequence[Example], progress: Any = None
    ) -> Any:
        self.calls.append(("score", [example.response for example in examples]))
        progress(len(examples))
        return super().score_system(examples, human)


class NotedLengths:
    """A metric with a model, for several systems at once: keeps what each call got, and says what a
    model would."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.before: Callable[[Sequence[Example]], None] = lambda examples: None

    def score(
        self, examples: Sequence[Example], progress: Callable[[int], None] | None = None
    ) -> list[float]:
        self.calls.append([example.response for example in examples])
        self.before(examples)
        for done in range(len(examples)):
            if progress is not None:
                progress(done + 1)
        return lengths(examples)

    def account(self) -> Account:
        long = {place: "long\0" for place, text in enumerate(self.calls[-1]) if len(text) > 9}
        facts = (("dtype", "float32"), ("layer", "6"))
        return Account("ruler@abc123", "cpu, 1 thread", facts, long, {"texts": len(self.calls[-1])})


def batch_metric(scorer: Any, at_once: int = 8) -> Metric:
    return Metric(
        name="together",
        version="1",
        summary="For tests.",
        citation="for tests",
        build=lambda options: scorer,
        value_range=(None, None),
        options=(Option("layer", 0, "For tests."),),
        systems_at_once=at_once,
    )


SYSTEM_LENGTH = Metric(
    name="system_length",
    version="1",
    summary="For tests.",
    citation="for tests",
    build=lambda options: SystemLengths(),
    levels=frozenset({"system"}),
    value_range=(None, None),
    options=(HUMAN,),
)


def system_metric(scorer: Any) -> Metric:
    return replace(SYSTEM_LENGTH, build=lambda options: scorer, systems_at_once=8)


def lengths(examples: Sequence[Example]) -> list[float]:
    """The number of characters of each response."""
    return [float(len(example.response)) for example in examples]


def raises(examples: Sequence[Example]) -> list[float]:
    raise RuntimeError("the model\0 has no opinion")


ODD: dict[str, Callable[[Sequence[Example]], Any]] = {
    "length": lengths,
    "raises": raises,
    "too_few": lambda examples: lengths(examples)[:-1],
    "too_many": lambda examples: [*lengths(examples), 1.0],
    "not_a_number": lambda examples: [float("nan")] * len(examples),
    "infinite": lambda examples: [float("inf")] * len(examples),
    "nothing": lambda examples: [None] * len(examples),
    "text": lambda examples: ["0.5"] * len(examples),
    "generator": lambda examples: (float(len(example.response)) for example in examples),
    "shy": lambda examples: [Undefined("it would rather not")] * len(examples),
    "short_only": lambda examples: [
        float(len(one.response)) if len(one.response) < 4 else Undefined("longer than 3 characters")
        for one in examples
    ],
    "constant": lambda examples: [0.5] * len(examples),
}
"""By name, what each does with the examples."""
