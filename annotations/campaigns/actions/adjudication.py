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
    Assignment,
    Campaign,
    FormVersion,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.queries.adjudication import differing_items
from annotations.questions.answers import in_other_order


class CannotAdjudicate(Exception):
    """The message says why, in the organiser's language. Nothing was written."""


class DecidedMeanwhile(CannotAdjudicate):
    """Somebody else decided the item, or withdrew the decision, since the page was opened."""


def set_rule(campaign: Campaign, points: float, by_raters: bool = False, by: Any = None) -> None:
    """Items whose scores lie so far apart are adjudicated from now on, with ``by_raters`` by a
    further rater of each; decisions stay."""
    rule = {"points": points, "by_raters": by_raters}
    with transaction.atomic():
        AdjudicationRule.objects.update_or_create(campaign=campaign, defaults=rule)
        audit.record(by, "campaign.adjudication_rule", campaign, campaign=campaign.slug, **rule)


def adjudicate(
    campaign: Campaign,
    public_id: str,
    *,
    score: int | None = None,
    form: FormVersion | None = None,
    answers: Mapping[str, Any] | None = None,
    comment: str = "",
    seen: str | None = None,
    by: Any = None,
) -> Adjudication:
    """Store what was decided of an item, or put it in the place of an earlier decision. ``seen``:
    ``state_of`` the decision that is to be replaced; None: whichever there is. Raises
    ``CannotAdjudicate`` where the item's raters do not differ by the campaign's rule, and
    ``DecidedMeanwhile``."""
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
        found = differing_items(stored, public_id)
        if not found:
            raise CannotAdjudicate(_("The raters of this item do not differ by the rule."))
        before = Adjudication.objects.filter(item=found[0].item).first()
        _refuse_unless_seen(before, seen)
        decided, _is_new = Adjudication.objects.update_or_create(
            item_id=found[0].item,
            defaults={
                "assignment": None,
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


def state_of(decided: Adjudication | None) -> str:
    """Changes with every decision; empty while there is none."""
    return "" if decided is None else decided.decided_at.isoformat()


def _refuse_unless_seen(decided: Adjudication | None, seen: str | None) -> None:
    if seen is not None and state_of(decided) != seen:
        raise DecidedMeanwhile(
            _(
                "Somebody else decided this item, or withdrew the decision, since you opened this "
                "page. Yours is not stored; save again to put it in its place."
            )
        )


def adjudicate_by_rating(
    rater: Participation, assignment: Assignment, revision: RatingRevision
) -> None:
    """What a further rater said of an item is its adjudicated value, as long as no organiser
    decides it. Called in the transaction that stores the rating."""
    answers = revision.answers
    if answers is not None and assignment.is_swapped:
        answers = in_other_order(revision.form.parsed(), answers)
    rule = AdjudicationRule.objects.filter(campaign=rater.campaign_id).first()
    values = {
        "assignment": assignment,
        "points": 0.0 if rule is None else rule.points,
        "score": revision.score,
        "form": revision.form,
        "answers": answers,
        "comment": revision.comment,
        "decided_at": timezone.now(),
    }
    if revision.number > 1:  # of an organiser's decision nothing is changed
        Adjudication.objects.filter(assignment=assignment).update(**values)
        return
    _decided, is_new = Adjudication.objects.get_or_create(item=assignment.item, defaults=values)
    if is_new:
        audit.record(
            rater.user,
            "rating.adjudicated",
            f"item {assignment.item.public_id}",
            campaign=rater.campaign.slug,
            rater=rater.pseudonym,
            **({"score": revision.score} if answers is None else {"answers": answers}),
        )


def withdraw(campaign: Campaign, public_id: str, seen: str | None = None, by: Any = None) -> None:
    """The item is undecided again. Raises ``CannotAdjudicate`` where it was not decided, and
    ``DecidedMeanwhile`` as ``adjudicate``."""
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
        decided = Adjudication.objects.filter(
            item__campaign=stored, item__public_id=public_id, item__role=Item.Role.REGULAR
        ).first()
        if decided is None:
            raise CannotAdjudicate(_("This item is not adjudicated."))
        _refuse_unless_seen(decided, seen)
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
