"""Giving a rater the next item: training, then a free slot drawn from those next in the campaign's
order.

The search reads free slots in order, from where this rater's last search found one, a bounded
number at a time, each with the rater's own row of its item, if any: it reads no more when the
campaign is larger or the rater has done more. Slots passed over were held by others or of items
already judged, so the search need not come by again before it has gone all the way round; what
others give back behind it is met then.

Where ratings are spread adaptively a wider window is read, once, and it moves on with each draw:
the slots of systems that are asked about less stay behind, and would soon be all that a window at
rest holds. They are met the next time round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet

from annotations.campaigns.actions.leases import (
    budget_left,
    conflicting,
    conflicting_with,
    lease_end,
)
from annotations.campaigns.actions.terms import WhyEmpty
from annotations.campaigns.models import Assignment, Campaign, Item, Participation, Slot
from annotations.campaigns.plan.draw import (
    Candidate,
    Drawn,
    Systems,
    attention_is_due,
    avoided_dialogues,
    draw,
    draw_by_system,
    pick,
    shows_second_first,
)
from annotations.campaigns.plan.lists import shown_order
from annotations.campaigns.queries.adjudication import items_to_adjudicate
from annotations.campaigns.queries.allocation import weights_now
from annotations.models import Response
from common.database import CompiledQuery, Given

FIRST_READ, MOST_READ = 64, 4096
"""Free slots read at first, and at most at a time: each read is twice the one before."""
ENOUGH = 16
"""A slot is drawn from at least so many, where the next reads find them."""
FIRST_ADAPTIVE_READ, ENOUGH_ADAPTIVE = 128, 32
"""The same where ratings are spread adaptively: as many systems as may be are to be in the
window."""
FIRST_PAIRED_READ, ENOUGH_PAIRED = 512, 128
"""Of pairs: there are S (S − 1) / 2 of them."""

State = Assignment.State

FreeSlot = tuple[int, int, int, int, int | None, int | None, bool, int | None, str | None]
"""Slot, item, dialogue, ordinal, system, second system, whether the rater has a conflict of
interest, the rater's own row of the item and its state."""


@dataclass(slots=True)
class Window:
    """The next free slots that the rater may be given, in the order of the search."""

    candidates: list[Candidate] = field(default_factory=list)
    given_back: dict[int, int] = field(default_factory=dict)
    """Item → the rater's own row of it, where the rater had it before."""


def claim_regular(
    rater: Participation, latest: list[Assignment], now: datetime
) -> Assignment | None:
    """A slot for the rater, or None where no free slot is of an item that the rater may be given.

    With probability 1 / ``attention_every`` it is an attention item instead, never before a regular
    one, and only while there are regular ones left: the last item is no check. Their propensity is
    None: they are not drawn from the slots.
    """
    window = _window(rater)
    if not window.candidates:
        return None
    rater.cursor = window.candidates[0].ordinal
    seen = [assignment.item.dialogue_id for assignment in reversed(latest)]
    if (
        check := _attention_item(rater, latest, avoided_dialogues(window.candidates, seen))
    ) is not None:
        return _lease_check(rater, *check, now=now)
    adaptive = _is_adaptive(rater)
    weights = weights_now(rater.campaign) if adaptive else {}
    while window.candidates:
        drawn = _drawn(window.candidates, seen, weights if adaptive else None, rater)
        slot = _free_and_locked(drawn.candidate.slot)
        if slot is not None:
            given_back = window.given_back.get(slot.item_id)
            assignment = _lease(
                rater,
                slot.item,
                given_back,
                propensity=drawn.propensity,
                system_propensity=drawn.system_propensity,
                is_swapped=slot.is_swapped,
                shown=_order(rater, slot),
                now=now,
            )
            if adaptive:
                rater.cursor = drawn.candidate.ordinal
            Slot.objects.filter(pk=slot.pk).update(holder=assignment)
            return assignment
        window.candidates.remove(drawn.candidate)  # somebody was faster
    return None


def claim_adjudication(rater: Participation, now: datetime) -> Assignment | None:
    """An item whose raters differ, for this further rater to decide: where the campaign's rule says
    so. It is shown as any other, without what they answered."""
    rule = getattr(rater.campaign, "adjudication_rule", None)
    if rule is None or not rule.by_raters:
        return None
    found = items_to_adjudicate(rater)
    if not found:
        return None
    shown = ("dialogue", "turn", "response", "response_b")
    item = Item.objects.select_related(*shown).get(pk=pick(found, rater.seed, rater.offered))
    given_back = Assignment.objects.filter(participation=rater, item=item).first()
    try:
        with transaction.atomic():
            return _lease(
                rater,
                item,
                given_back.pk if given_back else None,
                propensity=None,
                is_swapped=shows_second_first(rater.seed, rater.offered)
                if rater.campaign.is_of_pairs
                else None,
                adjudicates=True,
                now=now,
            )
    except IntegrityError:  # another rater was faster
        return None


