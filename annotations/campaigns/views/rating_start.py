"""Before the work: a rater's campaigns, the start of one, its guidelines."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotations.campaigns.access import campaign_or_404, may_join, raters_page
from annotations.campaigns.actions import work_queue as desk_actions
from annotations.campaigns.actions.membership import accept_guidelines
from annotations.campaigns.markdown import to_html
from annotations.campaigns.models import Campaign, Guidelines, Item, Participation
from annotations.campaigns.outbox import outbox_name
from annotations.campaigns.queries import work_queue as queries
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.question_view import question_views
from annotations.campaigns.scale import SCORES
from common.text import parse_integer
from common.web import wants_json


@require_safe
@login_required
@never_cache
def own_campaigns(request: HttpRequest) -> HttpResponse:
    """The campaigns that one rates in or may join."""
    found = queries.own_campaigns(request.user, timezone.now())
    return render(
        request, "campaigns/rating/own_campaigns.html", {"section": "rate", "own_campaigns": found}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """What the campaign asks, and its guidelines. POST joins, where one's group may, and goes on to
    the work."""
    address = reverse("rating-start", args=[slug])
    if not request.user.is_authenticated:
        return redirect_to_login(address)
    participation = queries.participation_in(request.user, slug)
    if participation is None and not may_join(request.user, slug):
        raise Http404(f"there is no campaign {slug}")
    campaign = participation.campaign if participation is not None else campaign_or_404(slug)
    if request.method == "POST":
        if participation is None:
            try:
                participation = desk_actions.join(campaign, request.user)
            except desk_actions.CannotJoin as problem:
                messages.error(request, str(problem))
                return redirect("rate")
        accept_guidelines(participation, whole(request.POST.get("guidelines")))
        is_collection = campaign.kind == Campaign.Kind.COLLECTION
        return redirect("meet" if is_collection else "rating-work", slug)
    rates = participation is not None and campaign.kind != Campaign.Kind.COLLECTION
    text = queries.current_guidelines(campaign)
    form = form_of_campaign(campaign)
    has_practised = participation is not None and (
        participation.qualification != Participation.Qualification.OPEN
    )
    context = {
        "section": "rate",
        "campaign": campaign,
        "participation": participation,
        "practice_items": 0
        if has_practised
        else campaign.items.filter(role=Item.Role.TRAINING).count(),
        "pass_percent": round(100 * (campaign.pass_mark or 0)),
        "state": None
        if participation is None
        else queries.state_for(participation, timezone.now()),
        "progress": queries.progress_of(participation) if rates else None,
        "guidelines": text,
        "guidelines_html": html_of(text),
        "scale": scale_of(campaign),
        "questions": [] if form is None else question_views(form),
        "minutes": lease_minutes(),
        # Who pauses, or comes back, finds what still waited sent by the start page
        "outbox": outbox_name(participation) if rates else "",
    }
    return render(request, "campaigns/rating/start.html", context)


def whole(text: Any) -> int | None:
    return parse_integer(text) if isinstance(text, str) else None


def html_of(text: Guidelines | None) -> SafeString | str:
    return "" if text is None else to_html(text.text)


def scale_of(campaign: Campaign) -> list[tuple[int, str]]:
    return list(zip(SCORES, campaign.scale_labels, strict=False))


def lease_minutes() -> int:
    return max(1, round(settings.RATING_LEASE_SECONDS / 60))


@require_safe
@never_cache
@raters_page
def guidelines(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Its newest guidelines; as JSON where asked for."""
    text = queries.current_guidelines(participation.campaign)
    if wants_json(request):
        return JsonResponse({"number": text.number if text else None, "html": html_of(text)})
    context = {
        "section": "rate",
        "campaign": participation.campaign,
        "guidelines": text,
        "guidelines_html": html_of(text),
    }
    return render(request, "campaigns/rating/guidelines.html", context)
