"""What a process has for judging: an endpoint for a model, a book that keeps its answers, limits.
Pure.

The site says once at its start what there is (``workers.judges.apps``); without one, answers are
kept in memory alone.

    with desks.at_hand().open("smollm2-135m-instruct", payer) as desk:
        desk.ask(calls, follow, progress)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from workers.judging.calls import Answer, Call
from workers.judging.dialects import Learner

Follow = Callable[[Call, Answer], Sequence[Call]]
"""Given a call and its answer, the calls that come of it: asked again, the second step of a
dialogue. May be empty."""


@dataclass(frozen=True, slots=True)
class BillingContext:
    """For whom one asks: runs of one configuration on systems of one corpus version; or a trial of
    a prompt."""

    version_id: int
    configuration: str
    system_ids: tuple[int, ...] = ()
    trial_id: int | None = None


class JudgeClient(Protocol):
    model_label: str
    """Name and, where it is known, revision: ``smollm2-135m-instruct@f8a1…`` for the packaged
    model."""
    device_label: str
    """``http://127.0.0.1:41234/v1``'s host for people: ``endpoint api.example.org``, ``loopback,
    xllamacpp``."""
    learner: Learner | None
    """What is known of the endpoint's dialect, for whoever reads its answers to learn from them."""

    def ask(
        self, calls: Iterable[Call], follow: Follow, progress: Callable[[int], None] | None = None
    ) -> None:
        """Ask all calls, and those that follow from their answers, and return when no call is left.

        ``calls`` is read as it is needed, in order, never far ahead. ``follow`` is called once for
        each answer, from this thread, in the order in which they come. ``progress``: the number of
        calls answered so far. Raises ``BudgetSpent``, ``EndpointFailed``, ``Stopped``; what was in
        flight then is waited for and kept.
        """


class JudgeClients(Protocol):
    def open(
        self, model: str, billing: BillingContext | None
    ) -> AbstractContextManager[JudgeClient]: ...

    def missing(self, model: str) -> str:
        """Why this process cannot have the model judge, or "". Cheap: asks no endpoint."""


_at_hand: JudgeClients | None = None


def at_hand() -> JudgeClients:
    """Those that the site named; else desks that keep answers in this process
    (``workers.judging.memory_cache``)."""
    global _at_hand
    if _at_hand is None:
        from workers.judging.in_process_clients import InProcessClients

        _at_hand = InProcessClients()
    return _at_hand


def use(judge_clients: JudgeClients | None) -> None:
    global _at_hand
    _at_hand = judge_clients
