"""Links for raters: made and revoked on the campaign's page."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import invitations
from annotations.campaigns.forms.organising import InvitationForm
from annotations.campaigns.views.organise import overview_context


@require_POST
@organisers_page
def campaign_invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a link: ``note``, ``most_uses``, ``expires_at``."""
    campaign = campaign_or_404(slug)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return render(
            request,
            "campaigns/campaign.html",
            overview_context(request, campaign, form),
            status=422,
        )
    invitations.invite(campaign, **form.cleaned_data, by=request.user)
    messages.success(request, _("The link is made. Copy it below and send it."))
    return redirect(f"{campaign_address(slug)}#invitations")


@require_POST
@organisers_page
def campaign_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The link lets nobody in any more."""
    campaign = campaign_or_404(slug)
    invitation = campaign.invitations.filter(pk=pk).first()
    if invitation is None:
        raise Http404("there is no such invitation")
    if invitations.revoke(invitation, by=request.user):
        messages.success(request, _("The link is revoked. Who joined through it stays."))
    return redirect(f"{campaign_address(slug)}#invitations")


def campaign_address(slug: str) -> str:
    return reverse("campaign", args=[slug])
