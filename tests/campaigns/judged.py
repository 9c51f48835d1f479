"""Ratings of campaigns as rows, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction
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
    for item, score in zip(items, scores, strict=True):
        judge(rater, item, score)


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
        with transaction.atomic():
            for item in items:
                judge(rater, item, score)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=timezone.now())
    return Campaign.objects.get(pk=campaign.pk)
