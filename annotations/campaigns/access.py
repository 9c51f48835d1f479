"""Who may open which page of a campaign. What one may not see does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.outbox import is_of_somebody_else
from common import web
from common.database import CompiledQuery, Given

View = Callable[..., HttpResponse]


ORGANISERS = ("campaigns", _("only organisers set up rating campaigns"))
organisers_page = web.organisers_page(*ORGANISERS)
organisers_alone = web.organisers_alone(*ORGANISERS)

_PARTICIPATION = CompiledQuery(
    lambda: (
        Participation.objects.select_related("campaign__form")
        .filter(campaign__slug=Given("slug"), user=Given("user"), removed_at=None)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .order_by("-campaign__guidelines__number")
        .annotate(
            newest_guidelines=F("campaign__guidelines__number"),
            newest_guidelines_id=F("campaign__guidelines__pk"),
        )[:1]
    )
)


def campaign_or_404(slug: str) -> Campaign:
    campaign = Campaign.objects.select_related("version__corpus").filter(slug=slug).first()
    if campaign is None:
        raise Http404(f"there is no campaign {slug}")
    return campaign


def raters_page(view: View) -> View:
    """The view gets the rater's participation instead of the slug. Who does not take part is led to
    the campaign's start page if allowed to join, and else told that there is no such campaign: not
    even its being is public.

    With the participation come the campaign and, as ``newest_guidelines`` and
    ``newest_guidelines_id``, number and key of its guidelines as they are now, None where it has
    none.
    """

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **named: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if web.wants_json(request):
                return web.login_needed()
            back = (
                request.get_full_path()
                if request.method in ("GET", "HEAD")
                else reverse("rating-start", args=[slug])
            )
            return redirect_to_login(back)
        participation = _PARTICIPATION.first(slug=slug, user=request.user.pk)
        if web.wants_json(request) and is_of_somebody_else(request, slug, participation):
            return web.login_needed()  # not gone: it waits until its rater is here again
        if participation is None:
            if may_join(request.user, slug):
                return redirect("rating-start", slug)
            raise Http404(f"there is no campaign {slug}")
        participation.user = request.user
        try:
            return view(request, participation, **named)
        except ObjectDoesNotExist:
            if Participation.objects.filter(pk=participation.pk, user=request.user).exists():
                raise
            # Deleted while the rater waited
            raise Http404(f"there is no campaign {slug} any more") from None

    return guarded


def may_join(user: Any, slug: str) -> bool:
    """Members of the campaign's groups may, without an invitation, while it is open; removed ones
    may not."""
    joinable = Campaign.objects.filter(slug=slug, state=Campaign.State.OPEN, groups__user=user)
    removed = Participation.objects.filter(campaign__slug=slug, user=user, removed_at__isnull=False)
    return joinable.exists() and not removed.exists()
