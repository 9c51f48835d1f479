"""The live agreement of a rating campaign."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.overview import progress_of
from annotations.campaigns.queries.ratings import (
    aspects_of,
    rated_systems,
    ratings_stamp,
    resolve_campaign_aspect,
    select_rated_systems,
)
from annotations.page import page
from annotations.queries import NotFound
from leaderboard import actions
from leaderboard.campaign_agreement import WEIGHTINGS, pair_matrix, tables_of
from leaderboard.models import Analysis
from leaderboard.queries.campaigns import campaign_agreement_answer, is_recent

KIND = "campaign-agreement"
PAIRS_SHOWN = 100
SEEN = "X-Seen"
"""What the page that asks again has: the answer is then 204 where nobody has rated since."""
REST = 5
"""An answer that took a second to compute is left to stand for so many seconds while raters work."""


@require_safe
@organisers_page
def campaign_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    stamp = ratings_stamp(campaign)
    seen = f"{stamp}.{campaign.changes}"
    if request.htmx and request.headers.get(SEEN) == seen:
        return HttpResponse(status=204)
    aspect, system, excluded, weighting = _asked(request, campaign)
    if request.htmx and is_recent(campaign.version, KIND, _question(campaign, aspect, system, excluded), REST):
        return HttpResponse(status=204)
    analysis = _stored(campaign, stamp, aspect, system, excluded)
    tables = tables_of(
        campaign, analysis.answer, analysis.computed_at, None if "download" in request.GET else PAIRS_SHOWN
    )
    context = {
        "section": "campaigns",
        "tab": "agreement",
        "campaign": campaign,
        "aspects": aspects_of(campaign),
        "aspect": aspect,
        "systems": rated_systems(campaign),
        "system": system,
        "excluded": excluded,
        "weightings": WEIGHTINGS,
        "matrix": pair_matrix(analysis.answer, weighting),
        "weighting": weighting,
        "progress": progress_of(campaign),
        "analysis": analysis,
        "report": analysis.answer,
        "tables": tables,
        "seen": seen,
    }
    template = "leaderboard/_campaign_agreement.html" if request.htmx else "leaderboard/campaign_agreement.html"
    return page(request, template, context, tables.values())


def _asked(request: HttpRequest, campaign: Campaign) -> tuple[str, str, bool, str]:
    try:
        aspect = resolve_campaign_aspect(campaign, request.GET.get("aspect"))
        system = request.GET.get("system", "")
        select_rated_systems(campaign, [system] if system else None)
    except NotFound as missing:
        raise Http404(str(missing)) from None
    raters, weighting = request.GET.get("raters", ""), request.GET.get("weighting") or WEIGHTINGS[0]
    if raters not in ("", "all") or weighting not in WEIGHTINGS:
        raise Http404("there is no such choice of raters or weighting")
    return aspect, system, raters == "all", weighting


def _question(campaign: Campaign, aspect: str, system: str, excluded: bool) -> str:
    """By the campaign's key: a new campaign may have the name of a deleted one."""
    asked: dict[str, Any] = {
        "campaign": campaign.pk,
        "aspect": aspect,
        "excluded": int(excluded),
        "changes": campaign.changes,
        "system": system,
    }
    return "|".join(f"{name}:{value}" for name, value in asked.items())


def _stored(campaign: Campaign, stamp: int, aspect: str, system: str, excluded: bool) -> Analysis:
    return actions.stored_answer(
        campaign.version,
        KIND,
        _question(campaign, aspect, system, excluded),
        lambda: campaign_agreement_answer(campaign, aspect, [system] if system else None, excluded),
        revision=stamp,
    )
