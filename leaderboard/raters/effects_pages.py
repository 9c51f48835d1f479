"""Rater effects: strict and lenient raters, and the systems' order without them."""

from __future__ import annotations

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.web import page
from leaderboard import queries
from leaderboard.analyses import look
from leaderboard.analyses.pages import waiting_page
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.figures.rater_effects import scale_use, severity_forest
from leaderboard.raters.effects_tables import (
    corrected_table,
    effects_signature,
    in_one_sentence,
    key_figures,
    rater_rows,
    rater_table,
)


@require_safe
def rater_effects(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    levels = queries.rated_levels(version, aspect)
    level = request.GET.get("level") or (levels[0] if levels else "turn")
    if level not in ("turn", "dialogue"):
        raise Http404("raters judge at turn or dialogue level")
    found = look(version, "rater-effects", aspect=aspect, level=level)
    context = {**corpus_context(version, "agreement", aspect), "level": level, "levels": levels}
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Rater effects", below_tab=True)
    document = found.answer
    corrected = cache(lambda: corrected_table(document, found.computed_at))
    raters = cache(lambda: rater_table(document, found.computed_at))
    charts = cache(lambda: _figures(document) if document["raters"] else [])
    context |= {
        "analysis": found,
        "look": found,
        "document": document,
        "figures": key_figures(document),
        "sentence": in_one_sentence(document),
        "charts": charts,
        "corrected": corrected,
        "raters": raters,
        "written_from": (found.stored,),
    }
    files = (
        [corrected(), raters(), *(one.points for one in charts())]
        if "download" in request.GET
        else ()
    )
    return page(request, "leaderboard/rater_effects.html", context, files)


def _figures(document: dict[str, object]) -> list[Figure]:
    rows = rater_rows(document)
    signature = effects_signature(document)
    drawn = [severity_forest(rows, figure_id="severity", signature=signature)]
    steps = document["steps"]
    if isinstance(steps, list):
        drawn.append(scale_use(rows, steps, figure_id="scale-use", signature=signature))
    return drawn
