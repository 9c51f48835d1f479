"""The response cache in memory, for scripts and tests: same rules as the database's, gone with the
process. Pure."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from workers.judges.core.calls import NO_PRICE, Answer, Call, CallKey, Estimate, Price
from workers.judges.core.response_cache import BudgetSpent, Claimed

MOST_ANSWERS = 1_000_000
"""Kept at once; the oldest are dropped first."""


@dataclass
class Answers:
    """What several books share: the answers, who asks what, and what may still be spent (None: no
    limit)."""

    tokens_limit: int | None = None
    cost_limit: Decimal | None = None
    tokens_spent: int = 0
    cost_spent: Decimal = Decimal(0)
    tokens_unsettled: int = 0
    cost_unsettled: Decimal = Decimal(0)
    """Of calls that were sent and whose answer never came, at the most they can have cost."""
    calls: int = 0
    """Paid so far."""
    by_key: dict[CallKey, Answer] = field(default_factory=dict)
    held: dict[CallKey, tuple[object, Estimate]] = field(default_factory=dict)
    """By whom, and what it may cost."""
    sent: set[CallKey] = field(default_factory=set)
    """Of those held."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def capacity_for(self, estimate: Estimate) -> bool:
        tokens = (
            self.tokens_spent
            + self.tokens_unsettled
            + sum(one.tokens for _, one in self.held.values())
        )
        if self.tokens_limit is not None and tokens + estimate.tokens > self.tokens_limit:
            return False
        if self.cost_limit is None or estimate.cost is None:
            return True
        cost = (
            self.cost_spent
            + self.cost_unsettled
            + sum((one.cost or Decimal(0) for _, one in self.held.values()), Decimal(0))
        )
        return cost + estimate.cost <= self.cost_limit


class MemoryResponseCache:
    """One holder's view of ``answers``. ``price``: of the model that is asked."""

    def __init__(self, answers: Answers | None = None, price: Price = NO_PRICE) -> None:
        self.answers = Answers() if answers is None else answers
        self._price = price

    def claim(self, calls: Sequence[tuple[Call, Estimate]]) -> Claimed:
        claimed, refused = Claimed(), False
        with self.answers.lock:
            for call, estimate in calls:
                if (answer := self.answers.by_key.get(call.key)) is not None:
                    claimed.answered.append((call, replace(answer, from_store=True)))
                elif call.key in self.answers.held:
                    claimed.held.append(call)
                elif self.answers.capacity_for(estimate):
                    self.answers.held[call.key] = (self, estimate)
                    claimed.mine.append(call)
                else:
                    refused = True
        if refused and not claimed.mine and not claimed.answered:
            raise BudgetSpent(self._words())
        return claimed

    def mark_sent(self, calls: Sequence[Call]) -> list[Call]:
        with self.answers.lock:
            self.answers.sent |= {call.key for call in calls}
        return list(calls)

    def mark_unsent(self, calls: Sequence[Call]) -> None:
        with self.answers.lock:
            self.answers.sent -= {call.key for call in calls}

    def put(self, answers: Sequence[tuple[Call, Answer]]) -> None:
        with self.answers.lock:
            for call, answer in answers:
                holder, _ = self.answers.held.pop(call.key, (None, None))
                self.answers.sent.discard(call.key)
                if holder is None and call.key in self.answers.by_key:
                    continue  # put down already: nothing is paid twice
                self.answers.by_key[call.key] = answer
                self._pay(answer)
            while len(self.answers.by_key) > MOST_ANSWERS:
                del self.answers.by_key[next(iter(self.answers.by_key))]

    def release(self, calls: Sequence[Call]) -> None:
        with self.answers.lock:
            for call in calls:
                holder, _ = self.answers.held.get(call.key, (None, None))
                if holder is self:
                    self._let_go(call.key)

    def keep(self) -> None:
        """Nobody falls silent within a process."""

    def close(self) -> None:
        with self.answers.lock:
            for key in [key for key, (holder, _) in self.answers.held.items() if holder is self]:
                self._let_go(key)

    def _let_go(self, key: CallKey) -> None:
        """What was sent stays charged."""
        _, estimate = self.answers.held.pop(key)
        if key in self.answers.sent:
            self.answers.sent.discard(key)
            self.answers.tokens_unsettled += estimate.tokens
            self.answers.cost_unsettled += estimate.cost or Decimal(0)

    def _pay(self, answer: Answer) -> None:
        if answer.state != "answered":
            return
        tokens_in, tokens_out = answer.input_tokens or 0, answer.output_tokens or 0
        self.answers.calls += 1
        self.answers.tokens_spent += tokens_in + tokens_out
        self.answers.cost_spent += self._price.cost(tokens_in, tokens_out) or Decimal(0)

    def _words(self) -> str:
        return "the budget is spent: " + ", ".join(
            f"{spent} of {limit} {unit}"
            for spent, limit, unit in (
                (self.answers.tokens_spent, self.answers.tokens_limit, "tokens"),
                (self.answers.cost_spent, self.answers.cost_limit, "USD"),
            )
            if limit is not None
        )
