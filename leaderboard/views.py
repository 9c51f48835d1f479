"""Pages that hold metrics and systems against people."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.models import CorpusVersion
from annotations.page import aspect_or_404, page, version_or_404
from annotations.queries import dialogue_at, shown_systems
from leaderboard import actions, queries
from leaderboard.board_tables import agreement_tables, metric_board, system_board
from leaderboard.dialogue_view import dialogue_context
from leaderboard.figures import Figure
from leaderboard.judge_links import inspector_links
from leaderboard.plots import level_figures, scatter_figures, system_means_figure
from leaderboard.stored_figures import DRAWN_BY, document_of, figure_of
from workers.metric_list import page_of
from workers.metrics.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.queries import why_not_offered

KINDS = ("agent", "human", "gold", "baseline")
PAIRS_SHOWN = 100
"""Sixty raters make 1,770 pairs: more than a page can show or a reader read. The download has them all."""


@require_safe
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    analysis = actions.stored_answer(version, "correlations", aspect, lambda: queries.meta_evaluation(version, aspect))
    table = metric_board(analysis.answer, analysis.computed_at)
    metric = _chosen_metric(request, analysis.answer)
    context = {
        **_corpus_context(version, "metrics", aspect),
        "analysis": analysis,
        "table": table,
        "metric": metric,
        "metric_page": _metric_page(metric, version),
        "level_figures": level_figures(analysis.answer),
        "judges": inspector_links(version, (row["metric"] for row in analysis.answer["rows"]), aspect),
        "has_metrics": bool(analysis.answer["rows"]),
        "obstacles": [] if analysis.answer["rows"] else _obstacles(version, aspect),
    }
    files = [table, *(figure.points for figure in context["level_figures"])]
    return page(request, "leaderboard/metrics.html", context, files)


def _metric_page(configuration: str, version: CorpusVersion) -> str:
    """The address of the chosen metric's page; "" for one that was handed in as scores."""
    address = page_of(configuration)
    if not address:
        return ""
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'corpus': version.corpus.slug})}"


def _obstacles(version: CorpusVersion, aspect: str) -> list[str]:
    """What keeps metrics from being held against people here, each with its reason."""
    obstacles = []
    if not shown_systems(version).exists():
        obstacles.append("The corpus holds no system's responses.")
    if not queries.rated_levels(version, aspect):
        obstacles.append("Nobody has rated it.")
    reasons = [why_not_offered(Configuration.of(metric), version) for metric in all_metrics().values()]
    if all(reasons):
        obstacles.append(f"No metric can be computed: {'; '.join(dict.fromkeys(reasons))}.")
    return obstacles


def _chosen_metric(request: HttpRequest, document: dict[str, Any]) -> str:
    """The metric whose scatter plots are shown: the one asked for, else the best by Pearson's r at the first level that
    has one, which is the one on top of the table."""
    known = list(dict.fromkeys(row["metric"] for row in document["rows"]))
    wish = request.GET.get("metric", "")
    if wish in known:
        return wish
    if wish:
        raise Http404(f"{wish} is not computed on this corpus")
    for level in document["human_ceiling"]:
        defined = [row for row in document["rows"] if row["level"] == level and row["pearson"]["value"] is not None]
        if defined:
            return max(defined, key=lambda row: row["pearson"]["value"] * (1 if row["higher_is_better"] else -1))[
                "metric"
            ]
    return known[0] if known else ""


@require_safe
def scatter(request: HttpRequest, slug: str) -> HttpResponse:
    """The three scatter plots of one metric: a page of its own, or the part of the leaderboard that asks for it."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    analysis = actions.stored_answer(version, "correlations", aspect, lambda: queries.meta_evaluation(version, aspect))
    metric = _chosen_metric(request, analysis.answer)
    if not metric:
        raise Http404("no metric is computed on this corpus")

    def drawn() -> list[Figure]:
        standing = actions.stored_answer(version, "systems", aspect, lambda: queries.system_standing(version, aspect))
        return scatter_figures(version, aspect, metric, analysis.answer, standing.answer)

    if "download" in request.GET:  # a file holds every point; a page shows those that are stored as drawn
        figures = drawn()
    else:
        stored = actions.stored_answer(
            version,
            "scatter",
            f"{aspect} {metric}",
            lambda: {"figures": [document_of(figure) for figure in drawn()]},
            made_by=DRAWN_BY,
        )
        figures = [figure_of(document) for document in stored.answer["figures"]]
    context = {**_corpus_context(version, "metrics", aspect), "metric": metric, "figures": figures}
    template = "leaderboard/_scatter.html" if request.htmx else "leaderboard/scatter.html"
    return page(request, template, context, [figure.points for figure in figures])


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
        **_corpus_context(version, "systems", aspect),
        "analysis": analysis,
        "table": table,
        "figure": figure,
        "kinds": [(kind, kind in kinds) for kind in KINDS if kind in present],
        "has_systems": bool(analysis.answer["systems"]),
    }
    return page(request, "leaderboard/systems.html", context, [table, figure.points])


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    levels = queries.rated_levels(version, aspect)
    level = request.GET.get("level") or (levels[0] if levels else "turn")
    if level not in ("turn", "dialogue"):
        raise Http404("agreement exists at turn and dialogue level")
    analysis = actions.stored_answer(
        version, "agreement", f"{level} {aspect}", lambda: queries.agreement(version, aspect, level)
    )
    pseudonyms = {rater.name: rater.pseudonym for rater in version.raters.all()}
    pairs_shown = None if "download" in request.GET else PAIRS_SHOWN
    tables = agreement_tables(analysis.answer, analysis.computed_at, pseudonyms, pairs_shown)
    context = {
        **_corpus_context(version, "agreement", aspect),
        "analysis": analysis,
        "report": analysis.answer,
        "tables": tables,
        "level": level,
        "levels": levels,
    }
    return page(request, "leaderboard/agreement.html", context, tables)


@require_safe
def dialogue(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    found = dialogue_at(version, position)
    if found is None:
        raise Http404(f"{slug} has no dialogue at place {position}")
    context = {
        **_corpus_context(version, "dialogues", aspect),
        **dialogue_context(version, found, request.GET.get("turn", ""), aspect),
    }
    return render(request, "leaderboard/dialogue.html", context)


def _corpus_context(version: Any, tab: str, aspect: str) -> dict[str, Any]:
    return {"section": "corpora", "tab": tab, "version": version, "aspect": aspect, "aspects": version.aspects}
