"""What raters hold. Every change of it is made under the lock of the rater's own row.

So a rater's tabs, double clicks and retries take turns, and whoever takes something away from a
rater (the sweep of expired leases, an exclusion) meets no half-done submit. A transaction waits for
the lock of one rater only, its own, and skips rows that others have locked: nobody waits in a
circle.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotations.campaigns.actions.terms import WhyEmpty
from annotations.campaigns.models import Assignment, Campaign, Conflict, Participation, Slot
from common import clock
from common.database import CompiledQuery, Given

RATERS_AT_ONCE = 20
LONGEST_LEASE = timedelta(hours=1)
"""A longer one was written before a clock was set back: nobody would be given the item till
then."""
State = Assignment.State

_LOCKED_ROW = CompiledQuery(
    # In no order: the model's own would join the campaign, and lock it, too
    lambda: Participation.objects.select_for_update(no_key=True).filter(pk=Given("pk")).order_by()
)
_OWN = Q(participation=Given("rater"))
_HELD_AND_LATEST = CompiledQuery(
    lambda: (
        # Each half has an index of its own
        Assignment.objects.filter(
            (_OWN & Q(state=State.LEASED)) | (_OWN & Q(position__gte=Given("position")))
        )
        .select_related("item")
        .annotate(slot_held=F("slot__pk"))
        .order_by("position")
    )
)


def locked(participation: Participation, campaign: Campaign | None = None) -> Participation:
    """The rater's row as it is now, with its campaign, locked until the transaction ends.

    ``campaign``: where this very request has read it. It is not locked, so reading it again would
    be no safer. Of a campaign with a budget it is, and first, as in ``quality``: whether something
    is left is looked up, and used up, by one rater after the other.
    """
    budgeted = campaign or participation.campaign
    if budgeted.budget is not None:
        row = Campaign.objects.select_for_update(no_key=True).filter(pk=budgeted.pk)
        list(row.values_list("pk"))
    if campaign is None:
        rows = Participation.objects.select_for_update(no_key=True, of=("self",)).select_related(
            "campaign"
        )
        return rows.get(pk=participation.pk)
    rater = _LOCKED_ROW.first(pk=participation.pk)
    if rater is None:
        raise Participation.DoesNotExist
    rater.campaign = campaign
    return rater


def tell(participation: Participation, now_stored: Participation) -> None:
    """The caller's object learns what the locked row says."""
    for name in ("state", "removed_at", "qualification", "offered", "rated", "cursor", "seen_at"):
        setattr(participation, name, getattr(now_stored, name))


def why_nothing_is_handed_out(campaign: Campaign, now: datetime) -> WhyEmpty:
    """Empty while the campaign hands out items, else the reason in a word."""
    if campaign.state == Campaign.State.CLOSED or (
        campaign.closes_at is not None and campaign.closes_at <= now
    ):
        return "closed"
    if campaign.state == Campaign.State.PAUSED:
        return "paused"
    return "" if campaign.assigns_items(now) else "not_open"


def budget_left(campaign: Campaign) -> int | None:
    """How many more comparisons may be handed out: what raters have in hand is taken. None without
    a budget. It stays so while the campaign's row is locked."""
    if campaign.budget is None:
        return None
    taken = Slot.objects.filter(campaign=campaign, holder__isnull=False).count()
    return max(0, campaign.budget - taken)


def conflicting(rater: Participation, item: str = "") -> Exists:
    """Whether the rater has a stake in a system of the item that the prefix ``item`` of fields
    leads to."""
    is_of_lists = rater.campaign.kind == Campaign.Kind.SYSTEMS
    return conflicting_with(rater.user_id, rater.campaign_id if is_of_lists else None, item)


def conflicting_with(
    user: int | Given, list_campaign: int | Given | None, item: str = ""
) -> Exists:
    """``list_campaign``: of lists, where each item holds all systems of its campaign."""
    if list_campaign is not None:
        own = Q(system__campaigns=list_campaign)
    else:
        own = Q(system=OuterRef(f"{item}system")) | Q(system=OuterRef(f"{item}system_b"))
    return Exists(Conflict.objects.filter(own, user=user))


def lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.RATING_LEASE_SECONDS)


def put_back(assignments: Iterable[int]) -> int:
    """Free the slots of assignments in hand; their raters, whose rows are locked, may be given the
    items again."""
    pks = list(assignments)
    Slot.objects.filter(holder__in=pks).update(holder=None)
    return Assignment.objects.filter(pk__in=pks, state=State.LEASED).update(
        state=State.RETURNED, lease_expires_at=None
    )


def return_expired(besides: Participation | None = None, now: datetime | None = None) -> int:
    """Free what raters fell silent on, in any campaign. One look at a small index where there is
    nothing to do.

    A rater whose row is locked is doing something at this moment, so not silent: passed over.
    ``besides`` is the rater who asks, whose own items nobody has taken meanwhile: they are renewed
    instead. Call it in a transaction.
    """
    moment = now or clock.now()
    longest = moment + max(LONGEST_LEASE, timedelta(seconds=2 * settings.RATING_LEASE_SECONDS))
    silent = _SILENT_RATERS.tuples(
        now=moment, longest=longest, besides=0 if besides is None else besides.pk
    )
    if not silent:
        return 0
    ours = list(
        Participation.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(pk__in={pk for (pk,) in silent})
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    expired = _expired(moment, longest).filter(participation__in=ours)
    return put_back(expired.order_by().values_list("pk", flat=True))


def _expired(now: datetime | Given, longest: datetime | Given) -> QuerySet[Assignment]:
    has_ended = Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=longest)
    return Assignment.objects.filter(has_ended, state=State.LEASED)


_SILENT_RATERS = CompiledQuery(
    lambda: (
        _expired(Given("now"), Given("longest"))
        .exclude(participation=Given("besides"))
        .order_by("lease_expires_at")
        .values_list("participation_id")[:RATERS_AT_ONCE]
    )
)


def assigned_and_latest(rater: Participation, latest: int) -> list[Assignment]:
    """In the order of work: what the rater holds, and the ``latest`` items given, whatever became
    of them.

    Each with ``slot_held``, the slot that it holds, if any.
    """
    return _HELD_AND_LATEST.rows(rater=rater.pk, position=rater.offered - latest)
