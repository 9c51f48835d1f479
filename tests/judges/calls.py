"""Calls of a test, and what asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workers.inference.language_models.client import Endpoint, Message
from workers.judges.core.calls import Answer, Call, ChatRequest
from workers.judges.core.dispatcher import Dispatcher, nobody_watches
from workers.judges.core.memory_cache import MemoryResponseCache
from workers.judges.core.rate_limit import Limits, Pace, Unlimited
from workers.judges.core.response_cache import ResponseCache


def call_for(
    what: object, *, sample: int = 0, ask: int = 0, purpose: Any = None, **parameters: Any
) -> Call:
    """Of a request whose prompt is ``rate `` and what is rated."""
    settings: dict[str, Any] = {"max_tokens": 8, "seed": 0, **parameters}
    request = ChatRequest(
        "judge-a", (Message("user", f"rate {what}"),), tuple(sorted(settings.items()))
    )
    return Call(request, sample, ask, purpose)


def engine_for(
    endpoint: Endpoint,
    book: ResponseCache | None = None,
    pace: Pace | None = None,
    watch: Callable[[], None] = nobody_watches,
    **limits: Any,
) -> Dispatcher:
    made = Limits(**{"at_once": 4, "seconds": 5.0, "retries": 3, **limits})
    return Dispatcher(endpoint, book or MemoryResponseCache(), made, pace or Unlimited(), watch)


def ask_all(
    engine: Dispatcher,
    calls: Iterable[Call],
    follow: Callable[[Call, Answer], Sequence[Call]] | None = None,
) -> list[tuple[Call, Answer]]:
    """What came, in the order in which it came. The engine is closed then."""
    came: list[tuple[Call, Answer]] = []

    def taken(call: Call, answer: Answer) -> Sequence[Call]:
        came.append((call, answer))
        return follow(call, answer) if follow else ()

    try:
        engine.ask(calls, taken)
    finally:
        engine.close()
    return came
