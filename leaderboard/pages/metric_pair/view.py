"""The page that compares two metrics."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.models import CorpusVersion
from common.cache import memoize
from common.table_frame import page_writer
from common.tables import Table
from common.web import page
from leaderboard.answers.figures import StoredFigures
from leaderboard.corpus_context import corpus_context
from leaderboard.estimate_cells import COEFFICIENT_NAMES
from leaderboard.figures import Figure
from leaderboard.metric_requests import correlation_params
from leaderboard.pages.metric_pair.plots import pair_scatter_documents
from leaderboard.pages.metric_pair.query import drivers_with_texts, metric_pair
from leaderboard.pages.metric_pair.tables import (
    comparison_table,
    difference_figure,
    drivers_table,
    verdicts,
)
from leaderboard.pages.metrics.filters import UnknownParam, parse_params
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.text import empty_reasons
from leaderboard.queries.system_choice import system_choices
from leaderboard.results import Look, look, whole
from leaderboard.results.pages import waiting_page
from leaderboard.stored_figures import figure_of, unpacked
from leaderboard.system_sets import system_note, systems_or_404

PAGE_NAME = "Two metrics compared"
SIDES = ("first", "second")


@require_safe
def comparison(request: HttpRequest, slug: str) -> HttpResponse:
    """Two metrics, ``first`` and ``second`` (labels): their correlations with people, the
    difference with its interval and tests, the responses that make it; ``pick`` twice (ticks of
    the leaderboard) leads there."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    if "pick" in request.GET:
        return _picked(request, slug)
    systems = systems_or_404(request, version)
    try:
        params = parse_params(request.GET, systems)
    except UnknownParam as unknown:
        raise Http404(str(unknown)) from None
    board = look(version, metric_leaderboard, **correlation_params(aspect, params.systems))
    context: dict[str, Any] = corpus_context(version, "metrics", aspect)
    if board.answer is None:
        return waiting_page(request, context, board, page_name=PAGE_NAME, below_tab=True)
    metrics = list(dict.fromkeys(row.metric for row in board.answer.rows))
    pair = _pair(request, metrics) if metrics else None
    context |= {
        "empty_reasons": [] if metrics else empty_reasons(version, aspect),
        "metrics": metrics,
        "pair": pair,
        "params": params,
        "choices": [
            (one.key, f"{one.label} ({len(one.systems)})") for one in system_choices(version)
        ],
        "system_note": system_note(version, systems),
        "coefficients": list(COEFFICIENT_NAMES.items()),
        "board_query": urlencode({"aspect": aspect, "systems": systems}),
    }
    if pair is None:
        context["analysis"] = board
        return render(request, "leaderboard/metric_comparison.html", context)
    return _compared(request, version, aspect, pair, context)


def _picked(request: HttpRequest, slug: str) -> HttpResponse:
    """The canonical address of what was ticked: of the first two, where there are more."""
    preserved = [
        (name, request.GET[name])
        for name in ("version", "aspect", "systems")
        if request.GET.get(name)
    ]
    picks = list(dict.fromkeys(request.GET.getlist("pick")))
    chosen = list(zip(SIDES, picks, strict=False))
    address = reverse("metric-comparison", args=[slug])
    return HttpResponseRedirect(f"{address}?{urlencode([*preserved, *chosen])}")


def _pair(request: HttpRequest, metrics: list[str]) -> tuple[str, str] | None:
    """None where two different metrics are not named yet. A name that is not there is no page."""
    params = [request.GET.get(side, "") for side in SIDES]
    for requested in params:
        if requested and requested not in metrics:
            raise Http404(f"{requested} is not computed on this corpus")
    first, second = params
    return (first, second) if first and second and first != second else None


def _compared(
    request: HttpRequest,
    version: CorpusVersion,
    aspect: str,
    pair: tuple[str, str],
    context: dict[str, Any],
) -> HttpResponse:
    requested = {
        "aspect": aspect,
        "first": pair[0],
        "second": pair[1],
        "systems": context["params"].systems,
    }
    found = look(version, metric_pair, **requested)
    if found.answer is None:
        return waiting_page(request, context, found, page_name=PAGE_NAME, below_tab=True)
    document = found.answer
    files: list[Table] = []
    drawn = None
    wished = request.GET.get("download", "")
    if not wished or wished.startswith("pair-"):
        drawn = look(version, pair_scatter_documents, **requested)
    drivers = cache(
        lambda: {side: drivers_with_texts(version, document.drivers.of(side)) for side in SIDES}
    )
    coefficient = context["params"].coefficient
    table = cache(
        lambda: memoize(
            ("metric comparison", found.stored),
            lambda: page_writer(comparison_table(document, found.computed_at)),
        )
    )
    figure = cache(
        lambda: memoize(
            ("difference", found.stored, coefficient),
            lambda: difference_figure(document, coefficient),
        )
    )
    if drawn and wished:
        answer = whole(drawn)
        if answer is None:
            return waiting_page(request, context, drawn, page_name=PAGE_NAME, below_tab=True)
        files = [unpacked(one) for one in answer.points]
    elif "download" in request.GET:
        files = [table().table, figure().points]
        files += [drivers_table(document, side, drivers()[side]) for side in SIDES]
    context |= {
        "analysis": found,
        "document": document,
        "drawn": drawn,
        "verdicts": verdicts(document, coefficient),
        "coefficient": coefficient,
        "table": table,
        "columns": "coefficient,n,first,second,difference,p,perm-both,perm-sys,perm-input,williams",
        "figure": figure,
        "scatters": lambda: _scatters(drawn) if drawn else [],
        "written_from": (found.stored, drawn.stored if drawn else ""),
        "said_in": (found.stored, version.revision),
        "drivers": lambda: list(zip(SIDES, document.names, drivers().values(), strict=True)),
    }
    return page(request, "leaderboard/metric_comparison.html", context, files)


def _scatters(drawn: Look[StoredFigures]) -> list[Figure]:
    documents = drawn.answer.figures if drawn.answer else []
    return [
        memoize(("pair scatter", place, drawn.stored), partial(figure_of, one))
        for place, one in enumerate(documents)
    ]
