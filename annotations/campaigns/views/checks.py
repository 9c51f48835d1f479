"""Training and attention items: upload, look, delete."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotations.campaigns.access import campaign_or_404, organisers_alone, organisers_page
from annotations.campaigns.actions import checks, qualification
from annotations.campaigns.forms.organising import CheckFileForm
from annotations.campaigns.models import Campaign
from annotations.campaigns.plan.check_items import (
    LARGEST_FILE,
    BadCheckFile,
    Fault,
    read_check_items,
)
from annotations.campaigns.queries import overview
from annotations.campaigns.queries.planning import answers_in, is_of_turns, responses_of_check
from annotations.campaigns.queries.ratings import qualified, scale_of_checks
from common.file_bodies import takes_file


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
@takes_file(organisers_alone)
def campaign_checks(request: HttpRequest, slug: str) -> HttpResponse:
    """Training and attention items; POST takes a file, or with ``action`` ``group`` puts who passed
    into a group."""
    campaign = campaign_or_404(slug)
    if request.POST.get("action") == "group":
        group, count = qualification.group_qualified(campaign, by=request.user)
        messages.success(
            request,
            ngettext(
                "%(count)d rater who passed was added to the group %(group)s.",
                "%(count)d raters who passed were added to the group %(group)s.",
                count,
            )
            % {"count": count, "group": group.name},
        )
        return redirect("campaign-checks", slug)
    form = CheckFileForm(request.POST or None, request.FILES or None)
    faults: list[Fault] = []
    if request.method == "POST" and campaign.takes_checks and form.is_valid():
        faults = _take(campaign, form, request.user)
        if not faults:
            messages.success(request, _("The items are stored."))
            return redirect("campaign-checks", slug)
    found = overview.checks_of(campaign)
    context = {
        "section": "campaigns",
        "tab": "checks",
        "campaign": campaign,
        "form": form,
        "faults": faults,
        "checks": found,
        "pass_percent": "" if campaign.pass_mark is None else f"{campaign.pass_mark * 100:g}",
        "qualified": qualified(campaign).count() if found else 0,
        "of_turns": is_of_turns(campaign),
        "count_words": ngettext("%(count)s item", "%(count)s items", len(found))
        % {"count": len(found)},
    }
    return render(
        request, "campaigns/checks.html", context, status=422 if request.method == "POST" else 200
    )


def _take(campaign: Campaign, form: CheckFileForm, user: Any) -> list[Fault]:
    """What is wrong with the file; nothing, where its items are stored."""
    data = form.cleaned_data["file"].read(LARGEST_FILE + 1)
    level = "turn" if is_of_turns(campaign) else "dialogue"
    compared = responses_of_check(campaign) if campaign.compares else 0
    scale = scale_of_checks(campaign)
    if scale is None:
        text = _("no question of the form has a scale that ranges could lie on")
        return [Fault(0, "", text)]
    try:
        items = read_check_items(data, level, answers_in(campaign.version), scale, compared)
        checks.add_checks(campaign, items, by=user)
    except BadCheckFile as bad:
        return bad.faults
    except checks.OutOfScale:
        return [Fault(0, "", _("the form was changed meanwhile; upload the file again"))]
    except checks.CheckKnown as known:
        return [
            Fault(
                0,
                _("item %(place)s of the file") % {"place": known.place},
                _("is among the items already"),
            )
        ]
    return []


@require_POST
@organisers_page
def campaign_check_delete(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """Delete one that no rater was given."""
    campaign = campaign_or_404(slug)
    item = overview.check_with_id(campaign, public_id)
    if item is None:
        raise Http404("there is no such item")
    try:
        checks.delete_check(item, by=request.user)
    except checks.CheckInUse:
        messages.error(request, _("Raters were given this item; it stays with what they said."))
    else:
        messages.success(request, _("The item is deleted."))
    return redirect("campaign-checks", slug)
