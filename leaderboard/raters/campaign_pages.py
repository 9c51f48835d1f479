"""The live agreement of a rating campaign."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.overview import progress_of
from annotations.campaigns.queries.ratings import (
    aspects_of,
    rated_systems,
    resolve_campaign_aspect,
    select_rated_systems,
)
from annotations.corpora.queries import NotFound
from common.web import page
from leaderboard.analyses import look
from leaderboard.analyses.pages import waiting_page
from leaderboard.queries.agreement_pairs import PAIRS_SHOWN
from leaderboard.raters.campaign_tables import WEIGHTINGS, pair_matrix, tables_of

KIND = "campaign-agreement"
SEEN = "X-Seen"
"""What the page that asks again has: the answer is then 204 where nothing else would be shown."""


@require_safe
@organisers_page
def campaign_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    aspect, system, excluded, weighting = _choices_of(request, campaign)
    found = look(
        campaign.version,
        KIND,
        campaign=campaign.pk,
        aspect=aspect,
        system=system,
        excluded=excluded,
    )
    if request.htmx and request.headers.get(SEEN) == found.mark:
        return HttpResponse(status=204)
    frame = {"section": "campaigns", "tab": "agreement", "campaign": campaign}
    if found.answer is None:
        words = {"base": "campaigns/campaign_base.html", "page_name": _("Agreement")}
        return waiting_page(request, frame, found, **words)
    tables = tables_of(
        campaign,
        found.answer,
        found.computed_at,
        None if "download" in request.GET else PAIRS_SHOWN,
    )
    context = {
        **frame,
        "aspects": aspects_of(campaign),
        "aspect": aspect,
        "systems": rated_systems(campaign),
        "system": system,
        "excluded": excluded,
        "weightings": WEIGHTINGS,
        "matrix": pair_matrix(found.answer, weighting),
        "weighting": weighting,
        "progress": progress_of(campaign),
        "analysis": found,
        "report": found.answer,
        "tables": tables,
        "seen": found.mark,
    }
    template = (
        "leaderboard/_campaign_agreement.html"
        if request.htmx
        else "leaderboard/campaign_agreement.html"
    )
    return page(request, template, context, tables.values())


def _choices_of(request: HttpRequest, campaign: Campaign) -> tuple[str, str, bool, str]:
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
