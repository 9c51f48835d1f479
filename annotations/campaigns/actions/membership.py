"""Becoming a rater of a campaign, and having read its guidelines."""

from __future__ import annotations

from random import Random
from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.accounts import accounts_that_may_act
from annotations.campaigns.actions.leases import why_nothing_is_handed_out
from annotations.campaigns.actions.terms import CannotJoin
from annotations.campaigns.models import Campaign, Guidelines, Invitation, Participation, Slot
from annotations.campaigns.models.campaign import random_seed
from annotations.models import Corpus
from common.roles import RATER


def join(campaign: Campaign, user: Any, invitation: Invitation | None = None) -> Participation:
    """Make the person a rater of the campaign; who is one already stays as is, and no invitation is
    used up.

    The rater's order begins at an ordinal drawn from the rater's own seed. Without an invitation
    the caller has made sure that the person may (``access.may_join``). Raises ``CannotJoin``, with
    nothing stored, for a campaign that is a draft or closed, for an invitation of another campaign,
    revoked, expired, used up or made by an account that may not act, for a person who was removed
    from the campaign, and for a member of a team that hands in to a round whose gold answers the
    campaign would show.
    """
    with transaction.atomic():
        # One person at a time, so that positions follow each other and the last use of an
        # invitation is used once.
        stored = Campaign.objects.select_for_update(no_key=True).filter(pk=campaign.pk).first()
        if stored is None:  # deleted in this moment
            raise CannotJoin(_("This campaign is closed."))
        campaign = stored
        known = Participation.objects.filter(campaign=campaign, user=user).first()
        if known is not None:
            if known.removed_at is not None:
                raise CannotJoin(_("The organisers have removed you from this campaign."))
            return known
        _refuse_unless_open(campaign)
        _refuse_participants_of_hidden_rounds(campaign, user)
        if invitation is not None:
            _use(invitation, campaign)
        seed = random_seed()
        start = _start(campaign, seed)
        last = Participation.objects.filter(campaign=campaign).aggregate(last=Max("position"))[
            "last"
        ]
        participation = Participation.objects.create(
            campaign=campaign,
            user=user,
            position=0 if last is None else last + 1,
            seed=seed,
            start=start,
            cursor=start,
            invitation=invitation,
        )
        user.groups.add(Group.objects.get_or_create(name=RATER)[0])
    return participation


def _refuse_unless_open(campaign: Campaign) -> None:
    """A campaign that is paused or begins later may be joined: its page says when there is
    something to do."""
    if campaign.state == Campaign.State.DRAFT:
        raise CannotJoin(_("This campaign is not open yet."))
    if why_nothing_is_handed_out(campaign, timezone.now()) == "closed":
        raise CannotJoin(_("This campaign is closed."))


def _refuse_participants_of_hidden_rounds(campaign: Campaign, user: Any) -> None:
    """A rater reads what was said before the response, and so the gold answers of earlier turns."""
    rounds = {
        "versions__rounds__references": "hidden",
        "versions__rounds__challenge__members__user": user,
    }
    if (
        campaign.version_id
        and Corpus.objects.filter(versions=campaign.version_id).filter(**rounds).exists()
    ):
        raise CannotJoin(
            _("Your team takes part in a challenge on these dialogues, so you cannot rate them.")
        )


def _use(invitation: Invitation, campaign: Campaign) -> None:
    now = timezone.now()
    used = (
        Invitation.objects.filter(pk=invitation.pk, campaign=campaign, revoked_at__isnull=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        .filter(Q(most_uses__isnull=True) | Q(uses__lt=F("most_uses")))
        .filter(Q(created_by__isnull=True) | Q(created_by__in=accounts_that_may_act()))
        .update(uses=F("uses") + 1)
    )
    if not used:
        raise CannotJoin(_why_refused(invitation, now))


def _why_refused(invitation: Invitation, now: Any) -> str:
    present = Invitation.objects.filter(pk=invitation.pk).first()
    if present is not None and present.revoked_at is not None:
        return _("This invitation was withdrawn.")
    if present is not None and present.expires_at is not None and present.expires_at <= now:
        return _("This invitation has expired.")
    if present is not None and present.most_uses is not None and present.uses >= present.most_uses:
        return _("This invitation has been used as often as it may.")
    return _("This invitation is not valid.")


def _start(campaign: Campaign, seed: int) -> int:
    last = (
        Slot.objects.filter(campaign=campaign)
        .order_by("-ordinal")
        .values_list("ordinal", flat=True)
        .first()
    )
    return 0 if last is None else Random(f"{seed} start").randrange(last + 1)


def accept_guidelines(participation: Participation, number: int | None) -> None:
    """Remember the version that was on the page. An older one never takes the place of a newer
    one."""
    if number is None:
        return
    read = Guidelines.objects.filter(campaign=participation.campaign_id, number=number).first()
    if read is None:
        return
    before = participation.guidelines_read
    if before is None or before.number < read.number:
        Participation.objects.filter(pk=participation.pk).update(guidelines_read=read)
        participation.guidelines_read = read
