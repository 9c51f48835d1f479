"""What calls cost, what purses allow, and what is held for calls in flight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Q, Sum

from workers.judges.models import Hold, Purse
from workers.judges.purses import Paying
from workers.judging.book import BudgetSpent, Estimate
from workers.judging.calls import Answer, Call
from workers.judging.costs import Price, is_counted
from workers.leases import lease_end

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call is charged. ``cost`` is None where the model has no price."""

    tokens: int
    cost: Decimal | None


def bill_for(answer: Answer, estimate: Estimate, price: Price) -> Bill:
    """By the endpoint's own counts. Where it does not count both prompt and answer, an answer is charged what it may
    have cost at most, and a refusal nothing: endpoints do not charge for those."""
    if is_counted(answer):
        sent, said = answer.input_tokens or 0, answer.output_tokens or 0
        return Bill(sent + said, price.cost(sent, said))
    if answer.state == "refused":
        return Bill(0, price.cost(0, 0))
    return Bill(estimate.tokens, estimate.cost)


def spent_in_words(name: str, purse: Purse) -> str:
    """For the row of a run and its page: what is spent, and what to do."""
    limits = []
    if purse.tokens_limit is not None:
        limits.append(f"{purse.tokens_spent:,} of {purse.tokens_limit:,} tokens")
    if purse.cost_limit is not None:
        limits.append(f"${purse.cost_spent:,.4f} of ${purse.cost_limit:,.2f}")
    return (
        f"{name} has no room for the next call ({', '.join(limits)} spent). What was answered is kept: raise the "
        "budget and start the judge again, and nothing is paid twice"
    )


def fits(purse: Purse, held: tuple[int, Decimal], estimate: Estimate) -> bool:
    tokens, cost = held
    if purse.tokens_limit is not None and purse.tokens_spent + tokens + estimate.tokens > purse.tokens_limit:
        return False
    if purse.cost_limit is None or estimate.cost is None:
        return True
    return purse.cost_spent + cost + estimate.cost <= purse.cost_limit


class Till:
    """One holder's view of the purses that pay. All methods but ``lock`` want the purses locked, in a transaction."""

    def __init__(self, paying: Sequence[Paying], holder: str) -> None:
        self.names = {one.purse_id: one.name for one in paying}
        self.holder = holder
        self.purses: list[Purse] = []

    def lock(self) -> None:
        """Always in the order of keys, and before any other row: nobody waits in a circle."""
        if self.names:
            self.purses = list(Purse.objects.select_for_update().filter(pk__in=self.names).order_by("pk"))

    def affordable(
        self, calls: Iterable[tuple[Call, Estimate]], now: datetime
    ) -> tuple[list[tuple[Call, Estimate]], list[tuple[Call, Estimate]]]:
        """In their order those that can be paid for beside all that is in flight; and the others."""
        held = self._held(now) if self._is_limited else {}
        taken, too_dear = [], []
        for call, estimate in calls:
            if all(fits(purse, held.get(purse.pk, (0, NOTHING)), estimate) for purse in self.purses):
                taken.append((call, estimate))
                held = {purse.pk: _more(held.get(purse.pk, (0, NOTHING)), estimate) for purse in self.purses}
            else:
                too_dear.append((call, estimate))
        return taken, too_dear

    @property
    def _is_limited(self) -> bool:
        return any(one.tokens_limit is not None or one.cost_limit is not None for one in self.purses)

    def _held(self, now: datetime) -> dict[int, tuple[int, Decimal]]:
        """By purse, what calls in flight may still take, ours among them."""
        holds = Hold.objects.filter(purse__in=self.names, expires_at__gte=now).order_by()
        sums = holds.values_list("purse").annotate(Sum("tokens"), Sum("cost"))
        return {purse: (tokens, cost) for purse, tokens, cost in sums}

    def hold(self, estimates: Iterable[Estimate], now: datetime) -> None:
        """Write down what all calls that the holder has in flight may cost."""
        if not self.names:
            return
        tokens, cost = 0, NOTHING
        for one in estimates:
            tokens, cost = _more((tokens, cost), one)
        held: dict[str, Any] = {"tokens": tokens, "cost": cost, "expires_at": lease_end(now)}
        if Hold.objects.filter(purse__in=self.names, holder=self.holder).update(**held) < len(self.names):
            missing = [Hold(purse_id=pk, holder=self.holder, **held) for pk in self.names]
            Hold.objects.bulk_create(missing, ignore_conflicts=True)

    def pay(self, bills: Sequence[Bill]) -> None:
        """In decimals here, not in the database, whose sums on SQLite are binary fractions."""
        tokens = sum(one.tokens for one in bills)
        cost = sum((one.cost for one in bills if one.cost is not None), NOTHING)
        unpriced = sum(one.cost is None for one in bills)
        for purse in self.purses:
            Purse.objects.filter(pk=purse.pk).update(
                tokens_spent=purse.tokens_spent + tokens,
                cost_spent=purse.cost_spent + cost,
                calls=purse.calls + len(bills),
                unpriced_calls=purse.unpriced_calls + unpriced,
            )

    def refuse_where_spent(self, estimates: Sequence[Estimate]) -> None:
        """Raise ``BudgetSpent`` where none of the calls would fit into all purses even with nothing in flight. What is
        held for calls in flight may come back: most cost less than they might."""
        too_small = [next((one for one in self.purses if not fits(one, (0, NOTHING), it)), None) for it in estimates]
        if too_small and None not in too_small:
            purse = too_small[0]
            assert purse is not None
            raise BudgetSpent(spent_in_words(self.names[purse.pk], purse))

    def keep(self, now: datetime) -> None:
        Hold.objects.filter(holder=self.holder).update(expires_at=lease_end(now))

    def give_back(self, now: datetime) -> None:
        """What we hold, and what holders who fell silent left behind."""
        Hold.objects.filter(Q(holder=self.holder) | Q(purse__in=self.names, expires_at__lt=now)).delete()


def _more(held: tuple[int, Decimal], estimate: Estimate) -> tuple[int, Decimal]:
    return held[0] + estimate.tokens, held[1] + (estimate.cost or NOTHING)
