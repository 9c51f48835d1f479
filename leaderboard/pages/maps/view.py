"""The heat map of metrics, which say the same, and which follow people better than others; and the
map of what systems said, beside the references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.cache import memoize
from common.table_frame import page_writer
from common.tables import Cell, Column, Row, Table
from common.web import page
from leaderboard.answers.maps import ResponseMap
from leaderboard.answers.metrics import MetricComparisons, MetricsAmongThemselves
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.pages.maps import query
from leaderboard.pages.maps.map_figure import MapPoint, response_map
from leaderboard.pages.maps.tables import COEFFICIENT_LABELS, Comparisons, Correlations
from leaderboard.pages.maps.text import ahead_text, similarity_text, tied_text
from leaderboard.queries.comparisons import comparisons
from leaderboard.queries.system_choice import system_choices
from leaderboard.results import Look, look
from leaderboard.results.pages import waiting_page
from leaderboard.system_sets import system_note, systems_or_404

SHOWN = {
    "correlation": "correlations between metrics",
    "significance": "which metric agrees better with raters",
}
LEVELS = ("turn", "dialogue", "system")
ORDERS = {"similar": "similar metrics side by side", "name": "by name"}
BEST_FIRST = {"similar": "the best first", "name": "by name"}


@require_safe
def heat_map(request: HttpRequest, slug: str) -> HttpResponse:
    """Metric × metric: ``show`` (``correlation``: which say the same; ``significance``: which
    correlates better with human ratings), ``level``, ``coefficient``, ``order`` (``similar``,
    ``name``), ``aspect`` (of significance); ``download=metric-pairs.csv``,
    ``nearest-metrics.csv`` or ``metric-standings.csv``."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    shown = _chosen(request, "show", SHOWN)
    order = _chosen(request, "order", ORDERS)
    level = _chosen(request, "level", LEVELS, "")
    coefficient = _chosen(request, "coefficient", COEFFICIENT_LABELS)
    systems = systems_or_404(request, version)
    plots = {"version": version.number, "aspect": aspect, "systems": systems}
    context: dict[str, Any] = {
        **corpus_context(version, "metrics", aspect),
        "shown": shown,
        "order": order,
        "coefficient": coefficient,
        "shown_choices": SHOWN.items(),
        "order_choices": (ORDERS if shown == "correlation" else BEST_FIRST).items(),
        "level_choices": LEVELS,
        "plots_url": f"{reverse('scatter', args=[slug])}?{urlencode(plots)}",
        "systems": systems,
        "system_choices": [
            (one.key, f"{one.label} ({len(one.systems)})") for one in system_choices(version)
        ],
        "system_note": system_note(version, systems),
    }
    found: Look[Any]
    parts: Callable[..., dict[str, Any]]
    if shown == "correlation":
        found, parts = look(version, query.metric_correlations, systems=systems), _correlations
    else:
        of_level = {"aspect": aspect, "level": level or LEVELS[0], "systems": systems}
        found, parts = look(version, comparisons, **of_level), _comparisons
    context |= {"level": level or LEVELS[0], "look": found}
    if found.answer is None:
        return waiting_page(
            request, context, found, page_name="Heat map of metrics", below_tab=True
        )
    context |= {
        "analysis": found,
        "written_from": (found.stored, aspect, str(version.number), systems),
    }
    context |= parts(found.answer, level, context)
    files = context["files"]() if "download" in request.GET and "files" in context else ()
    return page(request, "leaderboard/heat_map.html", context, files)


def _chosen(request: HttpRequest, name: str, choices: Any, default: str | None = None) -> str:
    requested = request.GET.get(name, "")
    if not requested:
        return str(next(iter(choices))) if default is None else default
    if requested not in choices:
        raise Http404(f"{name} is one of {', '.join(choices)}")
    return requested


def _correlations(
    document: MetricsAmongThemselves, level: str, context: dict[str, Any]
) -> dict[str, Any]:
    levels = list(document.levels)
    here = {"level_choices": levels, "coefficient_choices": COEFFICIENT_LABELS.items()}
    if not levels:
        return {**here, "nothing": "It takes two metrics that are computed on the same responses."}
    level = level or levels[0]
    if level not in levels:
        return {
            **here,
            "level_choices": LEVELS,
            "nothing": f"No two metrics have scores at the {level} level.",
        }
    requested = {"aspect": context["aspect"], "version": context["version"].number}
    found = cache(lambda: Correlations(document, level, context["coefficient"], **requested))
    marks = (*context["written_from"], level, context["coefficient"])
    return {
        **here,
        "level": level,
        "finding": cache(lambda: tied_text(found())),
        "heat": cache(lambda: found().heat(context["order"])),
        "table": cache(
            lambda: memoize(("nearest metrics", *marks), lambda: page_writer(found().nearest()))
        ),
        "files": lambda: [found().nearest(), found().all_pairs()],
        "method": document.method,
    }


