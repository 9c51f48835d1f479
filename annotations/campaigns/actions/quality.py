"""Whose ratings count, and who takes part: raters excluded, removed and taken back, and stakes in
systems. No rating is ever deleted.

Each step locks the campaign's row first and raters then, as the deletion of a campaign does: the
other way round the two could wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotations import audit
from annotations.campaigns.actions import leases
from annotations.campaigns.actions.collection import OPEN_STATES
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conflict,
    Item,
    Participation,
    Room,
    Slot,
)
from annotations.models import System
from common.text import text_fault

LONGEST_REASON = 500
ROWS_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Restored:
    """How many of a rater's ratings count again, and how many do not because others have filled the
    items' places or used the budget."""

    counted: int
    full: int


def exclude(participation: Participation, reason: str, by: Any = None) -> int:
    """The rater gets nothing more and none of the rater's ratings counts; their places are free for
    others at once.

    Returns how many ratings no longer count. Excluding again only changes the reason. Raises
    ``ValueError`` for a reason that is empty or too long.
    """
    reason = reason.strip()
    if fault := text_fault(reason, LONGEST_REASON):
        raise ValueError(f"the reason {fault}")
    with transaction.atomic():
        _lock_campaigns([participation.campaign_id])
        rater = leases.locked(participation)
        if rater.state == Participation.State.EXCLUDED:
            Participation.objects.filter(pk=rater.pk).update(exclusion_reason=reason)
            _note(by, "rater.excluded", rater, reason=reason, again=True)
            return 0
        Participation.objects.filter(pk=rater.pk).update(
            state=Participation.State.EXCLUDED, exclusion_reason=reason, excluded_at=timezone.now()
        )
        _end_meetings(rater)
        freed = _free_slots(rater.campaign_id, Assignment.objects.filter(participation=rater))
        _note(by, "rater.excluded", rater, reason=reason, ratings_no_longer_counted=freed)
        return freed


def remove(participation: Participation, reason: str, keeps_ratings: bool, by: Any = None) -> int:
    """The person has no access to the campaign any more, and no link lets this person in again.
    What is in hand goes back, so that its places are free; an open chat ends for the partner, too.

    With ``keeps_ratings`` what is rated counts as before; else the rater is excluded, too. Either
    way it stays stored under the rater's pseudonym. Returns how many ratings no longer count.
    Raises ``ValueError`` as ``exclude``.
    """
    reason = reason.strip()
    if fault := text_fault(reason, LONGEST_REASON):
        raise ValueError(f"the reason {fault}")
    with transaction.atomic():
        _lock_campaigns([participation.campaign_id])
        freed = 0 if keeps_ratings else exclude(participation, reason, by)
        rater = leases.locked(participation)
        if rater.removed_at is not None:
            return freed
        Participation.objects.filter(pk=rater.pk).update(removed_at=timezone.now())
        _end_meetings(rater)
        held = Assignment.objects.filter(participation=rater, state=Assignment.State.LEASED)
        leases.put_back(held.order_by().values_list("pk", flat=True))
        _note(
            by,
            "rater.removed",
            rater,
            reason=reason,
            ratings_count=rater.state == Participation.State.ACTIVE,
        )
        return freed


def restore(participation: Participation, by: Any = None) -> Restored:
    """The rater has access and may work again, and every rating counts again for which the item
    still has a free place."""
    with transaction.atomic():
        _lock_campaigns([participation.campaign_id])
        rater = leases.locked(participation)
        if rater.takes_part:
            return Restored(0, 0)
        was_excluded = rater.state == Participation.State.EXCLUDED
        Participation.objects.filter(pk=rater.pk).update(
            state=Participation.State.ACTIVE, exclusion_reason="", excluded_at=None, removed_at=None
        )
        if not was_excluded:
            _note(by, "rater.restored", rater, ratings_counted_again=0, places_taken_by_others=0)
            return Restored(0, 0)
        conflicts_of_interest = Conflict.objects.filter(user=rater.user_id).values_list(
            "system_id", flat=True
        )
        restored = _release_slots(
            rater.campaign_id,
            Assignment.objects.filter(participation=rater)
            .exclude(item__system__in=list(conflicts_of_interest))
            .exclude(item__system_b__in=list(conflicts_of_interest))
            .exclude(item__campaign__in=_lists_with(conflicts_of_interest)),
        )
        _note(
            by,
            "rater.restored",
            rater,
            ratings_counted_again=restored.counted,
            places_taken_by_others=restored.full,
        )
        return restored


def declare_conflict(user: Any, system: System, by: Any = None) -> int:
    """The person has a stake in the system: from now on it is never given to this person, in any
    campaign, and ratings of it that this person has made no longer count. Returns how many."""
    with transaction.atomic():
        _conflict, is_new = Conflict.objects.get_or_create(user=user, system=system)
        freed = sum(
            _free_slots(
                rater.campaign_id,
                _assignments_with(rater, system),
            )
            for rater in _participations_with(user, system)
        )
        if is_new or freed:
            _note_conflict(by, "conflict.declared", user, system, ratings_no_longer_counted=freed)
        return freed


