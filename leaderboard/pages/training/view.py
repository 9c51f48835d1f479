"""Pages of training runs: the list with the form that starts one, and one run that renews itself.
They stand here and not in ``workers``, because they draw figures."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.corpora.queries import newest_visible_versions
from common.web import organisers_page, page
from leaderboard.pages.training.curves import figures_of
from workers.runs.metric_list import page_of
from workers.runs.progress import duration
from workers.training import actions, queries
from workers.training.forms import TrainingForm
from workers.training.models import Training

_SHOWN_FIGURES = ("R@1", "MRR", "KL")
"""Of what was measured on validation data, what a line of the list says."""

for_organisers = organisers_page("trainings", "only organisers train models")


@require_http_methods(["GET", "HEAD", "POST"])
@for_organisers
def trainings(request: HttpRequest) -> HttpResponse:
    """Trainings of metrics' models; the form starts one: ``name``, ``recipe``, ``corpus``,
    ``overlap``, ``encoder``, ``epochs``, ``seconds``, ``negatives``, ``contrastive``,
    ``pairs_an_epoch``, ``freeze``, ``seed``."""
    form = TrainingForm(request.user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        params = form.cleaned_data
        try:
            training = actions.start(
                params["name"], params["recipe"], form.source, form.chosen, params["seed"],
                params["overlap"], request.user, check=False,
            )  # fmt: skip
            return redirect("training", training.name)
        except actions.Refused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
    rows = [(one, queries.data_text(one), text_of(one)) for one in queries.trainings()]
    context = {"section": "trainings", "rows": rows, "form": form}
    return render(
        request, "leaderboard/trainings.html", context, status=422 if form.errors else 200
    )


@require_safe
@for_organisers
def training(request: HttpRequest, slug: str) -> HttpResponse:
    """One training: progress, losses and figures, overlap, settings, the metrics that it makes; to
    htmx how far it is, with ``part=figures`` its curves; ``download=losses-data.csv``,
    ``validations-data.csv``, of CMN also ``latent-data.csv`` and ``bound-data.csv``."""
    found = training_or_404(slug)
    figures = figures_of(found)
    context = {
        "section": "trainings",
        "training": found,
        "data": queries.data_text(found),
        "said": text_of(found),
        "figures": figures,
        **_may(found),
        **_came(found, request.user),
    }
    if request.htmx:
        part = "_training_figures" if request.GET.get("part") == "figures" else "_training"
        answer = render(request, f"leaderboard/{part}.html", context)
        if not context["under_way"]:
            answer["HX-Refresh"] = "true"  # all of the page says something else now
        return answer
    return page(request, "leaderboard/training.html", context, [one.points for one in figures])


def _may(found: Training) -> dict[str, Any]:
    """What may be done next, and what there is to know before."""
    ended_early = found.state in (Training.State.STOPPED, Training.State.FAILED)
    under_way = found.state in queries.UNDER_WAY
    return {
        "under_way": under_way,
        "can_go_on": ended_early,
        "has_checkpoint": ended_early and queries.has_checkpoint(found),
        "is_silent": found.state == Training.State.RUNNING
        and found.lease_expires_at < timezone.now(),
        "settings": [
            (name.replace("_", " "), value) for name, value in sorted(found.chosen.items())
        ],
        "scores": 0 if under_way else actions.scores_with(found.name),
    }


def _came(found: Training, user: Any) -> dict[str, Any]:
    """Of a training that is done: figures, metrics with their pages, and corpora to score with
    them."""
    if found.state != Training.State.DONE:
        return {}
    names = queries.metrics_of(found)
    requested = urlencode({"more": ",".join(names)})
    visible = {one.pk for one in newest_visible_versions(user)}
    return {
        "best": queries.best_figures(found),
        "time_taken": duration(found.progress.get("seconds") or 0),
        "is_gone": queries.model_of(found.name) is None,
        "metrics": [(one, f"{page_of(one)}?{urlencode({'configuration': one})}") for one in names],
        "corpora": [
            (version, f"{reverse('corpus-runs', args=[version.corpus.slug])}?{requested}")
            for version in queries.evaluation_versions()
            if version.pk in visible
        ],
    }


@require_POST
@for_organisers
def training_stop(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop it at a checkpoint."""
    if not actions.stop(training_or_404(slug), request.user):
        messages.info(request, "The training had ended.")
    return redirect("training", slug)


@require_POST
@for_organisers
def training_go_on(request: HttpRequest, slug: str) -> HttpResponse:
    """Let a stopped or failed one go on at its last checkpoint."""
    if not actions.go_on(training_or_404(slug), request.user):
        messages.info(request, "The training was neither stopped nor had it failed.")
    return redirect("training", slug)


@require_POST
@for_organisers
def training_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it with checkpoints and model, with ``sure=yes``; not while it trains, nor while
    metric runs or a round need it."""
    training_or_404(slug)
    if request.POST.get("sure") != "yes":
        messages.error(request, "Nothing was deleted: tick the box to say that you mean it.")
        return redirect("training", slug)
    try:
        actions.delete(slug, request.user)
    except actions.Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("training", slug)
    messages.success(request, f"{slug} is deleted.")
    return redirect("trainings")


def training_or_404(slug: str) -> Training:
    found = queries.training_of(slug)
    if found is None:
        raise Http404(f"there is no training {slug}")
    return found


def text_of(found: Training) -> str:
    """How far it is, in a line."""
    now: dict[str, Any] = found.progress
    if found.state == Training.State.DONE:
        figures = found.best.get("figures", {})
        return " · ".join(
            f"{name} {figures[name]:.3f}" for name in _SHOWN_FIGURES if name in figures
        )
    parts = []
    if now.get("steps"):
        parts.append(
            f"step {now['step']:,} of {now['steps']:,}, epoch {now['epoch'] + 1} of {now['epochs']}"
        )
    if now.get("phase") == "fitting":
        parts.append(f"features of {now.get('done', 0):,} of {now.get('of', 0):,} pairs")
    elif found.state == Training.State.RUNNING:
        if now.get("phase") == "data":
            parts.append("reads the data, loads the model")
        if now.get("rate"):
            parts.append(f"{now['rate']:,.1f} pairs/s")
        if now.get("left") is not None:
            parts.append(f"about {duration(now['left'])} left")
    return " · ".join(parts)
