"""Training items and attention checks: what every rater judges beside the campaign's own items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotations import audit
from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.plan.check_items import CheckItem
from annotations.campaigns.queries.ratings import scale_of_checks
from annotations.models import Dialogue, Response, System, Turn


class CheckKnown(Exception):
    """The campaign has this very item already; ``place`` counts the given ones from 1."""

    def __init__(self, place: int) -> None:
        super().__init__(f"item {place} of the file is there already")
        self.place = place


class OutOfScale(Exception):
    """The campaign asks another form meanwhile, whose main question has no such scores."""


class CheckInUse(Exception):
    """Raters have been given it."""


def add_checks(campaign: Campaign, checks: Sequence[CheckItem], by: Any = None) -> list[Item]:
    """All of them or none. Training items come in the file's order, after those that are there.
    Raises ``CheckKnown`` and ``OutOfScale``."""
    version = campaign.version
    if version is None:
        raise ValueError("a collection has no items")
    names = {check.dialogue for check in checks}
    dialogues = {
        one.external_id: one
        for one in Dialogue.objects.filter(version=version, external_id__in=names)
    }
    turns = {
        (turn.dialogue_id, turn.number): turn
        for turn in Turn.objects.filter(dialogue__in=dialogues.values())
    }
    systems = {one.name: one for one in System.objects.filter(version=version)}
    with transaction.atomic():
        stored = Campaign.objects.select_for_update().get(pk=campaign.pk)  # one file at a time
        scale = scale_of_checks(stored)
        if scale is None or any(one.lowest < scale[0] or one.highest > scale[1] for one in checks):
            raise OutOfScale
        known = {_identity(item) for item in campaign.items.exclude(role=Item.Role.REGULAR)}
        position = (campaign.items.aggregate(last=Max("position"))["last"] or 0) + 1
        made = []
        for place, check in enumerate(checks, start=1):
            dialogue = dialogues[check.dialogue]
            turn = None if check.turn is None else turns[(dialogue.pk, check.turn)]
            system = None if check.system is None else systems[check.system]
            item = Item(
                campaign=campaign,
                role=check.role,
                position=position + place - 1,
                dialogue=dialogue,
                turn=turn,
                system=system,
                response=Response.objects.get(system=system, turn=turn)
                if system and turn
                else None,
                texts=list(check.texts),
                lowest=check.lowest,
                highest=check.highest,
                feedback=check.feedback,
            )
            if _identity(item) in known:
                raise CheckKnown(place)
            made.append(item)
        audit.record(by, "checks.added", campaign, campaign=campaign.slug, items=len(made))
        return Item.objects.bulk_create(made)


def _identity(item: Item) -> tuple[object, ...]:
    return (item.role, item.dialogue_id, item.turn_id, item.system_id, tuple(item.texts))


def delete_check(item: Item, by: Any = None) -> None:
    """Raises ``CheckInUse`` where raters were given it: what they said must keep its item."""
    with transaction.atomic():
        stored = (
            Item.objects.select_for_update(of=("self",))
            .exclude(role=Item.Role.REGULAR)
            .filter(pk=item.pk)
            .first()
        )
        if stored is None:
            return
        if stored.assignments.exists():
            raise CheckInUse
        audit.record(
            by,
            "check.deleted",
            stored.campaign,
            campaign=stored.campaign.slug,
            role=stored.role,
            item=stored.public_id,
        )
        stored.delete()
