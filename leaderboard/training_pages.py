"""Pages of training runs: the list with the form that starts one, and one run that renews itself. They stand here and
not in ``workers``, because they draw figures."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.page import organisers_page, page
from leaderboard.figures.training_curve import training_curve
from workers.pace import duration
from workers.trainings import actions, queries
from workers.trainings.forms import TrainingForm
from workers.trainings.models import Training

for_organisers = organisers_page("trainings", "only organisers train models")


@require_http_methods(["GET", "HEAD", "POST"])
@for_organisers
def trainings(request: HttpRequest) -> HttpResponse:
    form = TrainingForm(request.user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            training = actions.start(
                asked["name"], asked["recipe"], form.source, form.chosen, asked["seed"], asked["overlap"],
                request.user, check=False,
            )  # fmt: skip
            return redirect("training", training.name)
        except actions.Refused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
    rows = [(one, queries.data_words(one), said_of(one)) for one in queries.trainings()]
    context = {"section": "runs", "rows": rows, "form": form}
    return render(request, "leaderboard/trainings.html", context, status=422 if form.errors else 200)


@require_safe
@for_organisers
def training(request: HttpRequest, slug: str) -> HttpResponse:
    """The whole page; to htmx the part of it that changes."""
    found = training_or_404(slug)
    losses = training_curve(
        [{name: value for name, value in point.items() if name != "learning rate"} for point in found.curves],
        figure_id="losses",
        what="Losses in training",
        up="loss",
    )
    validated = training_curve(
        [{"step": one["step"], **one["figures"]} for one in found.validations],
        figure_id="validations",
        what="Figures on the validation data",
        up="figure",
    )
    context = {
        "section": "runs",
        "training": found,
        "data": queries.data_words(found),
        "under_way": found.state in queries.UNDER_WAY,
        "can_go_on": found.state in (Training.State.STOPPED, Training.State.FAILED),
        "said": said_of(found),
        "settings": sorted(found.chosen.items()),
        "best": found.best.get("figures", {}),
        "metrics": queries.metrics_of(found) if found.revision else [],
        "figures": [losses, validated],
    }
    if request.htmx:
        return render(request, "leaderboard/_training.html", context)
    return page(request, "leaderboard/training.html", context, [one.points for one in (losses, validated)])


@require_POST
@for_organisers
def training_stop(request: HttpRequest, slug: str) -> HttpResponse:
    if not actions.stop(training_or_404(slug), request.user):
        messages.info(request, "The training had ended.")
    return redirect("training", slug)


@require_POST
@for_organisers
def training_go_on(request: HttpRequest, slug: str) -> HttpResponse:
    if not actions.go_on(training_or_404(slug), request.user):
        messages.info(request, "The training was neither stopped nor had it failed.")
    return redirect("training", slug)


def training_or_404(slug: str) -> Training:
    found = queries.training_of(slug)
    if found is None:
        raise Http404(f"there is no training {slug}")
    return found


def said_of(found: Training) -> str:
    """How far it is, in a line."""
    now: dict[str, Any] = found.progress
    if found.state == Training.State.DONE:
        return " · ".join(f"{name} {value:.3f}" for name, value in found.best.get("figures", {}).items())
    parts = []
    if now.get("steps"):
        parts.append(f"step {now['step']:,} of {now['steps']:,}, epoch {now['epoch'] + 1} of {now['epochs']}")
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
