"""Qualification: training items in their order, then passed or failed."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet

from annotations import audit
from annotations.campaigns.actions.leases import conflicting
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.queries.ratings import qualified, score_of_checks

Qualification = Participation.Qualification
State = Assignment.State

_ROUNDING = 1e-9


def training_left(rater: Participation) -> tuple[list[tuple[Item, Assignment | None]], bool]:
    """Training items to be given, each with the rater's earlier row where it was given back; and
    whether every training item is rated or skipped."""
    items = list(_training_of(rater).order_by("position", "pk"))
    own = {
        one.item_id: one for one in Assignment.objects.filter(participation=rater, item__in=items)
    }
    states = {item.pk: own[item.pk].state if item.pk in own else State.RETURNED for item in items}
    to_give = [(item, own.get(item.pk)) for item in items if states[item.pk] == State.RETURNED]
    return to_give, all(state in (State.DONE, State.SKIPPED) for state in states.values())


def _training_of(rater: Participation) -> QuerySet[Item]:
    """Responses of a system in which the rater has a stake are not shown in training either."""
    training = Item.objects.filter(campaign=rater.campaign_id, role=Item.Role.TRAINING)
    return training.exclude(conflicting(rater))


def settle(rater: Participation) -> None:
    """Set whether the rater passed, all training items being rated or skipped. The caller stores
    it.

    Right is a first score (of a form, of its main question; of a comparison, of the order of the
    item's texts) within the item's range: the second comes after the answer was shown. A skipped
    item is not right. Without training items or without a pass mark everyone passes.
    """
    training = _training_of(rater)
    requested, mark = training.count(), rater.campaign.pass_mark
    if not requested or mark is None:
        rater.qualification = Qualification.PASSED
        return
    column, score_of = score_of_checks(rater.campaign)
    first = RatingRevision.objects.filter(
        assignment__participation=rater, assignment__item__in=training, number=1
    ).values_list(
        *("assignment__item__lowest", "assignment__item__highest"),
        *(column, "assignment__is_swapped", "assignment__shown"),
    )
    right = sum(
        lowest <= score <= highest
        for lowest, highest, *rating in first
        if (score := score_of(*rating)) is not None
    )
    rater.qualification = (
        Qualification.PASSED if right / requested >= mark - _ROUNDING else Qualification.FAILED
    )


def settle_if_all_done(rater: Participation) -> None:
    """After a training item was rated or skipped: if it was the last, store whether the rater
    passed."""
    if rater.qualification == Qualification.OPEN and training_left(rater)[1]:
        settle(rater)
        rater.save(update_fields=["qualification"])


def group_qualified(campaign: Campaign, by: Any = None) -> tuple[Group, int]:
    """Put the qualified raters into a group of this campaign's own, which other campaigns, such as
    a collection of dialogues, may be opened to. Who is in it stays.

    Returns:
        The group, and how many of its members are new.
    """
    with transaction.atomic():
        group, _ = Group.objects.get_or_create(name=f"qualified: {campaign.slug}")
        people = qualified(campaign).exclude(user__groups=group).values_list("user", flat=True)
        new = list(people)
        group.user_set.add(*new)
        if new:
            audit.record(
                by,
                "rater.grouped",
                campaign,
                campaign=campaign.slug,
                group=group.name,
                raters=len(new),
            )
    return group, len(new)
