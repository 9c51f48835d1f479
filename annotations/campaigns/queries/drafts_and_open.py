"""Campaigns at a glance, for an organiser's first page."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.overview import done_and_wanted


@dataclass(frozen=True, slots=True)
class AtAGlance:
    drafts: int
    open: list[tuple[Campaign, int, int]]
    """Campaigns, newest first, with what is done and what is wanted."""


def drafts_and_open_campaigns(most: int) -> AtAGlance:
    """What an organiser's first page says of campaigns: nothing is counted for more than ``most``
    of them."""
    newest = Campaign.objects.filter(state=Campaign.State.OPEN).order_by("-opened_at", "-pk")[:most]
    drafts = Campaign.objects.filter(state=Campaign.State.DRAFT).count()
    return AtAGlance(drafts, [(one, *done_and_wanted(one)) for one in newest])
