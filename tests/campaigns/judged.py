"""Ratings of campaigns as rows, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils import timezone

from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Item,
    Participation,
    RatingRevision,
    Slot,
)
from tests.campaigns.sets import made_raters


def items_of(campaign: Campaign, role: str = Item.Role.REGULAR) -> list[Item]:
    """By system, dialogue and turn."""
    ordered = campaign.items.filter(role=role).order_by(
        "system__position", "chat_system__name", "dialogue__position", "turn__number", "position"
    )
    return list(ordered)


def judge(
    rater: Participation,
    item: Item,
    score: int,
    *,
    low_axes: list[str] | None = None,
    active_ms: int | None = 4000,
    comment: str = "",
    flagged: bool = False,
    holds_place: bool = True,
) -> Assignment:
    """The rater's next rating, or a second thought where the item is rated. Takes a free place of a
    regular item."""
    now = timezone.now()
    assignment = Assignment.objects.filter(participation=rater, item=item).first()
    if assignment is None:
        assignment = Assignment.objects.create(
            participation=rater,
            item=item,
            state=Assignment.State.LEASED,
            position=rater.assignments.count(),
            lease_expires_at=now,
            claimed_at=now,
            propensity=0.5 if item.role == Item.Role.REGULAR else None,
        )
        if item.role == Item.Role.REGULAR and holds_place:
            slot = Slot.objects.filter(item=item, holder__isnull=True).order_by("place").first()
            assert slot is not None, "the item has no free place"
            slot.holder = assignment
            slot.save()
    number = assignment.revisions.count() + 1
    revision = RatingRevision.objects.create(
        assignment=assignment,
        number=number,
        key=f"{assignment.pk}-{number}",
        score=score,
        low_axes=low_axes,
        flagged=flagged,
        comment=comment,
        guidelines=rater.campaign.guidelines.first(),
        active_ms=active_ms,
        submit_ms=active_ms,
    )
    assignment.state, assignment.current, assignment.lease_expires_at = (
        Assignment.State.DONE,
        revision,
        None,
    )
    assignment.finished_at = now
    assignment.save()
    return assignment


def judge_all(rater: Participation, items: Iterable[Item], scores: Iterable[int]) -> None:
    """As ``judge`` for each of these items, all regular and none rated by the rater: a statement
    for each table instead of seven for each item."""
    scored = list(zip(items, scores, strict=True))
    now, first = timezone.now(), rater.assignments.count()
    assignments = Assignment.objects.bulk_create(
        Assignment(
            participation=rater,
            item=item,
            state=Assignment.State.LEASED,
            position=position,
            lease_expires_at=now,
            claimed_at=now,
            propensity=0.5,
        )
        for position, (item, _) in enumerate(scored, first)
    )
    free: dict[int, Slot] = {}
    of_items = Slot.objects.filter(item__in=[item for item, _ in scored], holder__isnull=True)
    for slot in of_items.order_by("place"):
        free.setdefault(slot.item_id, slot)
    for assignment in assignments:
        free[assignment.item_id].holder = assignment
    Slot.objects.bulk_update(free.values(), ["holder"])
    guidelines = rater.campaign.guidelines.first()
    revisions = RatingRevision.objects.bulk_create(
        RatingRevision(
            assignment=assignment,
            number=1,
            key=f"{assignment.pk}-1",
            score=score,
            guidelines=guidelines,
            active_ms=4000,
            submit_ms=4000,
        )
        for assignment, (_, score) in zip(assignments, scored, strict=True)
    )
    for assignment, revision in zip(assignments, revisions, strict=True):
        assignment.state, assignment.current = Assignment.State.DONE, revision
        assignment.lease_expires_at, assignment.finished_at = None, now
    Assignment.objects.bulk_update(
        assignments, ["state", "current", "lease_expires_at", "finished_at"]
    )


def table(
    campaign: Campaign, raters: list[Participation], scores: Mapping[int, Iterable[int | None]]
) -> None:
    """``scores``: index of the rater → a score for each of the campaign's items in order, None
    where not judged."""
    items = items_of(campaign)
    for index, row in scores.items():
        for item, score in zip(items, row, strict=True):
            if score is not None:
                judge(raters[index], item, score)


def rated_and_closed(campaign: Campaign, raters: int) -> Campaign:
    """All of it rated by so many people, 2 by the first, 3 by the next; then closed."""
    items = items_of(campaign)
    for score, rater in enumerate(made_raters(campaign, raters), 2):
        judge_all(rater, items, [score] * len(items))
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=timezone.now())
    return Campaign.objects.get(pk=campaign.pk)
