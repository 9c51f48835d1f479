"""What calls cost, what purses allow, and what is held for calls in flight. A call is charged the
most it may cost before it is sent; its answer replaces that by what it did cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Q, prefetch_related_objects

from common.jobs.leases import lease_end
from workers.judges.budgets import ChargedCall
from workers.judges.ledger import Balance, Charge, balance_of, sum_of
from workers.judges.models import Hold, Purse
from workers.judging.calls import Answer, Call
from workers.judging.costs import Price, is_counted
from workers.judging.response_cache import BudgetSpent, Estimate

NOTHING = Decimal(0)
NO_CHARGE = Charge()
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call is charged. ``cost`` is None where the model has no price."""

    tokens: int
    cost: Decimal | None


def charge_for(answer: Answer, estimate: Estimate, price: Price) -> Bill:
    """By the endpoint's own counts. Where it does not count both prompt and answer, an answer is
    charged what it may have cost at most, and a refusal nothing: endpoints do not charge for
    those."""
    if is_counted(answer):
        input_tokens, output_tokens = answer.input_tokens or 0, answer.output_tokens or 0
        return Bill(input_tokens + output_tokens, price.cost(input_tokens, output_tokens))
    if answer.state == "refused":
        return Bill(0, price.cost(0, 0))
    return Bill(estimate.tokens, estimate.cost)


def format_spent(name: str, budget: Purse, unsettled: Charge = NO_CHARGE) -> str:
    """For the row of a run and its page: what is spent, and what to do."""
    limits = []
    if budget.tokens_limit is not None:
        limits.append(
            f"{budget.tokens_spent + unsettled.tokens:,} of {budget.tokens_limit:,} tokens"
        )
    if budget.cost_limit is not None:
        limits.append(f"${budget.cost_spent + unsettled.cost:,.4f} of ${budget.cost_limit:,.2f}")
    lost = ""
    if unsettled.tokens:
        lost = (
            f"; {unsettled.tokens:,} tokens of it for calls without an answer, at the most they "
            "can have cost"
        )
    return (
        f"{name} has no room for the next call ({', '.join(limits)} spent{lost}). What was "
        "answered is kept: raise the budget and start the judge again, and no answer is paid "
        "twice"
    )


def fits(budget: Purse, taken: Charge, estimate: Estimate) -> bool:
    """Whether a call has room beside what is spent and ``taken``."""
    if (
        budget.tokens_limit is not None
        and budget.tokens_spent + taken.tokens + estimate.tokens > budget.tokens_limit
    ):
        return False
    if budget.cost_limit is None or estimate.cost is None:
        return True
    return budget.cost_spent + taken.cost + estimate.cost <= budget.cost_limit


class BudgetLedger:
    """One holder's view of the purses that pay. All methods but ``lock``, ``keep`` and ``hold``
    want the purses locked, in a transaction. A holder alone writes its holds."""

    def __init__(self, paying: Sequence[ChargedCall], holder: str) -> None:
        self.names = {one.purse_id: one.name for one in paying}
        self.holder = holder
        self.purses: list[Purse] = []
        self._balances: dict[int, Balance] = {}

    def lock(self) -> None:
        """Always in the order of keys, and before any other row: nobody waits in a circle."""
        if self.names:
            self.purses = list(
                Purse.objects.select_for_update().filter(pk__in=self.names).order_by("pk")
            )

    def affordable(
        self, calls: Iterable[tuple[Call, Estimate]], now: datetime
    ) -> tuple[list[tuple[Call, Estimate]], list[tuple[Call, Estimate]]]:
        """In their order those that can be paid for beside all that is in flight; and the
        others."""
        if any(one.tokens_limit is not None or one.cost_limit is not None for one in self.purses):
            prefetch_related_objects(self.purses, "holds")
            self._balances = {one.pk: balance_of(one, now) for one in self.purses}
        taken = {pk: balance.unsettled + balance.reserved for pk, balance in self._balances.items()}
        within, too_dear = [], []
        for call, estimate in calls:
            if all(
                fits(budget, taken.get(budget.pk, Charge()), estimate) for budget in self.purses
            ):
                within.append((call, estimate))
                taken = {pk: held + sum_of([estimate]) for pk, held in taken.items()}
            else:
                too_dear.append((call, estimate))
        return within, too_dear

    def hold(self, waiting: Iterable[Estimate], sent: Iterable[Estimate], now: datetime) -> None:
        """Write down what the holder's calls may cost: those that wait, and those that were handed
        over to be sent."""
        if not self.names:
            return
        reserved, unsettled = sum_of(waiting), sum_of(sent)
        held: dict[str, Any] = {
            "tokens": reserved.tokens,
            "cost": reserved.cost,
            "sent_calls": unsettled.calls,
            "sent_tokens": unsettled.tokens,
            "sent_cost": unsettled.cost,
            "expires_at": lease_end(now),
        }
        if Hold.objects.filter(purse__in=self.names, holder=self.holder).update(**held) < len(
            self.names
        ):
            missing = [Hold(purse_id=pk, holder=self.holder, **held) for pk in self.names]
            Hold.objects.bulk_create(missing, ignore_conflicts=True)

    def pay(self, bills: Sequence[Bill]) -> None:
        """In decimals here, not in the database, whose sums on SQLite are binary fractions."""
        tokens = sum(one.tokens for one in bills)
        cost = sum((one.cost for one in bills if one.cost is not None), NOTHING)
        unpriced = sum(one.cost is None for one in bills)
        for budget in self.purses:
            Purse.objects.filter(pk=budget.pk).update(
                tokens_spent=budget.tokens_spent + tokens,
                cost_spent=budget.cost_spent + cost,
                calls=budget.calls + len(bills),
                unpriced_calls=budget.unpriced_calls + unpriced,
            )

    def leave_unsettled(self, lost: Iterable[Estimate]) -> None:
        """Charge calls that were sent and whose answer will not come what they may have cost at
        most."""
        charge = sum_of(lost)
        if not charge.calls:
            return
        for budget in self.purses:
            row, _ = Hold.objects.get_or_create(
                purse=budget, holder="", defaults={"expires_at": LONG_AGO}
            )
            row.sent_calls += charge.calls
            row.sent_tokens += charge.tokens
            row.sent_cost += charge.cost
            row.save()

    def refuse_where_spent(self, estimates: Sequence[Estimate]) -> None:
        """Raise ``BudgetSpent`` where none of the calls would fit into all purses even with nothing
        in flight. What is held for calls in flight may come back: most cost less than they might.
        What is unsettled will not."""
        unsettled = {pk: balance.unsettled for pk, balance in self._balances.items()}
        too_small = [
            next(
                (
                    one
                    for one in self.purses
                    if not fits(one, unsettled.get(one.pk, Charge()), wanted)
                ),
                None,
            )
            for wanted in estimates
        ]
        if too_small and None not in too_small:
            budget = too_small[0]
            assert budget is not None
            raise BudgetSpent(format_spent(self.names[budget.pk], budget, unsettled[budget.pk]))

    def keep(self, now: datetime) -> None:
        Hold.objects.filter(holder=self.holder).update(expires_at=lease_end(now))

    def give_back(self, now: datetime) -> None:
        """What we hold, and what holders who fell silent had reserved for calls that they never
        sent."""
        silent = Q(purse__in=self.names, expires_at__lt=now, sent_calls=0)
        Hold.objects.filter(Q(holder=self.holder) | silent).delete()
