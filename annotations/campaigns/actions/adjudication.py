"""Deciding items whose raters differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.models import (
    Adjudication,
    AdjudicationRule,
    Campaign,
    FormVersion,
    Item,
)
from annotations.campaigns.queries.adjudication import differing_items


class CannotAdjudicate(Exception):
    """The message says why, in the organiser's language. Nothing was written."""


def set_rule(campaign: Campaign, points: float, by: Any = None) -> None:
    """Items whose scores lie so far apart are adjudicated from now on; decisions stay."""
    with transaction.atomic():
        AdjudicationRule.objects.update_or_create(campaign=campaign, defaults={"points": points})
        audit.record(
            by, "campaign.adjudication_rule", campaign, campaign=campaign.slug, points=points
        )


def adjudicate(
    campaign: Campaign,
    public_id: str,
    *,
    score: int | None = None,
    form: FormVersion | None = None,
    answers: Mapping[str, Any] | None = None,
    comment: str = "",
    by: Any = None,
) -> Adjudication:
    """Store what was decided of an item, or put it in the place of an earlier decision. Raises
    ``CannotAdjudicate`` where the item's raters do not differ by the campaign's rule."""
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
        found = differing_items(stored, public_id)
        if not found:
            raise CannotAdjudicate(_("The raters of this item do not differ by the rule."))
        before = Adjudication.objects.filter(item=found[0].item).first()
        decided, _is_new = Adjudication.objects.update_or_create(
            item_id=found[0].item,
            defaults={
                "points": stored.adjudication_rule.points,
                "score": score,
                "form": form,
                "answers": None if answers is None else dict(answers),
                "comment": comment,
                "decided_by": by,
                "decided_at": timezone.now(),
            },
        )
        _changed(stored)
        _note(by, "rating.adjudicated", stored, public_id, decided, before)
    return decided


def withdraw(campaign: Campaign, public_id: str, by: Any = None) -> None:
    """The item is undecided again. Raises ``CannotAdjudicate`` where it was not decided."""
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
        decided = Adjudication.objects.filter(
            item__campaign=stored, item__public_id=public_id, item__role=Item.Role.REGULAR
        ).first()
        if decided is None:
            raise CannotAdjudicate(_("This item is not adjudicated."))
        _note(by, "rating.adjudication_withdrawn", stored, public_id, decided, None)
        decided.delete()
        _changed(stored)


def _changed(campaign: Campaign) -> None:
    """What is published, and pages that tell of adjudication, are out of date."""
    Campaign.objects.filter(pk=campaign.pk).update(changes=F("changes") + 1)


def _note(
    by: Any,
    action: str,
    campaign: Campaign,
    public_id: str,
    decided: Adjudication,
    before: Adjudication | None,
) -> None:
    audit.record(
        by,
        action,
        f"item {public_id}",
        campaign=campaign.slug,
        **_value(decided),
        **({} if before is None else {"before": _value(before)}),
    )


def _value(one: Adjudication) -> dict[str, Any]:
    return {"score": one.score} if one.answers is None else {"answers": one.answers}
