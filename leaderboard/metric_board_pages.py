"""The metric leaderboard and its plots."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.models import CorpusVersion
from annotations.page import aspect_or_404, page, version_or_404
from annotations.queries import shown_systems
from leaderboard import actions, queries
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.judge_links import inspector_links
from leaderboard.metric_board import metric_board
from leaderboard.metric_plots import level_figures
from leaderboard.scatter_plots import scatter_figures
from leaderboard.stored_figures import DRAWN_BY, document_of, figure_of
from workers.metric_list import page_of
from workers.metrics.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.queries import why_not_offered


@require_safe
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    analysis = actions.stored_answer(version, "correlations", aspect, lambda: queries.meta_evaluation(version, aspect))
    table = metric_board(analysis.answer, analysis.computed_at)
    metric = _chosen_metric(request, analysis.answer)
    context = {
        **corpus_context(version, "metrics", aspect),
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
    context = {**corpus_context(version, "metrics", aspect), "metric": metric, "figures": figures}
    template = "leaderboard/_scatter.html" if request.htmx else "leaderboard/scatter.html"
    return page(request, template, context, [figure.points for figure in figures])
