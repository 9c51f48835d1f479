"""Links that let raters in, and the accounts made through them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotations import audit
from annotations.accounts import open_account
from annotations.campaigns.actions.work_queue import join
from annotations.campaigns.models import Campaign, Invitation, Participation


def invite(
    campaign: Campaign,
    note: str = "",
    most_uses: int | None = None,
    expires_at: datetime | None = None,
    by: Any = None,
) -> Invitation:
    with transaction.atomic():
        made = Invitation.objects.create(
            campaign=campaign, note=note, most_uses=most_uses, expires_at=expires_at, created_by=by
        )
        limits = audit.noted(made, ("note", "most_uses", "expires_at"))
        audit.record(
            by, "invitation.made", campaign, campaign=campaign.slug, number=made.pk, **limits
        )
    return made


def revoke(invitation: Invitation, by: Any = None) -> bool:
    """Who joined through it stays. False where it was revoked before."""
    campaign = invitation.campaign
    valid = Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True)
    with transaction.atomic():
        revoked = bool(valid.update(revoked_at=timezone.now()))
        if revoked:
            audit.record(
                by,
                "invitation.revoked",
                campaign,
                campaign=campaign.slug,
                number=invitation.pk,
                note=invitation.note,
            )
    return revoked


def join_with_new_account(invitation: Invitation, username: str, password: str) -> Participation:
    """The account and the participation, or neither. Raises ``NameTaken`` and what ``join`` raises.

    ``join`` makes the new user a rater. The form has checked name and password.
    """
    with transaction.atomic():
        user = open_account(username, password)
        return join(invitation.campaign, user, invitation)
