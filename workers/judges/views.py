"""The judges of a corpus: which there are, how far they are, what they cost; and letting one loose
on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotations.corpora.queries import select_systems
from annotations.corpora.shortcuts import version_or_404
from annotations.models import CorpusVersion
from common.roles import is_organiser
from common.web import page
from workers.judges import actions
from workers.judges.budgets import judge_run_of
from workers.judges.core.dialects import Dialect
from workers.judges.core.model_caveats import caveat_of
from workers.judges.estimates import budget_to_start_from, estimate, estimated, why_no_usd
from workers.judges.models import EndpointDialect, JudgeRun
from workers.judges.progress import JudgeProgress, judge_lines
from workers.judges.run_forms import BudgetForm, JudgeForm, judges
from workers.judges.tables import address_of, judges_table
from workers.metrics.common.configuration import (
    LONGEST,
    Configuration,
    ConfigurationError,
    MetricUnavailableError,
    parse,
)


def organisers_form(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Who must log in first comes back to the page of judges."""

    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, slug: str) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(reverse("judge-runs", args=[slug]))
        if not is_organiser(request.user):
            raise PermissionDenied("only organisers start and stop judges")
        return view(request, version_or_404(request, slug))

    return guarded


# --- reading --------------------------------------------------------------------------------------


@require_safe
def judge_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Its judges: how far they are, what has a score; organisers see costs and start more;
    ``metric=`` one judge."""
    version = version_or_404(request, slug)
    requested = _configuration(request)
    lines = judge_lines(version, budgets=is_organiser(request.user))
    chosen = _judge_named(requested)
    if requested and chosen is None and requested not in [one.configuration for one in lines]:
        raise Http404("there is no such judge")
    form = JudgeForm(version, chosen=chosen) if is_organiser(request.user) else None
    return _page(request, version, lines, form, requested)


@require_safe
def judge_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of a judge's card that asks for itself while it is at work: ``metric``."""
    version = version_or_404(request, slug)
    requested = _configuration(request)
    found = (
        judge_lines(version, only=requested, budgets=is_organiser(request.user))
        if requested
        else []
    )
    line = found[0] if found else None
    return render(request, "judges/_run_progress.html", {"version": version, "line": line})


def _page(
    request: HttpRequest,
    version: CorpusVersion,
    lines: list[JudgeProgress],
    form: JudgeForm | None,
    requested: str = "",
    **more: Any,
) -> HttpResponse:
    may_start = is_organiser(request.user)
    table = judges_table(version, lines, with_money=may_start)
    wrong = {"budget_of": "", "budget_form": None, **more}
    shown = [
        one
        for one in lines
        if one.configuration in (requested, wrong["budget_of"]) or one.state != "done"
    ]
    context = {
        "section": "corpora",
        "tab": "judges",
        "version": version,
        "lines": lines,
        "cards": [_card(one, may_start, wrong) for one in shown],
        "table": table,
        "form": form,
        "dialects": [
            (row, Dialect.from_json(row.facts).sentences())
            for row in EndpointDialect.objects.order_by("address", "model")
            if may_start
        ],
        "weak_judge": next(
            (one.configuration for one in lines if one.done and caveat_of(one.known)), ""
        ),
        **more,
    }
    is_wrong = form is not None and bool(form.errors)
    answer = page(request, "judges/runs.html", context, [table])
    if is_wrong or wrong["budget_form"] is not None or more.get("has_errors"):
        answer.status_code = 422
    return answer


def _card(line: JudgeProgress, may_start: bool, wrong: dict[str, Any]) -> dict[str, Any]:
    if not may_start:
        return {"line": line}
    form = wrong["budget_form"] if wrong["budget_of"] == line.configuration else None
    return {"line": line, "budget_form": form or _budget_form(line)}


def _budget_form(line: JudgeProgress, data: Any = None) -> BudgetForm:
    return BudgetForm(
        data, budget=line.budget, why_no_usd=why_no_usd(line.model), auto_id=f"id_{line.anchor}_%s"
    )


# --- starting -------------------------------------------------------------------------------------


