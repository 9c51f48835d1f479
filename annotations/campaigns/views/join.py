"""Where an invitation leads: one button for who has an account, a short form for who has none."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.accounts import NameTaken
from annotations.campaigns.actions import invitations
from annotations.campaigns.actions.terms import CannotJoin
from annotations.campaigns.forms.join import AccountForm
from annotations.campaigns.models import Invitation
from annotations.campaigns.queries import overview

GONE = 410


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_join(request: HttpRequest, token: str) -> HttpResponse:
    """Where an invitation leads; POST takes part, or makes an account first.

    A token that nobody made, and one of a campaign that is gone, are answered alike: nothing can be
    learnt.
    """
    invitation = overview.invitation_with_token(token)
    if invitation is None:
        return render(request, "campaigns/join_refused.html", {"why": "unknown"}, status=404)
    campaign = invitation.campaign
    if overview.takes_part(request.user, campaign):
        return redirect("rating-start", campaign.slug)
    if why := overview.why_unusable(invitation):
        status = 200 if why == "draft" else GONE
        return render(request, "campaigns/join_refused.html", {"why": why}, status=status)
    if request.method == "POST" and request.user.is_authenticated:
        return _join(request, invitation)
    if request.method == "POST":
        return _join_with_new_account(request, invitation)
    return _page(request, invitation, AccountForm())


def _join(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    try:
        invitations.join(invitation.campaign, request.user, invitation)
    except CannotJoin as refusal:
        return _refused(request, refusal)
    return redirect("rating-start", invitation.campaign.slug)


def _join_with_new_account(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if "username" not in request.POST:  # was logged in when the page was shown
        return redirect_to_login(request.path)
    form = AccountForm(request.POST)
    if not form.is_valid():
        return _page(request, invitation, form)
    name, password = form.cleaned_data["username"], form.cleaned_data["password"]
    try:
        participation = invitations.join_with_new_account(invitation, name, password)
    except NameTaken:
        form.add_error("username", _("This name is taken. If it is yours, log in instead."))
        return _page(request, invitation, form)
    except CannotJoin as refusal:
        return _refused(request, refusal)
    # The password was chosen a moment ago: asked for it, the backend may refuse, after other
    # people's guesses.
    login(request, participation.user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return redirect("rating-start", invitation.campaign.slug)


def _page(request: HttpRequest, invitation: Invitation, form: AccountForm) -> HttpResponse:
    context = {"section": "rate", "campaign": invitation.campaign, "form": form}
    return render(request, "campaigns/join.html", context, status=422 if form.is_bound else 200)


def _refused(request: HttpRequest, refusal: CannotJoin) -> HttpResponse:
    return render(
        request, "campaigns/join_refused.html", {"why": "said", "text": str(refusal)}, status=GONE
    )
