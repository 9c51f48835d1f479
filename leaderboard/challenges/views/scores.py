"""Metric scores: the page that says what to hand in and takes it, the template, and taking a metric
back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.corpora import shortcuts
from annotations.corpora.queries import shown_systems, visible_corpora
from annotations.models import CorpusVersion
from common import web
from common.file_bodies import takes_file
from common.web import login_needed, wants_json
from leaderboard.challenges.actions.receiving import NotTaken, Received
from leaderboard.challenges.actions.scores import (
    NotYours,
    duplicate_file_message,
    may_withdraw,
    receive_scores,
    withdraw,
)
from leaderboard.challenges.files.scores import COLUMNS_OF_LEVEL
from leaderboard.challenges.forms.scores import HIGHER, LEVELS, ScoresForm, WithdrawalForm
from leaderboard.challenges.queries import scores as queries
from leaderboard.challenges.score_tables import submitted_metrics_table
from leaderboard.challenges.upload_answers import field_of, status_of, taken
from leaderboard.challenges.uploads import uploaded
from leaderboard.models import SubmittedMetric
from leaderboard.queries import rated_levels

CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def _log_in_first(request: HttpRequest, slug: str) -> HttpResponse | None:
    shortcuts.version_or_404(request, slug)
    if request.user.is_authenticated:
        return None
    return (
        login_needed()
        if wants_json(request)
        else redirect_to_login(reverse("metric-scores", args=[slug]))
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes_file(_log_in_first)
def metric_scores(request: HttpRequest, slug: str) -> HttpResponse:
    """Metrics' scores that were submitted; POST, logged in: ``file``, ``name``, ``level``,
    ``direction``, ``link``."""
    version = shortcuts.version_or_404(request, slug)
    if request.method == "POST":
        return _log_in_first(request, slug) or _hand_in(request, version)
    context = _context(request, version)
    return web.page(request, "challenges/metric_scores.html", context, [context["table"]])


def _context(
    request: HttpRequest, version: CorpusVersion, form: ScoresForm | None = None
) -> dict[str, Any]:
    metrics = queries.submitted_metrics(version)
    page = reverse("metric-scores", args=[version.corpus.slug])
    user = request.user
    return {
        "section": "corpora",
        "tab": "metrics",
        "version": version,
        "form": form or ScoresForm(),
        "takes_scores": queries.takes_scores(version),
        "has_systems": shown_systems(version).exists(),
        "files_left": queries.score_files_left(user, timezone.now())
        if user.is_authenticated
        else 0,
        "files_a_day": settings.SCORE_FILES_PER_DAY,
        "action": f"{page}?version={version.number}",
        "largest_bytes": settings.MAX_UPLOAD_BYTES,
        "largest_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "levels": [(key, label, ", ".join(COLUMNS_OF_LEVEL[key])) for key, label in LEVELS],
        "under_way": queries.files_under_way(version, user),
        "metrics": metrics,
        "withdrawable": [
            (one, WithdrawalForm(auto_id=f"%s-{one.pk}"))
            for one in metrics
            if may_withdraw(one, user)
        ],
        "table": submitted_metrics_table(
            version,
            metrics,
            shown_systems(version).count(),
            bool(rated_levels(version, version.main_aspect)),
        ),
    }


def _hand_in(request: HttpRequest, version: CorpusVersion) -> HttpResponse:
    """A page that sent the file by itself, to show how far it is, asks for JSON and goes where it
    says."""
    form = ScoresForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refused(request, version, form, 422)
    try:
        received = _take(request, version, form)
    except NotTaken as refusal:
        form.add_error(field_of(refusal), refusal.message)
        return _refused(request, version, form, status_of(refusal))
    return _taken(request, received)


def _take(request: HttpRequest, version: CorpusVersion, form: ScoresForm) -> Received:
    return receive_scores(
        version,
        request.user,
        name=form.cleaned_data["name"],
        level=form.cleaned_data["level"],
        higher_is_better=form.cleaned_data["direction"] == HIGHER,
        link=form.cleaned_data["link"],
        upload=uploaded(form.cleaned_data["file"]),
    )


def _taken(request: HttpRequest, received: Received) -> HttpResponse:
    return taken(request, received, duplicate_file_message())


def _refused(
    request: HttpRequest, version: CorpusVersion, form: ScoresForm, status: int
) -> HttpResponse:
    if wants_json(request):
        errors = [
            {"field": field, "message": text}
            for field, texts in form.errors.items()
            for text in texts
        ]
        return JsonResponse({"errors": errors}, status=status)
    return render(
        request, "challenges/metric_scores.html", _context(request, version, form), status=status
    )


@require_safe
def template(request: HttpRequest, slug: str) -> HttpResponse:
    """A file of scores to fill in: ``level`` is ``turn`` (without it), ``dialogue`` or ``system``;
    ``format`` ``csv`` (without it) or ``jsonl``."""
    version = shortcuts.version_or_404(request, slug)
    level, format = request.GET.get("level", "turn"), request.GET.get("format", "csv")
    if level not in COLUMNS_OF_LEVEL or format not in CONTENT_TYPES:
        raise Http404("templates are of turns, dialogues or systems, as csv or jsonl")
    response = StreamingHttpResponse(
        queries.template_of_scores(version, level, format), content_type=CONTENT_TYPES[format]
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-{level}-scores.{format}"'
    return response


@require_POST
def withdraw_metric(request: HttpRequest, pk: int) -> HttpResponse:
    """``reason``: it is no longer on any leaderboard."""
    metric = (
        SubmittedMetric.objects.select_related("version__corpus", "owner").filter(pk=pk).first()
    )
    if (
        metric is None
        or not visible_corpora(request.user).filter(pk=metric.version.corpus_id).exists()
    ):
        raise Http404("there is no such metric")
    page = reverse("metric-scores", args=[metric.version.corpus.slug])
    address = f"{page}?version={metric.version.number}"
    if not request.user.is_authenticated:
        return redirect_to_login(address)
    form = WithdrawalForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(text for texts in form.errors.values() for text in texts))
        return redirect(address)
    try:
        withdrawn = withdraw(metric, request.user, form.cleaned_data["reason"])
    except NotYours:
        raise PermissionDenied(_("only its owner and organisers may withdraw a metric")) from None
    if withdrawn:
        messages.success(
            request, _("%(name)s is withdrawn. Its name is free again.") % {"name": metric.name}
        )
    return redirect(address)
