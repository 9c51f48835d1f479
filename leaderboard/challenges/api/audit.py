"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from annotations.models import AuditEntry
from common.api.access import Token
from common.api.schemas import Page, Paging, Text, page_of

router = Router(tags=["audit"])


SAME = ("at", "actor", "action", "subject", "challenge", "campaign", "details")


class EntryOut(Schema):
    id: int = Field(description="Later entries have higher ones.")
    at: datetime = Field(description="When.")
    actor: str = Field(description='Who, by log-in name; "" where a worker or a command acted.')
    action: str = Field(description="What was done to what kind of thing, such as `round.changed`.")
    subject: str = Field(description="What it was done to.")
    challenge: str = Field(description='The challenge it belongs to, or "".')
    campaign: str = Field(description='The campaign it belongs to, or "".')
    details: dict[str, Any] = Field(description="Before and after, the reason given.")


class AuditParams(Schema):
    challenge: Text | None = Field(None, max_length=80, description="Of this challenge only.")
    campaign: Text | None = Field(None, max_length=80, description="Of this campaign only.")
    action: Text | None = Field(
        None, max_length=60, description="This action, or all of a kind: `round`."
    )


@router.get(
    "/audit",
    auth=Token("organise"),
    response=Page[EntryOut],
    operation_id="list_audit",
    summary="Who did what to what",
)
def list_audit(
    request: HttpRequest,  # noqa: ARG001  ninja hands it over
    params: Query[AuditParams],
    paging: Query[Paging],
) -> dict[str, Any]:
    """Newest first."""
    rows = AuditEntry.objects.all()
    if params.challenge:
        rows = rows.filter(challenge=params.challenge)
    if params.campaign:
        rows = rows.filter(campaign=params.campaign)
    if params.action:
        rows = rows.filter(action__startswith=params.action)
    return page_of(
        rows,
        "-pk",
        paging,
        lambda entry: {"id": entry.pk, **{name: getattr(entry, name) for name in SAME}},
    )
