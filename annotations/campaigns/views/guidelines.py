"""Writing guidelines, with a look at how raters will see them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import setup
from annotations.campaigns.forms.organising import GuidelinesForm
from annotations.campaigns.markdown import to_html
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries import overview
from annotations.campaigns.starting_text import guidelines_to_start_from


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def campaign_guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Guidelines (``text``), their versions, a look at them (``preview``)."""
    campaign = campaign_or_404(slug)
    versions = overview.guidelines_with_counts(campaign)
    start = versions[0].text if versions else guidelines_to_start_from(campaign)
    form = GuidelinesForm(request.POST or None, initial={"text": start})
    if request.method == "POST" and form.is_valid() and "preview" not in request.POST:
        stored, is_new = setup.write_guidelines(
            campaign, form.cleaned_data["text"], by=request.user
        )
        if not is_new:
            text = _("Nothing was changed.")
        elif campaign.state == Campaign.State.DRAFT:
            text = _("Version %(number)s is stored. Raters see it once the campaign is open.")
        else:
            text = _("Version %(number)s is stored. Raters see it from now on.")
        messages.success(request, text % {"number": stored.number})
        return redirect(
            "campaign" if is_new and stored.number == 1 else "campaign-guidelines", slug
        )
    shown = form.cleaned_data.get("text", "") if form.is_bound and form.is_valid() else start
    if request.htmx:
        return render(
            request, "campaigns/_guidelines_preview.html", {"html": to_html(shown), "form": form}
        )
    context = {
        "section": "campaigns",
        "tab": "guidelines",
        "campaign": campaign,
        "form": form,
        "html": to_html(shown),
        "versions": [(version, to_html(version.text)) for version in versions],
        "is_a_start": not versions,
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "campaigns/guidelines.html", context, status=status)