def withdraw_conflict(user: Any, system: System, by: Any = None) -> Restored:
    """It was a mistake: ratings of the system count again where their items still have free
    places."""
    with transaction.atomic():
        if not Conflict.objects.filter(user=user, system=system).delete()[0]:
            return Restored(0, 0)
        taken = [
            _release_slots(
                rater.campaign_id,
                _assignments_with(rater, system),
            )
            for rater in _participations_with(user, system)
            if rater.state == Participation.State.ACTIVE
        ]
        restored = Restored(sum(one.counted for one in taken), sum(one.full for one in taken))
        _note_conflict(
            by, "conflict.withdrawn", user, system, ratings_counted_again=restored.counted
        )
    return restored


def _assignments_with(rater: Participation, system: System) -> QuerySet[Assignment]:
    """Those in which the rater judges the system, alone or beside another."""
    shown = Q(item__system=system) | Q(item__system_b=system)
    shown |= Q(item__campaign__in=_lists_with([system.pk]))
    return Assignment.objects.filter(shown, participation=rater)


def _lists_with(systems: Iterable[int]) -> QuerySet[Campaign]:
    """Campaigns whose every item holds one of these systems."""
    return Campaign.objects.filter(kind=Campaign.Kind.SYSTEMS, systems__in=list(systems))


def _note(by: Any, done: str, rater: Participation, **details: Any) -> None:
    account = "" if rater.user is None else rater.user.get_username()
    audit.record(
        by, done, rater.pseudonym, campaign=rater.campaign.slug, account=account, **details
    )


def _note_conflict(by: Any, done: str, user: Any, system: System, **details: Any) -> None:
    audit.record(
        by, done, user.get_username(), system=system.name, corpus=str(system.version), **details
    )


def _participations_with(user: Any, system: System) -> list[Participation]:
    """Locked in the order of their keys, as everywhere."""
    of_version = Participation.objects.filter(user=user, campaign__version=system.version_id)
    _lock_campaigns(of_version.order_by().values_list("campaign", flat=True))
    return list(of_version.select_for_update(no_key=True, of=("self",)).order_by("pk"))


def _end_meetings(rater: Participation) -> None:
    """The partner must not wait for somebody who may not write any more. Finished dialogues stay
    finished."""
    meetings = Room.objects.filter(Q(rater_a=rater) | Q(rater_b=rater), state__in=OPEN_STATES)
    meetings.update(
        state=Room.State.ABANDONED,
        finished_at=timezone.now(),
        end_reason="a rater was excluded or removed from the campaign",
    )


def _free_slots(campaign_id: int, assignments: QuerySet[Assignment]) -> int:
    """What is rated stays rated but holds no place; what is in hand goes back."""
    done = assignments.filter(state=Assignment.State.DONE, slot__isnull=False).count()
    Slot.objects.filter(holder__in=assignments).update(holder=None)
    assignments.filter(state=Assignment.State.LEASED).update(
        state=Assignment.State.RETURNED, lease_expires_at=None
    )
    _statistics_changed(campaign_id)
    return done


def _release_slots(campaign_id: int, assignments: QuerySet[Assignment]) -> Restored:
    waiting = dict(
        assignments.filter(
            state=Assignment.State.DONE,
            slot__isnull=True,
            item__role=Item.Role.REGULAR,
            adjudicates=False,
        ).values_list("item_id", "pk")
    )
    taken: list[int] = []
    left = leases.budget_left(Campaign._base_manager.get(pk=campaign_id))
    for items in _portions(sorted(waiting)):
        free = (
            Slot.objects.select_for_update()
            .filter(item__in=items, holder__isnull=True)
            .order_by("pk")
        )
        first_free = {slot.item_id: slot for slot in reversed(free)}
        within = islice(first_free.values(), None if left is None else left - len(taken))
        given = list(within)
        for slot in given:
            slot.holder_id = waiting[slot.item_id]
        Slot.objects.bulk_update(given, ["holder"])
        taken += [slot.item_id for slot in given]
    _statistics_changed(campaign_id)
    return Restored(len(taken), len(waiting) - len(taken))


def _portions(items: list[int]) -> Iterable[list[int]]:
    return (items[start : start + ROWS_AT_A_TIME] for start in range(0, len(items), ROWS_AT_A_TIME))


def _lock_campaigns(campaigns: Iterable[int]) -> None:
    locked = (
        Campaign.objects.select_for_update(no_key=True)
        .filter(pk__in=list(campaigns))
        .order_by("pk")
    )
    list(locked.values_list("pk"))


def _statistics_changed(campaign_id: int) -> None:
    Campaign.objects.filter(pk=campaign_id).update(changes=F("changes") + 1)