def _order(rater: Participation, slot: Slot) -> list[int]:
    """Of a list: in which order its rater sees the responses."""
    if rater.campaign.kind != Campaign.Kind.SYSTEMS:
        return []
    responses = Response.objects.filter(turn=slot.item.turn_id, system__campaigns=rater.campaign_id)
    keys = responses.values_list("pk", flat=True)
    return shown_order(list(keys), slot.item_id, slot.place, rater.campaign.seed)


def _is_adaptive(rater: Participation) -> bool:
    return rater.campaign.allocation == Campaign.Allocation.ADAPTIVE


def _drawn(
    candidates: list[Candidate],
    seen: list[int],
    weights: dict[Systems, float] | None,
    rater: Participation,
) -> Drawn:
    if weights is None:
        return draw(candidates, seen, rater.seed, rater.offered)
    return draw_by_system(candidates, seen, weights, rater.seed, rater.offered)


def claim_check(
    rater: Participation, item: Item, given_back: Assignment | None, now: datetime
) -> Assignment:
    """A training item: every rater's, so without a slot."""
    return _lease_check(rater, item, given_back.pk if given_back else None, now)


def _lease_check(
    rater: Participation, item: Item, given_back: int | None, now: datetime
) -> Assignment:
    """Texts that are compared come in an order of this rater's own, as regular items do."""
    campaign = rater.campaign
    order: dict[str, Any] = {}
    if campaign.is_of_pairs:
        order["is_swapped"] = shows_second_first(rater.seed, rater.offered)
    elif campaign.compares:
        places = range(len(item.texts))
        order["shown"] = shown_order(places, item.pk, rater.position + 1, campaign.seed)
    return _lease(rater, item, given_back, propensity=None, now=now, **order)


def more_may_come(rater: Participation) -> bool:
    """Whether an item that this rater could be given is free, or in the hands of others, who may
    give it back.

    One statement, so one look: an item that changes hands at this moment is seen on one side or the
    other.
    """
    held = Assignment.objects.filter(
        participation__campaign=rater.campaign_id, state=State.LEASED, item__role=Item.Role.REGULAR
    ).exclude(participation=rater)
    free = Slot.objects.filter(campaign=rater.campaign_id, holder__isnull=True)
    own = Assignment.objects.filter(participation=rater, item=OuterRef("item")).exclude(
        state=State.RETURNED
    )

    def some_of(rows: QuerySet[Assignment] | QuerySet[Slot]) -> Exists:
        return Exists(rows.exclude(Exists(own)).exclude(conflicting(rater, "item__")))

    return Campaign.objects.filter(some_of(held) | some_of(free), pk=rater.campaign_id).exists()


def why_budget_ends(rater: Participation) -> WhyEmpty:
    """Empty while the campaign's budget has a comparison left; what others have in hand is taken,
    unless they give it back."""
    if budget_left(rater.campaign) != 0:
        return ""
    in_hand = Slot.objects.filter(campaign=rater.campaign, holder__state=State.LEASED)
    return "wait" if in_hand.exclude(holder__participation=rater).exists() else "finished"


def _window(rater: Participation) -> Window:
    window = Window()
    first_read, enough = FIRST_READ, ENOUGH
    if _is_adaptive(rater):
        first_read, enough = FIRST_ADAPTIVE_READ, ENOUGH_ADAPTIVE
        if rater.campaign.is_of_pairs:
            first_read, enough = FIRST_PAIRED_READ, ENOUGH_PAIRED
    for read, rows in enumerate(_free_slots_from(rater, first_read)):
        for slot, item, dialogue, ordinal, one, other, conflicts, pk, state in rows:
            if conflicts or state not in (None, State.RETURNED):
                continue
            systems = one if one is None or other is None else (one, other)
            window.candidates.append(Candidate(slot, item, dialogue, ordinal, systems))
            if pk is not None:
                window.given_back[item] = pk
        if len(window.candidates) >= enough or (window.candidates and read):
            break
    return window


