"""The LLM response cache in the database: safe for any number of workers at once.

A call is a row that one holder owns while it is asked. The budgets that pay are locked while calls
are claimed and while their answers are put down, so that no more is ever reserved and spent
together than a budget allows. Before a call is sent that is noted, in a transaction of its own: if
its holder dies, it stays charged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from secrets import token_hex
from typing import Any, Literal, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction

from common import clock
from common.jobs.leases import has_ended, lease_end
from workers.judges.budgets import Bill, BudgetLedger, ChargedCall, charge_for
from workers.judges.call_rows import (
    Place,
    State,
    answers_at,
    fields_of,
    put_down,
    rows_at,
    rows_of_requests,
    stored_text,
)
from workers.judges.core import calls as costs
from workers.judges.core.calls import NO_PRICE, Answer, Call, CallKey, Estimate, Price
from workers.judges.core.dialects import Dialect
from workers.judges.core.response_cache import Claimed
from workers.judges.models import StoredAnswer

TRIES = 3
"""Of a transaction that the database broke off because another one was in its way."""
Wanted = Sequence[tuple[Call, Estimate]]
Places = dict[CallKey, Place]
Method = TypeVar("Method", bound=Callable[..., Any])

_paid_here = 0


def calls_paid_here() -> int:
    """Answers that this process has put down: by it one sees whether a piece of work came any
    further."""
    return _paid_here


def _again_where_in_the_way(method: Method) -> Method:
    """A deadlock, which the order of locks leaves to coincidences, breaks a transaction off: it is
    done again. Over a new connection where the old one broke: what an answer cost is paid, whatever
    became of the database meanwhile."""

    @wraps(method)
    def tried(*arguments: Any) -> Any:
        for _ in range(TRIES - 1):
            try:
                return method(*arguments)
            except (OperationalError, InterfaceError):
                if connection.in_atomic_block:
                    raise
                connection.close_if_unusable_or_obsolete()
        return method(*arguments)

    return tried  # type: ignore[return-value]


@dataclass(slots=True)
class _Mine:
    """A claimed call. Its reservation has lapsed where we were silent for longer than a lease:
    others may have it."""

    place: Place
    estimate: Estimate
    state: Literal["reserved", "sent", "lapsed"] = "reserved"


class DatabaseResponseCache:
    """``paying``: whose budgets pay. ``price``: the model's; where it is not known calls count in
    tokens alone. ``endpoint``: where answers come from, without a key."""

    def __init__(
        self, paying: Sequence[ChargedCall] = (), price: Price = NO_PRICE, endpoint: str = ""
    ) -> None:
        self.holder = token_hex(16)
        self.price = price
        self.endpoint = stored_text(endpoint, 300)
        self._paying = tuple(paying)
        self._mine: dict[CallKey, _Mine] = {}
        self._held_until = lease_end(clock.now())
        self._kept_at = time.monotonic()

    # --- claiming ---------------------------------------------------------------------------------

    def claim(self, calls: Wanted) -> Claimed:
        if not calls:
            return Claimed()
        requests = rows_of_requests(call.request for call, _ in calls)
        places = {
            call.key: (requests[call.request.key], call.sample, call.ask) for call, _ in calls
        }
        found = answers_at(places.values())
        claimed = Claimed(
            answered=[
                (call, found[places[call.key]]) for call, _ in calls if places[call.key] in found
            ]
        )
        wanted = [(call, estimate) for call, estimate in calls if places[call.key] not in found]
        if wanted:
            self._claim(wanted, places, claimed)
        return claimed

    @_again_where_in_the_way
    def _claim(self, wanted: Wanted, places: Places, claimed: Claimed) -> None:
        now, ledger = clock.now(), BudgetLedger(self._paying, self.holder)
        self._note_lapse(now)
        with transaction.atomic():
            ledger.lock()
            free, held = self._free(wanted, places, now)
            affordable, too_dear = ledger.affordable(free, now)
            won = self._won([places[call.key] for call, _ in affordable], now)
            mine = {
                call.key: (call, estimate)
                for call, estimate in affordable
                if places[call.key] in won
            }
            if mine:
                ledger.hold(
                    [*self._estimates("reserved"), *(one for _, one in mine.values())],
                    self._estimates("sent"),
                    now,
                )
        held += [call for call, _ in affordable if call.key not in mine]
        if too_dear and not self._mine and not mine:
            if not held and not claimed.answered:
                ledger.refuse_where_spent([estimate for _, estimate in too_dear])
            # Others' calls in flight hold the money: some of it comes back
            held += [call for call, _ in too_dear]
        if mine:
            self._held_until = lease_end(now)
        self._mine |= {key: _Mine(places[key], estimate) for key, (_, estimate) in mine.items()}
        claimed.mine.extend(call for call, _ in mine.values())
        claimed.held.extend(held)

    def _free(
        self, wanted: Wanted, places: Places, now: datetime
    ) -> tuple[list[tuple[Call, Estimate]], list[Call]]:
        """Those that nobody asks, each once; and the others."""
        taken = _taken([places[call.key] for call, _ in wanted], now)
        free: dict[CallKey, tuple[Call, Estimate]] = {}
        held = []
        for call, estimate in wanted:
            if places[call.key] in taken or call.key in self._mine or call.key in free:
                held.append(call)
            else:
                free[call.key] = (call, estimate)
        return list(free.values()), held

    def _won(self, places: Iterable[Place], now: datetime) -> set[Place]:
        """Of these places, those that are now ours: where no row was, and where a row's holder fell
        silent."""
        wanted = sorted(places)
        if not wanted:
            return set()
        held_by_us: dict[str, Any] = {"holder": self.holder, "lease_expires_at": lease_end(now)}
        StoredAnswer.objects.bulk_create(
            [
                StoredAnswer(
                    request_id=request, sample=sample, ask=ask, state=State.REQUESTED, **held_by_us
                )
                for request, sample, ask in wanted
            ],
            ignore_conflicts=True,
        )
        silent = rows_at(wanted).filter(has_ended(now), state=State.REQUESTED)
        # What another is just taking over is passed over, not waited for.
        left_behind = list(
            silent.select_for_update(skip_locked=True).order_by("pk").values_list("pk", flat=True)
        )
        if left_behind:
            still = StoredAnswer.objects.filter(
                has_ended(now), pk__in=left_behind, state=State.REQUESTED
            )
            still.update(**held_by_us)
        ours = rows_at(wanted).filter(holder=self.holder, state=State.REQUESTED)
        return set(ours.values_list("request_id", "sample", "ask"))

    # --- sending ----------------------------------------------------------------------------------

    @_again_where_in_the_way
    def mark_sent(self, calls: Sequence[Call]) -> list[Call]:
        now = clock.now()
        self._note_lapse(now)
        sendable = [
            call
            for call in calls
            if call.key in self._mine and self._mine[call.key].state != "lapsed"
        ]
        going = {call.key for call in sendable}
        waiting = [
            one.estimate
            for key, one in self._mine.items()
            if one.state == "reserved" and key not in going
        ]
        sent = [
            one.estimate for key, one in self._mine.items() if one.state == "sent" or key in going
        ]
        if sendable:
            BudgetLedger(self._paying, self.holder).hold(waiting, sent, now)
            self._held_until = lease_end(now)
            for key in going:
                self._mine[key].state = "sent"
        if len(sendable) < len(calls):
            self.release([call for call in calls if call.key not in going])
        return sendable

    def mark_unsent(self, calls: Sequence[Call]) -> None:
        """Written down with whatever is written next."""
        lapsed = clock.now() > self._held_until
        for call in calls:
            if call.key in self._mine:
                self._mine[call.key].state = "lapsed" if lapsed else "reserved"

    def _note_lapse(self, now: datetime) -> None:
        """Who was silent for longer than a lease has lost what was reserved: others may have taken
        call and money."""
        if now > self._held_until:
            for one in self._mine.values():
                if one.state == "reserved":
                    one.state = "lapsed"

    def _estimates(self, state: str, without: Container[CallKey] = ()) -> list[Estimate]:
        return [
            one.estimate
            for key, one in self._mine.items()
            if one.state == state and key not in without
        ]

    # --- putting down -----------------------------------------------------------------------------

    @_again_where_in_the_way
    def put(self, answers: Sequence[tuple[Call, Answer]]) -> None:
        """An answer is stored and paid for even where another took the call over because we were
        silent: it was sent. What is stored already is not written over."""
        if not answers:
            return
        now, ledger = clock.now(), BudgetLedger(self._paying, self.holder)
        self._note_lapse(now)
        places = self._positions_of([call for call, _ in answers])
        answer_of = {call.key: answer for call, answer in answers}
        bills = {
            call.key: charge_for(answer, self._estimate_of(call, answer.sent), self.price)
            for call, answer in answers
        }
        with transaction.atomic():
            ledger.lock()
            put_down(
                {
                    places[key]: self._row(places[key], answer, bills[key], now)
                    for key, answer in answer_of.items()
                }
            )
            ledger.pay(list(bills.values()))
            ledger.hold(self._estimates("reserved", bills), self._estimates("sent", bills), now)
        self._held_until = lease_end(now)
        self._forget(bills)
        global _paid_here
        _paid_here += len(bills)

    def _row(self, place: Place, answer: Answer, bill: Bill, now: datetime) -> StoredAnswer:
        request, sample, ask = place
        return StoredAnswer(
            request_id=request,
            sample=sample,
            ask=ask,
            endpoint=self.endpoint,
            cost=bill.cost,
            answered_at=now,
            **fields_of(answer),
        )

    def _positions_of(self, calls: Iterable[Call]) -> Places:
        known: Places = {}
        others = []
        for call in calls:
            if call.key in self._mine:
                known[call.key] = self._mine[call.key].place
            else:
                others.append(call)
        if others:
            rows = rows_of_requests(call.request for call in others)
            known |= {call.key: (rows[call.request.key], call.sample, call.ask) for call in others}
        return known

    def _estimate_of(self, call: Call, sent: Dialect) -> Estimate:
        if call.key in self._mine:
            return self._mine[call.key].estimate
        return costs.estimate(call, self.price, sent)

    def _forget(self, keys: Iterable[CallKey]) -> None:
        for key in keys:
            self._mine.pop(key, None)

    # --- holding on, and letting go ---------------------------------------------------------------

    @_again_where_in_the_way
    def release(self, calls: Sequence[Call]) -> None:
        gone = {call.key: self._mine[call.key] for call in calls if call.key in self._mine}
        if not gone:
            return
        now, ledger = clock.now(), BudgetLedger(self._paying, self.holder)
        self._note_lapse(now)
        with transaction.atomic():
            ledger.lock()
            self._delete({one.place for one in gone.values()})
            ledger.leave_unsettled(one.estimate for one in gone.values() if one.state == "sent")
            ledger.hold(self._estimates("reserved", gone), self._estimates("sent", gone), now)
        self._held_until = lease_end(now)
        self._forget(gone)

    def _delete(self, places: set[Place]) -> None:
        rows = rows_at(places).filter(holder=self.holder, state=State.REQUESTED)
        there = rows.values_list("pk", "request_id", "sample", "ask")
        StoredAnswer.objects.filter(
            pk__in=[pk for pk, *place in there if tuple(place) in places],
            holder=self.holder,
            state=State.REQUESTED,
        ).delete()

    def renew_in_time(self) -> None:
        """Where leases are so short that whoever asks does not keep them often enough."""
        if time.monotonic() - self._kept_at > settings.LEASE_SECONDS / 3:
            self.keep()

    @_again_where_in_the_way
    def keep(self) -> None:
        self._kept_at = time.monotonic()
        if not self._mine:
            return
        now = clock.now()
        self._note_lapse(now)
        with transaction.atomic():
            if now <= self._held_until:
                BudgetLedger(self._paying, self.holder).keep(now)
            StoredAnswer.objects.filter(holder=self.holder, state=State.REQUESTED).update(
                lease_expires_at=lease_end(now)
            )
        if now <= self._held_until:
            self._held_until = lease_end(now)

    @_again_where_in_the_way
    def close(self) -> None:
        now, ledger = clock.now(), BudgetLedger(self._paying, self.holder)
        with transaction.atomic():
            ledger.lock()
            ledger.leave_unsettled(self._estimates("sent"))
            ledger.give_back(now)
            StoredAnswer.objects.filter(holder=self.holder, state=State.REQUESTED).delete()
        self._mine.clear()


def _taken(places: Sequence[Place], now: datetime) -> set[Place]:
    """Those that somebody is asking, or that have their answer by now."""
    rows = rows_at(places).exclude(has_ended(now), state=State.REQUESTED)
    return set(rows.values_list("request_id", "sample", "ask"))
