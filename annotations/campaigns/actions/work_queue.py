"""The rater queue: what a rater has, that is claimed, kept, given back, skipped, rated. Every write
of the rating page.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from annotations.campaigns.actions import leases
from annotations.campaigns.actions.allocation import run_interim_analysis_if_due
from annotations.campaigns.actions.claims import (
    claim_adjudication,
    claim_check,
    claim_regular,
    more_may_come,
    why_budget_ends,
)
from annotations.campaigns.actions.membership import join
from annotations.campaigns.actions.qualification import settle, settle_if_all_done, training_left
from annotations.campaigns.actions.rating import rate, store
from annotations.campaigns.actions.terms import (
    CannotJoin,
    ItemTaken,
    Judgement,
    NotHanded,
    RatingsClosed,
    Stored,
    WhyEmpty,
    WorkQueue,
)
from annotations.campaigns.models import Assignment, Item, Participation, Slot
from annotations.campaigns.plan.draw import RECENT_ITEMS
from common import clock

__all__ = [
    "HELD_AT_ONCE",
    "CannotJoin",
    "ItemTaken",
    "Judgement",
    "NotHanded",
    "RatingsClosed",
    "Stored",
    "WorkQueue",
    "fill_queue",
    "give_back",
    "give_back_everything",
    "join",
    "rate",
    "rate_and_refill",
    "renew",
    "skip",
]

log = logging.getLogger(__name__)

HELD_AT_ONCE = 2
"""The item on the page, and the next one, already loaded."""

State = Assignment.State
Qualification = Participation.Qualification


def fill_queue(participation: Participation, want: int = HELD_AT_ONCE) -> WorkQueue:
    """Renew what is in hand and claim more up to ``want`` items: training first, then regular and
    attention items.

    Where the campaign hands out nothing, what is in hand may be finished while its lease lives, and
    is not renewed.
    """
    now = clock.now()
    with transaction.atomic():
        rater = leases.locked(participation)
        work_queue = _filled(rater, leases.assigned_and_latest(rater, RECENT_ITEMS), want, now)
    leases.tell(participation, rater)
    run_interim_analysis_if_due(rater.campaign)
    return work_queue


def rate_and_refill(
    participation: Participation, public_id: str, judgement: Judgement, want: int = HELD_AT_ONCE
) -> tuple[Stored, WorkQueue]:
    """``rate`` and then ``fill_queue``, under one lock and with one commit: what a rater waits for
    after each item.

    ``participation`` is as this request has read it, with its campaign. Whatever goes wrong with
    the next item, the rating is stored: then the desk is filled anew, by itself. Raises what
    ``rate`` raises, with nothing stored, and what ``fill_queue`` raises, with the rating stored.
    """
    now = clock.now()
    work_queue = None
    with transaction.atomic():
        rater = leases.locked(participation, participation.campaign)
        latest = leases.assigned_and_latest(rater, RECENT_ITEMS)
        stored = store(rater, public_id, judgement, now, latest)
        try:
            with transaction.atomic():  # a savepoint
                work_queue = _filled(rater, latest, want, now)
        except Exception:
            log.exception("the next item could not be handed to %s with the rating", rater)
            rater.save(update_fields=["rated"])
    if work_queue is None:
        return stored, fill_queue(participation, want)
    leases.tell(participation, rater)
    run_interim_analysis_if_due(rater.campaign)
    return stored, work_queue


def _filled(rater: Participation, latest: list[Assignment], want: int, now: datetime) -> WorkQueue:
    """``latest``: what the rater holds and was given last; what is claimed is added. The rater's
    row is saved."""
    leases.return_expired(besides=rater, now=now)
    held: list[Assignment] = []
    why: WhyEmpty = "excluded"
    if rater.takes_part:
        if latest:
            rater.offered = max(rater.offered, latest[-1].position + 1)
        held = [assignment for assignment in latest if assignment.state == State.LEASED]
        if why := leases.why_nothing_is_handed_out(rater.campaign, now):
            expired = [assignment.pk for assignment in held if assignment.lease_expires_at <= now]
            if expired:
                leases.put_back(expired)
            held = [assignment for assignment in held if assignment.pk not in expired]
        else:
            _keep(held, now)
            why = _claim_up_to(want, rater, held, latest, now)
    rater.seen_at = now
    rater.save(update_fields=["offered", "rated", "cursor", "qualification", "seen_at"])
    return WorkQueue(tuple(held), "" if held else why)


def _keep(held: list[Assignment], now: datetime) -> None:
    """Only leases of which a quarter is over are written: an item is mostly rated long before."""
    end = leases.lease_end(now)
    old = [
        one
        for one in held
        if one.lease_expires_at < end - timedelta(seconds=settings.RATING_LEASE_SECONDS / 4)
    ]
    if old:
        Assignment.objects.filter(pk__in=[one.pk for one in old]).update(lease_expires_at=end)
    for assignment in old:
        assignment.lease_expires_at = end


def _claim_up_to(
    want: int, rater: Participation, held: list[Assignment], latest: list[Assignment], now: datetime
) -> WhyEmpty:
    """Add items to ``held``; where none could be added, the reason."""
    if rater.qualification == Qualification.OPEN:
        to_give, all_done = training_left(rater)
        if not all_done:
            held += [
                claim_check(rater, *one, now=now) for one in to_give[: max(want - len(held), 0)]
            ]
            return ""
        settle(rater)
    if rater.qualification == Qualification.FAILED:
        return "failed"
    while len(held) < want:
        claimed, why = _claim_next(rater, latest, now)
        if claimed is None:
            return why
        held.append(claimed)
        latest.append(claimed)
    return ""


def _claim_next(
    rater: Participation, latest: list[Assignment], now: datetime
) -> tuple[Assignment | None, WhyEmpty]:
    """A regular item; where there is none, one whose raters differ, to be decided; else why."""
    claimed, why = None, why_budget_ends(rater)
    if rater.campaign.has_enough:
        why = "finished"
    elif not why:
        why, claimed = "finished", claim_regular(rater, latest, now)
        if claimed is None and more_may_come(rater):
            # What others gave back between the two looks
            why, claimed = "wait", claim_regular(rater, latest, now)
    return claimed or claim_adjudication(rater, now), why


def renew(participation: Participation) -> datetime | None:
    """The heartbeat: until when the items in hand are now kept; None where there are none.

    Where the campaign hands out nothing the leases run on, but are not renewed.
    """
    now = clock.now()
    with transaction.atomic():
        rater = leases.locked(participation)
        own = Assignment.objects.filter(participation=rater, state=State.LEASED)
        if rater.takes_part and not leases.why_nothing_is_handed_out(rater.campaign, now):
            own.update(lease_expires_at=leases.lease_end(now))
        Participation.objects.filter(pk=rater.pk).update(seen_at=now)
        ends = own.filter(lease_expires_at__gt=now).order_by("lease_expires_at")
        return ends.values_list("lease_expires_at", flat=True).first()


def give_back(participation: Participation) -> int:
    """Free the slots of what is in hand and not rated; the rater may get the items again."""
    with transaction.atomic():
        rater = leases.locked(participation)
        held = Assignment.objects.filter(participation=rater, state=State.LEASED)
        return leases.put_back(held.order_by().values_list("pk", flat=True))


def give_back_everything(user: Any) -> int:
    """Of all campaigns: the person logs out."""
    holding = (
        Participation.objects.filter(user=user, assignments__state=State.LEASED)
        .order_by("pk")
        .distinct()
    )
    return sum(give_back(participation) for participation in holding)


def skip(participation: Participation, public_id: str, reason: str) -> None:
    """Free the slot; this rater never gets the item again. Raises ``NotHanded``; an item already
    rated stays rated.

    A skipped training item counts as not right. Raises ``ValueError`` for a reason that is empty or
    too long.
    """
    why = reason.strip()
    if not why or len(why) > Assignment._meta.get_field("skip_reason").max_length or "\x00" in why:
        raise ValueError("a skipped item needs a reason of 1 to 500 characters")
    with transaction.atomic():
        rater = leases.locked(participation)
        assignment = (
            Assignment.objects.filter(participation=rater, item__public_id=public_id)
            .select_related("item")
            .order_by("pk")
            .first()
        )
        if assignment is None:
            raise NotHanded(f"no item {public_id} was given to {rater}")
        if assignment.state in (State.DONE, State.SKIPPED):
            return
        Slot.objects.filter(holder=assignment).update(holder=None)
        assignment.state, assignment.skip_reason = State.SKIPPED, why
        assignment.lease_expires_at, assignment.finished_at = None, clock.now()
        assignment.save(update_fields=["state", "skip_reason", "lease_expires_at", "finished_at"])
        if assignment.item.role == Item.Role.TRAINING:
            settle_if_all_done(rater)
    leases.tell(participation, rater)
