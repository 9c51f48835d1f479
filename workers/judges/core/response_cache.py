"""The LLM response cache: who is asking which call, what was answered, what it cost. Pure;
``workers.judges`` keeps one in the database, ``MemoryResponseCache``
(``workers/judges/core/memory_cache.py``) one in memory, for scripts and tests.

Every call goes through three steps: it is claimed, it is sent, its answer is put down. A claim
holds the place of the call, so that two workers never send the same one, and the money that it may
cost. A claim whose holder fell silent ends by itself. The money of a call that was sent stays
charged until its answer is put down, whatever becomes of its holder: the endpoint may charge for
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workers.judges.core.calls import Answer, Call, Estimate


class BudgetSpent(RuntimeError):
    """The next calls may cost more than what is left; the message names the budget. Nothing of it
    was sent."""


class EndpointFailed(RuntimeError):
    """The endpoint gives no answers; the message says what it did, without its key. What was
    answered is kept."""


class NoScore(RuntimeError):
    """A judge was asked and gave no score at all; the message says what it answered."""


class Stopped(RuntimeError):
    """Somebody stopped the run, or it makes way. What was answered is kept."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """What became of calls that one wanted to send."""

    mine: list[Call] = field(default_factory=list)
    """To be sent now, by whoever claimed them."""
    answered: list[tuple[Call, Answer]] = field(default_factory=list)
    """From the store, with ``from_store``."""
    held: list[Call] = field(default_factory=list)
    """Somebody else is asking them: look again in a while."""


class ResponseCache(Protocol):
    """One holder's view of the response cache: made for one batch of work, by one payer. Used from
    one thread."""

    def claim(self, calls: Sequence[tuple[Call, Estimate]]) -> Claimed:
        """Look up, and claim what is not there. All that can be paid for is claimed; raises
        ``BudgetSpent`` where nothing could be claimed for want of money, nothing was found either,
        and none of it would fit even with nothing in flight. What there is no money for now is in
        no list where the holder itself has calls in flight, whose answers may free some; else,
        where other holders' calls do, it is among ``held``."""

    def mark_sent(self, calls: Sequence[Call]) -> list[Call]:
        """Note durably that these claimed calls are about to be sent. Returns those that may be;
        the others were released, because their holder was silent for so long that somebody else may
        have them by now."""

    def mark_unsent(self, calls: Sequence[Call]) -> None:
        """The calls are still claimed, but the endpoint charges nothing for having been sent
        them."""

    def put(self, answers: Sequence[tuple[Call, Answer]]) -> None:
        """Store answers to claimed calls, and pay for them. In one transaction."""

    def release(self, calls: Sequence[Call]) -> None:
        """Give up claims that came to nothing. Those that are marked as sent stay charged, at the
        most they can have cost."""

    def keep(self) -> None:
        """Say that the holder is alive. Called every few seconds while calls are under way."""

    def close(self) -> None:
        """As ``release``, of whatever is still held."""