@organisers_form
def judge_estimate(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """The page again, or for htmx its form alone, with what a judge would take: ``judge``,
    ``model``, ``other_model``, ``scoring``, ``samples``, ``temperature``, ``prompt``, ``more``.
    Nothing is asked or stored."""
    form = JudgeForm(version, request.POST)
    more = _estimated(version, form) if form.is_valid() else {}
    return _start_form(request, version, form, **more)


@organisers_form
def judge_start(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """Start it: the same, ``estimated`` (the configuration whose estimate was shown), ``tokens``,
    ``usd``."""
    form = JudgeForm(version, request.POST)
    if not form.is_valid():
        return _start_form(request, version, form)
    configuration: Configuration = form.cleaned_data["configuration"]
    if request.POST.get("estimated") != configuration.text:
        return _start_form(
            request, version, form, is_new_estimate=True, **_estimated(version, form)
        )
    limits = BudgetForm(
        request.POST,
        budget=_budget_of(version, configuration),
        why_no_usd=why_no_usd(str(configuration.options["model"])),
    )
    if not limits.is_valid():
        more = _estimated(version, form) | {"limits": limits, "has_errors": True}
        return _start_form(request, version, form, **more)
    try:
        actions.start_judge_run(
            version,
            configuration,
            select_systems(version),
            limits.cleaned_data["tokens"],
            limits.cleaned_data["usd"],
            request.user,
        )
    except actions.Refused as refusal:
        limits.add_error(refusal.field or None, str(refusal.message))
        more = _estimated(version, form) | {"limits": limits, "has_errors": True}
        return _start_form(request, version, form, **more)
    return redirect(address_of(version, configuration.text))


def _start_form(
    request: HttpRequest, version: CorpusVersion, form: JudgeForm, **more: Any
) -> HttpResponse:
    if request.htmx:
        return render(
            request, "judges/_start_form.html", {"version": version, "form": form, **more}
        )
    return _page(request, version, judge_lines(version), form, **more)


def _estimated(version: CorpusVersion, form: JudgeForm) -> dict[str, Any]:
    """Of a valid form; nothing, and an error of the form, where the judge cannot be had after
    all."""
    configuration: Configuration = form.cleaned_data["configuration"]
    budget = _budget_of(version, configuration)
    try:
        found = estimate(configuration, version, select_systems(version))
    except MetricUnavailableError as problem:
        form.add_error(None, str(problem))
        return {}
    return {
        "configuration": configuration,
        "estimate": estimated(found, configuration),
        "limits": BudgetForm(
            initial=budget_to_start_from(configuration, budget),
            why_no_usd=why_no_usd(str(configuration.options["model"])),
        ),
        "budget": budget,
    }


def _budget_of(version: CorpusVersion, configuration: Configuration) -> Any:
    found = (
        JudgeRun.objects.filter(version=version, configuration=configuration.text)
        .select_related("budget")
        .first()
    )
    return None if found is None else found.budget


# --- while it runs --------------------------------------------------------------------------------


@organisers_form
def judge_stop(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """Stop the judge ``metric``; what was answered is kept."""
    line = _row_or_404(request, version)
    if actions.stop(_run_of(line, version), request.user):
        messages.success(request, f"{line.configuration} is stopped. What was answered is kept.")
    else:
        messages.info(
            request, f"Nothing of {line.configuration} was under way; nothing was changed."
        )
    return redirect(address_of(version, line.configuration))


@organisers_form
def judge_resume(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """Let the judge ``metric`` go on where it was."""
    line = _row_or_404(request, version)
    if line.known is None:
        messages.error(
            request, f"{line.configuration} is not known here any more; nothing was changed."
        )
        return redirect(address_of(version, line.configuration))
    run = _run_of(line, version)
    if line.state == "incomplete":  # systems that came after it was started
        limits = run.budget.tokens_limit, run.budget.cost_limit
        actions.start_judge_run(version, line.known, select_systems(version), *limits, request.user)
    else:
        actions.resume(run, request.user)
    messages.success(
        request, f"{line.configuration} goes on. What was answered is not asked again."
    )
    return redirect(address_of(version, line.configuration))


@organisers_form
def judge_budget(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """Set the limits of the judge ``metric``: ``tokens``, ``usd``; with ``resume`` let it go on,
    too."""
    line = _row_or_404(request, version)
    form = _budget_form(line, request.POST)
    if form.is_valid():
        limits = form.cleaned_data
        try:
            actions.set_budget(
                _run_of(line, version), limits["tokens"], limits["usd"], request.user
            )
        except actions.Refused as refusal:
            form.add_error(refusal.field or None, str(refusal.message))
        else:
            if "resume" in request.POST and line.may_resume:
                return judge_resume(request, version.corpus.slug)
            messages.success(request, "The budget is stored.")
            return redirect(address_of(version, line.configuration))
    form_to_start = JudgeForm(version, chosen=line.known)
    requested = line.configuration
    return _page(
        request,
        version,
        judge_lines(version),
        form_to_start,
        requested,
        budget_of=requested,
        budget_form=form,
    )


@organisers_form
def judge_forget(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """Forget what was learned of the ``model`` at the endpoint ``address``."""
    address, model = (_text(request.POST.get(name, "")) for name in ("address", "model"))
    if not actions.forget_dialect(address, model, request.user):
        raise Http404("nothing is known of such an endpoint")
    messages.success(
        request, f"What was learned of {model} is forgotten: its next run learns it again."
    )
    return redirect(reverse("judge-runs", args=[version.corpus.slug]))


def _row_or_404(request: HttpRequest, version: CorpusVersion) -> JudgeProgress:
    """The judge that the form names."""
    named = _text(request.POST.get("metric", ""))
    found = judge_lines(version, only=named) if named else []
    if not found:
        raise Http404("there is no such judge")
    return found[0]


def _run_of(line: JudgeProgress, version: CorpusVersion) -> JudgeRun:
    """Made, with the site's default budget, where nobody named one yet."""
    return line.run or judge_run_of(version.pk, line.configuration)


def _configuration(request: HttpRequest) -> str:
    return _text(request.GET.get("metric", ""))


def _text(written: str) -> str:
    """As a configuration may stand in the database."""
    return written.replace("\0", "")[:LONGEST]


def _judge_named(written: str) -> Configuration | None:
    if not written:
        return None
    try:
        configuration = parse(written)
    except ConfigurationError:
        return None
    return configuration if configuration.metric.name in judges() else None