def _comparisons(
    document: MetricComparisons, _level: str, context: dict[str, Any]
) -> dict[str, Any]:
    tested = {
        name: words for name, words in COEFFICIENT_LABELS.items() if name in document.coefficients
    }
    coefficient = context["coefficient"] if context["coefficient"] in tested else "pearson"
    here = {"coefficient_choices": tested.items(), "coefficient": coefficient}
    if coefficient not in tested or len(document.metrics) < 2:
        return {**here, "nothing": "It takes two metrics beside ratings of people at this level."}
    found = cache(lambda: Comparisons(document, context["level"], coefficient))
    return {
        **here,
        "finding": cache(lambda: ahead_text(found())),
        "heat": cache(lambda: found().heat(context["order"])),
        "table": cache(lambda: found().standings()),
        "files": lambda: [found().standings(), found().all_pairs()],
        "method": document.method,
    }


COLOURED = 6
"""More colours than this are hard to follow in a cloud; the reader chooses others."""


@require_safe
def response_map_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Responses and references on a plane (t-SNE, principal components), by the packaged encoder:
    ``system`` (repeated; those in colour); ``download=map-tsne-data.csv``, ``map-pca-data.csv``
    or ``closeness.csv``."""
    version = version_or_404(request, slug)
    found = look(version, query.response_map)
    context: dict[str, Any] = {
        **corpus_context(version, "systems", aspect_or_404(request, version)),
        "look": found,
    }
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Map of responses", below_tab=True)
    document = found.answer
    names = [one.system for one in document.systems]
    chosen = [name for name in request.GET.getlist("system") if name in names] or names[:COLOURED]
    context |= {
        "analysis": found,
        "choices": [(name, name in chosen) for name in names],
        "document": document,
        "nothing": document.reason,
    }
    files: list[Table] = []
    if document.points:
        table = _closeness(document)
        context |= {
            "figures": _figures(document, chosen),
            "table": table,
            "finding": similarity_text(document),
        }
        files = [table, *(figure.points for figure in context["figures"])]
    return page(request, "leaderboard/response_map.html", context, files)


def _figures(document: ResponseMap, chosen: Sequence[str]) -> list[Figure]:
    names = {one.position: one.system for one in document.systems}
    drawn = document.turns < document.of_turns
    remark = (
        f"{document.turns} of {document.of_turns} turns, chosen by chance (seed {document.seed})."
    )
    return [
        response_map(
            [
                MapPoint(
                    system=None if point.system is None else names.get(point.system),
                    swatch=point.system,
                    place=f"dialogue {point.dialogue + 1}, turn {point.turn}",
                    text=point.text,
                    across=(point.tsne if method == "tsne" else point.pca)[0],
                    up=(point.tsne if method == "tsne" else point.pca)[1],
                    dialogue=point.dialogue,
                    turn=point.turn,
                )
                for point in document.points
            ],
            figure_id=f"map-{method}",
            method=method,
            shown=chosen,
            explained=document.explained,
            perplexity=document.perplexity,
            remark=remark if drawn else "",
            seed=document.seed,
            signature=_signature(document),
        )
        for method in ("tsne", "pca")
    ]


def _signature(document: ResponseMap) -> str:
    return (
        f"{document.corpus} {document.corpus_version}, sentence vectors of "
        f"{document.model}, seed {document.seed}"
    )


def _closeness(document: ResponseMap) -> Table:
    """How near a system's responses lie to the references of their turns, in the encoder's own
    space."""
    near: dict[int, list[float]] = {}
    for point in document.points:
        if point.cosine is not None and point.system is not None:
            near.setdefault(point.system, []).append(point.cosine)
    rows = tuple(
        Row(
            one.system,
            {
                "system": Cell(one.system),
                "n": Cell(len(near.get(one.position, ()))),
                "cosine": Cell(fmean(near[one.position]))
                if one.position in near
                else Cell(reason="no turn of the map has both a response and a reference"),
            },
            swatch=one.position,
        )
        for one in document.systems
    )
    return Table(
        "closeness",
        "How near the responses are to the references, before anything is drawn on a plane",
        (
            Column("system", "system"),
            Column("n", "pairs", "number", 0),
            Column("cosine", "mean cosine to the reference", "number", higher_is_better=None),
        ),
        rows,
        sort=("cosine", True),
        signature=_signature(document),
    )
