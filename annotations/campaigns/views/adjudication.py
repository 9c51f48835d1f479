"""The organiser's queue of items whose raters differ, and the decision on one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import adjudication as actions
from annotations.campaigns.adjudication_tables import answers_table, queue_table
from annotations.campaigns.forms.adjudication import DecidedScoreForm, RuleForm
from annotations.campaigns.forms.answers import AnswersForm
from annotations.campaigns.forms.rating import JudgementForm
from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.plan.adjudication import agreed
from annotations.campaigns.queries import adjudication as queries
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.queries.work_queue import item_view
from annotations.campaigns.question_view import material_of, question_views, tagged
from annotations.campaigns.views.rating_start import scale_of
from common.web import page

ITEMS_A_PAGE = 100


def _campaign(slug: str) -> Campaign:
    campaign = campaign_or_404(slug)
    if campaign.kind not in queries.ADJUDICATED_KINDS:
        raise Http404("only responses and dialogues that several raters judge are adjudicated")
    return campaign


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Items whose raters differ, 100 a ``page``; POST stores the rule (``points``)."""
    campaign = _campaign(slug)
    rule = getattr(campaign, "adjudication_rule", None)
    form = RuleForm(
        request.POST or None,
        initial={
            "points": f"{queries.points_of(campaign) or 2:g}",
            "by_raters": rule is not None and rule.by_raters,
        },
    )
    if request.method == "POST" and form.is_valid():
        actions.set_rule(campaign, **form.cleaned_data, by=request.user)
        messages.success(request, _("The rule is stored."))
        return redirect("campaign-adjudication", slug)
    found = queries.differing_items(campaign)
    shown = Paginator(found, ITEMS_A_PAGE).get_page(request.GET.get("page"))
    table = queue_table(campaign, shown)
    context = {
        "section": "campaigns",
        "tab": "ratings",
        "campaign": campaign,
        "form": form,
        "points": queries.points_of(campaign),
        "page": shown,
        "table": table,
        "left": sum(not one.is_adjudicated for one in found),
        "decided": sum(one.is_adjudicated for one in found),
    }
    if form.is_bound:
        return render(request, "campaigns/adjudication.html", context, status=422)
    return page(request, "campaigns/adjudication.html", context, [table])


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def decide(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """One item, blind, with what each rater answered; POST decides it, with ``withdraw`` it is
    undecided again."""
    campaign = _campaign(slug)
    item = (
        campaign.items.filter(public_id=public_id, role=Item.Role.REGULAR)
        .select_related("dialogue", "turn", "response", "response_b", "adjudication")
        .first()
    )
    found = queries.differing_items(campaign, public_id) if item is not None else []
    if item is None or not found:
        raise Http404("the raters of no such item differ by the rule")
    view = item_view(item)
    form: JudgementForm | None = None
    refused = ""
    if request.method == "POST":
        if "withdraw" in request.POST:
            return _withdrawn(request, campaign, public_id)
        form = _form(request, campaign, view)
        if form.is_valid():
            try:
                return _decided(request, campaign, public_id, form)
            except actions.DecidedMeanwhile as meanwhile:
                refused = str(meanwhile)
                item.refresh_from_db()
    decided = getattr(item, "adjudication", None)
    schema = form_of_campaign(campaign)
    given, faults = _start(found[0], decided), {}
    if isinstance(form, AnswersForm):
        given, faults = form.raw, form.faults
    questions = []
    if schema is not None:
        texts = material_of(view).utterances
        questions = question_views(schema, given, faults, texts)
    table = answers_table(found[0], schema)
    context = {
        "section": "campaigns",
        "tab": "ratings",
        "campaign": campaign,
        "view": tagged(view, questions),
        "table": table,
        "questions": questions,
        "form_number": campaign.form.number if campaign.form else None,
        "scale": scale_of(campaign),
        "score": given.get(queries.SCORE),
        "comment": decided.comment if decided else "",
        "decided": decided,
        "seen": actions.state_of(decided),
        "errors": [] if form is None else [one for found in form.errors.values() for one in found],
    }
    if refused and form is not None:
        judged = form.judgement()
        context |= {"errors": [refused], "score": judged.score, "comment": judged.comment}
        return render(request, "campaigns/adjudicate.html", context, status=409)
    if form is not None:
        return render(request, "campaigns/adjudicate.html", context, status=422)
    return page(request, "campaigns/adjudicate.html", context, [table])


def _form(request: HttpRequest, campaign: Campaign, view: Any) -> JudgementForm:
    if campaign.form_id is None:
        return DecidedScoreForm(campaign, request.POST)
    return AnswersForm(campaign, request.POST, material=lambda: material_of(view))


def _start(found: queries.DifferingItem, decided: Any) -> dict[str, Any]:
    """What was decided, else what all raters answered alike."""
    if decided is None:
        return agreed(list(found.answers.values()))
    return {queries.SCORE: decided.score} if decided.answers is None else decided.answers


def _decided(
    request: HttpRequest, campaign: Campaign, public_id: str, form: JudgementForm
) -> HttpResponse:
    judged = form.judgement()
    try:
        actions.adjudicate(
            campaign,
            public_id,
            score=judged.score,
            form=judged.form,
            answers=judged.answers,
            comment=judged.comment,
            seen=request.POST.get("seen"),
            by=request.user,
        )
    except actions.DecidedMeanwhile:
        raise
    except actions.CannotAdjudicate as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The item is adjudicated."))
    return redirect("campaign-adjudication", campaign.slug)


def _withdrawn(request: HttpRequest, campaign: Campaign, public_id: str) -> HttpResponse:
    try:
        actions.withdraw(campaign, public_id, seen=request.POST.get("seen"), by=request.user)
    except actions.CannotAdjudicate as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("The decision is withdrawn."))
    return redirect("campaign-adjudication", campaign.slug)