def _free_slots_from(rater: Participation, size: int) -> Iterator[list[FreeSlot]]:
    """Free slots once round from the cursor, more and more at a time."""
    is_of_lists = rater.campaign.kind == Campaign.Kind.SYSTEMS
    for begin, end in ((rater.cursor, None), (0, rater.cursor)):
        following = begin
        while rows := _free_slots(is_of_lists, end is not None, size).tuples(
            campaign=rater.campaign_id,
            rater=rater.pk,
            user=rater.user_id,
            begin=following,
            end=end,
        ):
            yield rows
            if len(rows) < size:
                break
            following, size = rows[-1][3] + 1, min(2 * size, MOST_READ)


@cache
def _free_slots(is_of_lists: bool, has_end: bool, size: int) -> CompiledQuery[Slot]:
    """A query for each of the few sizes of a read."""

    def free() -> QuerySet[Any]:
        own = Q(item__assignments__participation=Given("rater"))
        has_conflict = conflicting_with(
            Given("user"), Given("campaign") if is_of_lists else None, "item__"
        )
        until = Q(ordinal__lt=Given("end")) if has_end else Q()
        return (
            Slot.objects.filter(
                until, campaign=Given("campaign"), holder__isnull=True, ordinal__gte=Given("begin")
            )
            .annotate(
                own=FilteredRelation("item__assignments", condition=own), has_conflict=has_conflict
            )
            .order_by("ordinal")
            .values_list(
                *("pk", "item_id", "item__dialogue_id", "ordinal"),
                *("item__system_id", "item__system_b_id", "has_conflict", "own__pk", "own__state"),
            )[:size]
        )

    return CompiledQuery(free)


_FREE_SLOT = CompiledQuery(
    lambda: (
        Slot.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(pk=Given("pk"), holder__isnull=True)
        .select_related("item__dialogue", "item__turn", "item__response", "item__response_b")
        .order_by()
    )
)


def _free_and_locked(slot: int) -> Slot | None:
    """Locked rows are passed over, so that two raters who each hold a slot never wait for the
    other's.

    With the texts of its item, which the rater's page needs next.
    """
    return _FREE_SLOT.first(pk=slot)


def _attention_item(
    rater: Participation, latest: list[Assignment], avoided: frozenset[int]
) -> tuple[Item, int | None] | None:
    """An attention item that this rater has not seen, where one is due; with the rater's own row if
    given back.

    Not one of a dialogue that regular items avoid: by its early return the rater would know it.
    """
    if not attention_is_due(rater.campaign.attention_every, rater.seed, rater.offered):
        return None
    if not any(assignment.item.role == Item.Role.REGULAR for assignment in latest):
        return None
    own = Assignment.objects.filter(participation=rater, item=OuterRef("pk"))
    unseen = {
        item.pk: item
        for item in Item.objects.filter(campaign=rater.campaign_id, role=Item.Role.ATTENTION)
        .exclude(Exists(own.exclude(state=State.RETURNED)))
        .exclude(conflicting(rater))
        .exclude(dialogue__in=avoided)
        .order_by("pk")
    }
    if not unseen:
        return None
    item = unseen[pick(list(unseen), rater.seed, rater.offered)]
    return item, Assignment.objects.filter(participation=rater, item=item).values_list(
        "pk", flat=True
    ).first()


def _lease(
    rater: Participation,
    item: Item,
    given_back: int | None,
    *,
    propensity: float | None,
    now: datetime,
    system_propensity: float | None = None,
    is_swapped: bool | None = None,
    adjudicates: bool = False,
    shown: Sequence[int] = (),
) -> Assignment:
    """The rater's row of the item, in hand as the rater's latest. One row a rater and item, however
    often given; a pair or list comes in the order in which it came first, which a page may still
    show."""
    assignment = Assignment(
        pk=given_back,
        participation=rater,
        item=item,
        state=State.LEASED,
        position=rater.offered,
        propensity=propensity,
        system_propensity=system_propensity,
        is_swapped=is_swapped,
        adjudicates=adjudicates,
        shown=list(shown) or None,
        lease_expires_at=lease_end(now),
        claimed_at=now,
    )
    if given_back is None:
        assignment.save(force_insert=True)
    else:
        assignment.save(
            update_fields=[
                *("state", "position", "propensity", "system_propensity", "adjudicates"),
                *("lease_expires_at", "claimed_at"),
            ]
        )
        if is_swapped is not None or shown:
            assignment.refresh_from_db(fields=["is_swapped", "shown"])
    rater.offered += 1
    return assignment
