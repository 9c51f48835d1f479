"""Pages about metrics and the runs that compute them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotations.corpora.queries import select_systems
from annotations.corpora.shortcuts import version_or_404
from annotations.models import CorpusVersion
from common.roles import is_organiser
from common.web import page
from workers.runs import actions, queries
from workers.runs.forms import LONGEST_MORE, ScoreForm
from workers.runs.language_fit import recommended_metrics
from workers.runs.metric_list import (
    SHOWN,
    metric_groups,
    metrics_table,
    not_available_table,
)
from workers.runs.progress import provenance_table
from workers.runs.tables import failed_table, run_progress

LONGEST_SEARCH = 80
SEEN = "X-Seen"
"""What the page that asks again has: see ``Progress.mark``."""


def organisers_action(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A form of the runs page. Who must log in first comes back to that page: an address for forms
    cannot be read."""

    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **arguments: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(reverse("corpus-runs", args=[slug]))
        _organisers_only(request.user)
        return view(request, slug, **arguments)

    return guarded


def _organisers_only(user: Any) -> None:
    if not is_organiser(user):
        raise PermissionDenied("only organisers start and stop metric runs")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics of this installation, by metric type; with ``q`` those that have it in their name
    or description."""
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    table, others = metrics_table(search), not_available_table(search)
    groups = metric_groups(table)
    context = {
        "section": "metrics",
        "table": table,
        "groups": groups,
        "shown": SHOWN,
        "not_available": others,
        "search": search,
    }
    return page(
        request,
        "workers/metrics.html",
        context,
        [table, *(group.table for group in groups), others],
    )


@require_safe
@login_required
def all_runs(request: HttpRequest) -> HttpResponse:
    """Metric runs of all corpora."""
    _organisers_only(request.user)
    return render(
        request,
        "workers/all_runs.html",
        {"section": "runs", "versions": queries.versions_with_run_states()},
    )


@require_safe
def corpus_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Metric runs under way and failed; organisers start more: ``more=`` fills in other
    configurations."""
    version, requested = version_or_404(request, slug), request.GET.get("more", "")[:LONGEST_MORE]
    context = _runs_of(request, version)
    if context["may_manage"]:
        initial: dict[str, object] = {"more": requested}
        # Later, who comes wants one metric more
        if not requested and not context["progress"].configurations:
            initial = {"metrics": recommended_metrics(version)}
        context["form"] = ScoreForm(version, initial=initial)
    else:
        context["form"] = None
    return page(
        request, "workers/corpus_runs.html", context, [context["failures"], context["computed"]]
    )


def _runs_of(request: HttpRequest, version: CorpusVersion) -> dict[str, Any]:
    """How far they are comes first: of what ends while the page is written, the page is still
    told."""
    return {
        "section": "corpora",
        "tab": "runs",
        "version": version,
        "progress": run_progress(version),
        "failures": failed_table(version),
        "computed": provenance_table(version),
        "may_manage": is_organiser(request.user),
    }


@require_safe
def corpus_runs_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the runs page that asks for itself while work is under way; where something has
    ended, what became of it."""
    version = version_or_404(request, slug)
    progress = run_progress(version)
    if request.headers.get(SEEN) == progress.mark:
        return render(request, "workers/_progress.html", {"version": version, "progress": progress})
    # Its tables are arranged, and their links lead, as on the page that it stands on.
    request.path = reverse("corpus-runs", args=[slug])
    address = urlsplit(request.htmx.current_url or "")  # type: ignore[attr-defined]
    request.GET = QueryDict(address.query)
    return render(
        request, "workers/_progress.html", {**_runs_of(request, version), "is_news": True}
    )


@organisers_action
def score(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for metrics: ``metrics`` (names), ``more`` (configurations), ``human`` (the references of
    FBD and PRD: another corpus)."""
    version = version_or_404(request, slug)
    form = ScoreForm(version, request.POST)
    if form.is_valid():
        actions.request(form.cleaned_data["configurations"], select_systems(version))
        return redirect("corpus-runs", slug=slug)
    return render(
        request,
        "workers/corpus_runs.html",
        {**_runs_of(request, version), "form": form},
        status=422,
    )


@organisers_action
def retry_failed(request: HttpRequest, slug: str) -> HttpResponse:
    """Give every failed run new attempts."""
    count = actions.retry_failed(version_or_404(request, slug))
    messages.success(request, f"Runs tried again: {count}.")
    return redirect("corpus-runs", slug=slug)


@organisers_action
def withdraw_waiting(request: HttpRequest, slug: str) -> HttpResponse:
    """Take back the runs that no worker has begun."""
    count = actions.withdraw_waiting(version_or_404(request, slug))
    messages.success(
        request,
        f"Waiting runs taken back: {count}. Runs under way finish; nothing computed is lost.",
    )
    return redirect("corpus-runs", slug=slug)
