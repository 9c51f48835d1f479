"""What a budget has been charged and what is reserved in it. No writes here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from workers.judges.core.calls import Estimate
from workers.judges.models import Budget


@dataclass(frozen=True, slots=True)
class Charge:
    """Calls with their tokens and their cost in USD (0 where the model has no price)."""

    calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Charge) -> Charge:
        return Charge(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget's state.

    spent: calls that were answered, as the endpoint counted them. unsettled: calls that were sent
    and whose answer never came (a worker was killed, a connection broke), at the
        most they can have cost. They count as spent.
    reserved: the most that calls under way may cost. ``calls`` of it are sent, the others wait.
    """

    spent: Charge
    unsettled: Charge
    reserved: Charge

    @property
    def charged(self) -> Charge:
        return self.spent + self.unsettled


def balance_of(budget: Budget, now: datetime | None = None) -> Balance:
    """Reads ``budget.holds``; prefetch them where there are several budgets."""
    now = now or timezone.now()
    unsettled = reserved = Charge()
    for hold in budget.holds.all():
        sent = Charge(hold.sent_calls, hold.sent_tokens, hold.sent_cost)
        if hold.expires_at < now:
            unsettled += sent
        else:
            reserved += sent + Charge(0, hold.tokens, hold.cost)
    return Balance(
        Charge(budget.calls, budget.tokens_spent, budget.cost_spent), unsettled, reserved
    )


def sum_of(estimates: Iterable[Estimate]) -> Charge:
    return sum((Charge(1, one.tokens, one.cost or Decimal(0)) for one in estimates), Charge())
