"""Trying a judge's prompt: the form is on the prompt's page, what comes of it on a page of its own
that follows it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotations.corpora.queries import select_systems
from workers.judges import trial_actions, trial_queries
from workers.judges.estimates import estimate, estimated
from workers.judges.ledger import balance_of
from workers.judges.models import Trial
from workers.judges.prompt_forms import TrialForm
from workers.judges.prompt_views import organisers_page, prompt_or_404, prompt_page
from workers.judges.run_forms import BudgetForm
from workers.metrics.common.configuration import ConfigurationError, MetricUnavailableError, parse


@require_POST
@organisers_page
def judge_prompt_try(request: HttpRequest, slug: str) -> HttpResponse:
    """Try it on ten rated responses: ``number``, ``ratings``, ``model``, ``scoring``, ``samples``,
    ``seed``, ``tokens``, ``usd``."""
    prompt = prompt_or_404(slug)
    form = TrialForm(prompt, trial_queries.versions_to_try(request.user), request.POST)
    if not form.is_valid() or form.configuration is None:
        return prompt_page(request, prompt, form, 422)
    seed = form.cleaned_data["seed"]
    try:
        trial = trial_actions.start(
            form.wording,
            form.version,
            form.configuration,
            form.aspect,
            seed,
            form.limits,
            request.user,
        )
    except trial_actions.TrialRefused as refusal:
        form.add_error(None, str(refusal))
        return prompt_page(request, prompt, form, 422)
    return redirect("judge-trial", slug, trial.pk)


@require_safe
@organisers_page
def judge_trial(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A trial: prompts, raw answers, scores next to people's; to htmx the part of it that changes,
    or (``estimate=1``) what a run on the corpus would take."""
    trial = _trial_or_404(slug, pk)
    wants_estimate = "estimate" in request.GET
    if request.htmx and wants_estimate:
        return render(request, "judges/_trial_run.html", _run_context(trial))
    if request.htmx:
        return render(request, "judges/_trial.html", _context(trial))
    context = _context(trial) | (_run_context(trial) if wants_estimate else {})
    return render(request, "judges/trial.html", context)


@require_POST
@organisers_page
def judge_trial_stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Stop it."""
    if not trial_actions.stop(_trial_or_404(slug, pk), request.user):
        messages.info(request, _("The trial had ended."))
    return redirect("judge-trial", slug, pk)


@require_POST
@organisers_page
def judge_trial_resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Try again what failed, with another budget if one is given: ``tokens``, ``usd``."""
    trial = _trial_or_404(slug, pk)
    form = BudgetForm(request.POST, budget=trial.budget)
    if not form.is_valid():
        return render(request, "judges/trial.html", _context(trial, form), status=422)
    limits = trial_actions.Limits(form.cleaned_data["tokens"], form.cleaned_data["usd"])
    if not trial_actions.resume(trial, limits, request.user):
        messages.info(request, _("The trial had not failed."))
    return redirect("judge-trial", slug, pk)


def _trial_or_404(slug: str, pk: int) -> Trial:
    found = trial_queries.trials_of(prompt_or_404(slug).pk)
    trial = found.filter(pk=pk).first() if pk < 2**63 else None
    if trial is None:
        raise Http404("there is no such trial")
    return trial


def _context(trial: Trial, budget_form: BudgetForm | None = None) -> dict[str, Any]:
    under_way = trial.state in (Trial.State.PENDING, Trial.State.RUNNING)
    outcome = trial_queries.outcome_of(trial)
    return {
        "section": "judges",
        "trial": trial,
        "prompt": trial.prompt_version.prompt,
        "under_way": under_way,
        "outcome": outcome,
        "agreement": (("Spearman's ρ", outcome.spearman), ("Pearson's r", outcome.pearson)),
        "human_scale": trial_queries.human_scale(trial),
        "judge_scale": trial_queries.judge_scale(trial),
        "waited": (timezone.now() - trial.created_at).total_seconds() if under_way else None,
        "seconds": (trial.finished_at - trial.created_at).total_seconds()
        if trial.finished_at
        else None,
        "unsettled": balance_of(trial.budget).unsettled,
        "budget_form": budget_form or BudgetForm(budget=trial.budget),
    }


def _run_context(trial: Trial) -> dict[str, Any]:
    """Counted when it is asked for: of a large corpus it takes a second or two."""
    try:
        configuration = parse(trial.configuration)
        found = estimate(configuration, trial.version, select_systems(trial.version))
    except (ConfigurationError, MetricUnavailableError) as problem:
        return {"trial": trial, "prompt": trial.prompt_version.prompt, "no_estimate": str(problem)}
    cost = estimated(found, configuration)
    return {"trial": trial, "prompt": trial.prompt_version.prompt, "estimate": cost}
