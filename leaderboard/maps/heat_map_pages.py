"""The heat map of metrics: which say the same, and which follow people better than others."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.cache import memoize
from common.table_frame import page_writer
from common.web import page
from leaderboard.analyses import look
from leaderboard.analyses.pages import waiting_page
from leaderboard.corpus_context import corpus_context
from leaderboard.maps.heat_tables import COEFFICIENT_LABELS, Comparisons, Correlations
from leaderboard.maps.words import ahead_text, tied_text
from leaderboard.queries.system_choice import system_choices
from leaderboard.system_sets import system_note, systems_or_404

SHOWN = {
    "correlation": "how far two metrics say the same",
    "significance": "which metric agrees better with raters",
}
LEVELS = ("turn", "dialogue", "system")
ORDERS = {"similar": "similar metrics side by side", "name": "by name"}
BEST_FIRST = {"similar": "the best first", "name": "by name"}


@require_safe
def heat_map(request: HttpRequest, slug: str) -> HttpResponse:
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
    if shown == "correlation":
        found = look(version, "metric-correlations", systems=systems)
    else:
        found = look(
            version, "comparisons", aspect=aspect, level=level or LEVELS[0], systems=systems
        )
    context |= {"level": level or LEVELS[0], "look": found}
    if found.answer is None:
        return waiting_page(
            request, context, found, page_name="Heat map of metrics", below_tab=True
        )
    context |= {
        "analysis": found,
        "written_from": (found.stored, aspect, str(version.number), systems),
    }
    context |= (_correlations if shown == "correlation" else _comparisons)(
        found.answer, level, context
    )
    files = context["files"]() if "download" in request.GET and "files" in context else ()
    return page(request, "leaderboard/heat_map.html", context, files)


def _chosen(request: HttpRequest, name: str, choices: Any, default: str | None = None) -> str:
    requested = request.GET.get(name, "")
    if not requested:
        return str(next(iter(choices))) if default is None else default
    if requested not in choices:
        raise Http404(f"{name} is one of {', '.join(choices)}")
    return requested


def _correlations(document: dict[str, Any], level: str, context: dict[str, Any]) -> dict[str, Any]:
    levels = list(document["levels"])
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
        "method": document["method"],
    }


def _comparisons(document: dict[str, Any], _level: str, context: dict[str, Any]) -> dict[str, Any]:
    tested = {
        name: words
        for name, words in COEFFICIENT_LABELS.items()
        if name in document["coefficients"]
    }
    coefficient = context["coefficient"] if context["coefficient"] in tested else "pearson"
    here = {"coefficient_choices": tested.items(), "coefficient": coefficient}
    if coefficient not in tested or len(document["metrics"]) < 2:
        return {**here, "nothing": "It takes two metrics beside ratings of people at this level."}
    found = cache(lambda: Comparisons(document, context["level"], coefficient))
    return {
        **here,
        "finding": cache(lambda: ahead_text(found())),
        "heat": cache(lambda: found().heat(context["order"])),
        "table": cache(lambda: found().standings()),
        "files": lambda: [found().standings(), found().all_pairs()],
        "method": document.get("method", ""),
    }
