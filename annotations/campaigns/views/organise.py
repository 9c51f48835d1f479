"""An organiser's campaigns: the list, one campaign's state, course and invitations, and a look at
what raters will see."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import invitations, setup
from annotations.campaigns.actions.allocation import go_on_to_all
from annotations.campaigns.actions.opening import what_is_missing
from annotations.campaigns.actions.terms import NothingToDo
from annotations.campaigns.campaign_tables import campaigns_table
from annotations.campaigns.certainty_view import certainty_view
from annotations.campaigns.forms.organising import DeleteForm, InvitationForm
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries import overview
from annotations.campaigns.queries.planning import first_item, question_of
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.queries.work_queue import item_view, listed_view, responses_of_list
from annotations.campaigns.question_view import question_previews, tagged
from common.web import page


@require_safe
@organisers_page
def campaigns(request: HttpRequest) -> HttpResponse:
    """All campaigns, how far each is."""
    found = list(overview.campaigns_with_counts())
    table = campaigns_table(found)
    return page(
        request,
        "campaigns/campaigns.html",
        {"section": "campaigns", "campaigns": found, "table": table},
        [table],
    )


@require_safe
@organisers_page
def campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """One campaign: next step, progress, expected end, links for raters. Its own repeated question
    gets only the part that changes while raters work."""
    one = campaign_or_404(slug)
    if request.htmx:
        return render(request, "campaigns/_progress.html", _progress_context(one))
    return render(request, "campaigns/campaign.html", overview_context(request, one))


def overview_context(
    request: HttpRequest, one: Campaign, invitation_form: InvitationForm | None = None
) -> dict[str, Any]:
    links = [
        (
            invitation,
            request.build_absolute_uri(reverse("campaign-join", args=[invitation.token])),
            overview.why_unusable(invitation),
        )
        for invitation in overview.invitations_of(one)
    ]
    context = _progress_context(one)
    steps = overview.steps_of(one, context["progress"])
    return {
        **context,
        "section": "campaigns",
        "tab": "overview",
        "steps": steps,
        "next_step": next((step for step in steps if step.is_next), None),
        "missing": what_is_missing(one) if one.state == Campaign.State.DRAFT else [],
        "links": links,
        "groups": list(one.groups.all()),
        "invitation_form": invitation_form or InvitationForm(),
        "delete_form": DeleteForm(),
        "has_answers": overview.has_answers(one),
        "plan": overview.plan_of_campaign(one) if one.state == Campaign.State.DRAFT else None,
    }


def _progress_context(one: Campaign) -> dict[str, Any]:
    progress = overview.progress_of(one)
    return {
        "campaign": one,
        "progress": progress,
        "certainty": certainty_view(one, progress.wanted),
        "people": overview.people_of(one),
        "percent": None if progress.share is None else int(100 * progress.share),
        "is_running": one.state == Campaign.State.OPEN and progress.left > 0,
    }


@require_safe
@organisers_page
def campaign_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """The dry run: items × k, hours."""
    one = campaign_or_404(slug)
    plan = overview.plan_of_campaign(one)
    template = "campaigns/_plan.html" if request.htmx else "campaigns/plan.html"
    return render(
        request, template, {"section": "campaigns", "tab": "plan", "campaign": one, "plan": plan}
    )


@require_safe
@organisers_page
def campaign_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """An item as raters see it. Nothing is stored, and no rater gets it because of this."""
    one = campaign_or_404(slug)
    item = None if one.kind == Campaign.Kind.COLLECTION else first_item(question_of(one))
    if item is not None:
        item.campaign = one
    form = form_of_campaign(one)
    view = None if item is None else item_view(item)
    if view is not None and item is not None and one.kind == Campaign.Kind.SYSTEMS:
        view = listed_view(view, item, responses_of_list(item))
    listed = 0 if view is None else view.listed
    questions = [] if form is None else question_previews(form, listed)
    context = {
        "section": "campaigns",
        "tab": "preview",
        "campaign": one,
        "view": None if view is None else tagged(view, questions),
        "questions": questions,
        "scale": list(enumerate(one.scale_labels, start=1)),
    }
    return render(request, "campaigns/preview.html", context)


STEPS = {
    "open": setup.open_campaign,
    "pause": setup.pause,
    "resume": setup.resume,
    "close": setup.close,
    "all": go_on_to_all,
}


@require_POST
@organisers_page
def campaign_state(request: HttpRequest, slug: str) -> HttpResponse:
    """``to``: ``open``, ``pause``, ``resume``, ``close``, or ``all`` to go on past a met target."""
    one = campaign_or_404(slug)
    requested = request.POST.get("to", "")
    if requested not in STEPS:
        messages.error(request, _("There is no such step; nothing was changed."))
        return redirect("campaign", slug)
    try:
        outcome = STEPS[requested](one, by=request.user)
    except (setup.NotReady, setup.WrongState, NothingToDo) as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign", slug)
    messages.success(request, _what_happened(requested, outcome))
    return redirect("campaign", slug)


def _what_happened(step: str, outcome: Any) -> str:
    if step == "open":
        if not outcome.items:
            return _("The campaign is open. Raters can meet and write.")
        return _("The campaign is open: %(items)s items, %(slots)s ratings wanted.") % {
            "items": f"{outcome.items:,}",
            "slots": f"{outcome.slots:,}",
        }
    return {
        "pause": _("Paused. Raters get no more items; they may finish those they have open."),
        "resume": _("Open again."),
        "all": _("Raters get items again, until all are rated."),
        "close": _("Closed. Raters get no more items; they may finish those they have open."),
    }[step]


@require_POST
@organisers_page
def campaign_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it; ``slug`` typed where raters have answered."""
    one = campaign_or_404(slug)
    form = DeleteForm(request.POST)
    typed = form.cleaned_data["slug"] if form.is_valid() else ""
    try:
        setup.delete(one, typed, by=request.user)
    except setup.CannotDelete as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign", slug)
    messages.success(request, _("The campaign %(name)s is deleted.") % {"name": one.name})
    return redirect("campaigns")


@require_POST
@organisers_page
def campaign_invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a link: ``note``, ``most_uses``, ``expires_at``."""
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
