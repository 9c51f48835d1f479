"""The form that sets a campaign up. It answers its own changes: another kind, another corpus, what
it would cost."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import setup
from annotations.campaigns.actions.forms import create_asking
from annotations.campaigns.forms.campaign import CampaignForm
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries import overview


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def campaign_new(request: HttpRequest) -> HttpResponse:
    """Set up a campaign, with its dry run; ``corpus`` is the one that the form begins with. POST
    stores a draft, with ``refresh`` nothing."""
    form = CampaignForm(request.POST or None, corpus=request.GET.get("corpus", ""))
    if "refresh" in request.POST:
        return _form_page(request, form, changed=True)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = create_asking(form.params(), form.chosen_form(), by=request.user)
        except setup.SlugTaken:
            form.add_error("slug", _("Another campaign has this address."))
        else:
            messages.success(request, _("The draft is stored. Nobody sees it until you open it."))
            return redirect("campaign", campaign.slug)
    return _form_page(request, form)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def campaign_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """What a draft asks; of an opened campaign name, dates and groups."""
    campaign = campaign_or_404(slug)
    form = CampaignForm(request.POST or None, campaign=campaign)
    if "refresh" in request.POST:
        return _form_page(request, form, campaign, changed=True)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = setup.edit(campaign, form.params(), by=request.user)
        except setup.SlugTaken:
            form.add_error("slug", _("Another campaign has this address."))
        except setup.WrongState as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, _("The settings are stored."))
            return redirect("campaign", campaign.slug)
    return _form_page(request, form, campaign)


def _form_page(
    request: HttpRequest,
    form: CampaignForm,
    campaign: Campaign | None = None,
    changed: bool = False,
) -> HttpResponse:
    """``changed``: the form as it stands was sent for another kind or corpus, or for its dry run;
    not to be stored."""
    question = form.question()
    context: dict[str, Any] = {
        "section": "campaigns",
        "tab": "settings",
        "campaign": campaign,
        "form": form,
        "changed": changed,
        "plan": None
        if question is None
        else overview.plan_of(question, form.current_form(), campaign),
    }
    if changed and request.htmx and request.htmx.target == "plan":
        return render(request, "campaigns/_plan.html", context)
    if changed:
        # a change of kind is no attempt to store: complaints come with the attempt
        form.errors.clear()
        return render(
            request, "campaigns/_form.html" if request.htmx else _page_of(campaign), context
        )
    return render(request, _page_of(campaign), context, status=422 if form.is_bound else 200)


def _page_of(campaign: Campaign | None) -> str:
    return "campaigns/new.html" if campaign is None else "campaigns/settings.html"
