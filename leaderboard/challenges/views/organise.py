"""Setting up a challenge: the first form, the page of its settings and steps, its rules."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from annotations.campaigns.markdown import to_html
from leaderboard.challenges.access import challenge_or_404, organisers_page, team_of
from leaderboard.challenges.actions import setup
from leaderboard.challenges.actions.judge_budget import set_judge_budget
from leaderboard.challenges.actions.plan import create_from_plan, rules_to_start_from
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.forms.challenge import ChallengeForm, DeleteForm, RulesForm
from leaderboard.challenges.models import Challenge
from leaderboard.challenges.queries import judge_budget, organising
from workers.judges.budgets import spent_figures
from workers.judges.run_forms import BudgetForm


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def challenge_new(request: HttpRequest) -> HttpResponse:
    """Set up a challenge, empty or from the CPD challenge's plan."""
    form = ChallengeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            challenge = _made(form, request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(
                request, _("The draft is stored. Only organisers see it until you open it.")
            )
            return redirect("challenge-settings", challenge.slug)
    context = {"section": "challenges", "form": form}
    return render(request, "challenges/new.html", context, status=422 if form.is_bound else 200)


def _made(form: ChallengeForm, by: Any) -> Challenge:
    if form.cleaned_data["use_plan"]:
        return create_from_plan(
            form.params(), form.cleaned_data["practice"], form.cleaned_data["test"], by
        )
    return setup.create(form.params(), by)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def challenge_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Name, address, team size; the rounds; what is missing, what is next."""
    challenge = challenge_or_404(request.user, slug)
    form = ChallengeForm(request.POST or None, challenge=challenge)
    if request.method == "POST" and form.is_valid():
        try:
            challenge = setup.edit(challenge, form.params(), request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(request, _("The settings are stored."))
            return redirect("challenge-settings", challenge.slug)
    return _settings_page(request, challenge, form)


def _settings_page(
    request: HttpRequest,
    challenge: Challenge,
    form: ChallengeForm,
    budget_form: BudgetForm | None = None,
) -> HttpResponse:
    lines = organising.round_rows(challenge)
    steps = organising.steps_of(challenge, lines)
    context = {
        **frame(request, challenge, "settings"),
        "form": form,
        "rounds": lines,
        "steps": steps,
        "missing": organising.missing_for_opening(challenge),
        "delete_form": DeleteForm(),
        "has_teams": challenge.teams.exists(),
        "has_submissions": any(line.submissions for line in lines),
        "budget": (budget := judge_budget.judge_budget(challenge)),
        "budget_figures": [] if budget.budget is None else spent_figures(budget.budget),
        "budget_form": budget_form or BudgetForm(budget=budget.budget),
    }
    is_wrong = form.is_bound or budget_form is not None
    return render(request, "challenges/settings.html", context, status=422 if is_wrong else 200)


@require_POST
@organisers_page
def challenge_judge_budget(request: HttpRequest, slug: str) -> HttpResponse:
    """What judging its submissions may cost: ``tokens``, ``usd``; empty: no limit."""
    challenge = challenge_or_404(request.user, slug)
    form = BudgetForm(request.POST, budget=judge_budget.judge_budget(challenge).budget)
    if form.is_valid():
        params = form.cleaned_data
        try:
            set_judge_budget(challenge, params["tokens"], params["usd"], request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            messages.success(request, _("The judges' budget is stored."))
            return redirect(reverse("challenge-settings", args=[slug]) + "#judge-budget")
    return _settings_page(request, challenge, ChallengeForm(challenge=challenge), form)


FLASH_MESSAGES = {
    "open": gettext_lazy("The challenge is open. Everybody sees it and can make a team."),
    "close": gettext_lazy(
        "The challenge is closed. No more submissions are accepted; results stay."
    ),
    "draft": gettext_lazy("A draft again. Only organisers see it."),
}


@require_POST
@organisers_page
def challenge_state(request: HttpRequest, slug: str) -> HttpResponse:
    """``to``: ``open``, ``close`` or ``draft``."""
    challenge = challenge_or_404(request.user, slug)
    to = request.POST.get("to", "")
    if to not in setup.STEPS:
        messages.error(request, _("There is no such step; nothing was changed."))
        return redirect("challenge-settings", slug)
    try:
        setup.step(challenge, to, request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, FLASH_MESSAGES[to])
    return redirect("challenge-settings", slug)


@require_POST
@organisers_page
def challenge_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it where nothing was submitted; ``slug`` typed where there are teams."""
    challenge = challenge_or_404(request.user, slug)
    form = DeleteForm(request.POST)
    typed = form.cleaned_data["slug"] if form.is_valid() else ""
    try:
        setup.delete(challenge, typed, request.user)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("challenge-settings", slug)
    messages.success(request, _("The challenge %(name)s is deleted.") % {"name": challenge.name})
    return redirect("challenges")


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def challenge_rules_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Write the rules (``text``), look at them (``preview``). The page's own question, while one
    types, gets only the text as teams will see it."""
    challenge = challenge_or_404(request.user, slug)
    start = challenge.rules or rules_to_start_from()
    form = RulesForm(request.POST or None, initial={"text": start})
    is_preview = "preview" in request.POST
    if request.method == "POST" and form.is_valid() and not is_preview:
        is_new = setup.write_rules(challenge, form.cleaned_data["text"], request.user)
        messages.success(
            request, _("The rules are stored.") if is_new else _("Nothing was changed.")
        )
        return redirect("challenge-settings", slug)
    shown = form.cleaned_data.get("text", "") if form.is_bound and form.is_valid() else start
    context = {
        **frame(request, challenge, "settings"),
        "form": form,
        "html": to_html(shown),
        "is_a_start": not challenge.rules,
    }
    if request.htmx:
        return render(request, "challenges/_rules_preview.html", context)
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "challenges/rules_edit.html", context, status=status)


def frame(request: HttpRequest, challenge: Challenge, tab: str) -> dict[str, Any]:
    """What ``challenge_base.html`` asks for."""
    return {
        "section": "challenges",
        "challenge": challenge,
        "tab": tab,
        "own_team": team_of(request.user, challenge),
    }


def show_refusal(form: Any, refusal: Refused) -> None:
    form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
