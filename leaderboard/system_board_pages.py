"""The system leaderboard."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.page import aspect_or_404, page, version_or_404
from leaderboard import actions, queries
from leaderboard.corpus_context import corpus_context
from leaderboard.system_board import system_board
from leaderboard.system_plots import system_means_figure

KINDS = ("agent", "human", "gold", "baseline")


@require_safe
def systems(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    analysis = actions.stored_answer(version, "systems", aspect, lambda: queries.system_standing(version, aspect))
    kinds = [kind for kind in request.GET.getlist("kind") if kind in KINDS]
    table = system_board(analysis.answer, analysis.computed_at, kinds)
    figure = system_means_figure(analysis.answer, version.scales.get(aspect), kinds)
    present = {system["kind"] for system in analysis.answer["systems"]}
    context = {
        **corpus_context(version, "systems", aspect),
        "analysis": analysis,
        "table": table,
        "figure": figure,
        "kinds": [(kind, kind in kinds) for kind in KINDS if kind in present],
        "has_systems": bool(analysis.answer["systems"]),
    }
    return page(request, "leaderboard/systems.html", context, [table, figure.points])
