"""The metric leaderboard and its plots."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.queries import counts_of
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.corpora.slice_choice import slice_note, slice_options, slice_or_404
from annotations.models import CorpusVersion
from common.cache import memoize
from common.table_frame import page_writer
from common.tables.to_html import TableWriter
from common.web import page
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.corpus_context import corpus_context
from leaderboard.metric_requests import comparison_params, correlation_params
from leaderboard.pages.judges.items import inspector_links
from leaderboard.pages.metrics.filters import (
    GLOBAL,
    BoardParams,
    UnknownParam,
    filter_form,
    filtered,
    parse_params,
)
from leaderboard.pages.metrics.lane import metric_lane
from leaderboard.pages.metrics.letters import Letters, letters_by_metric, why_no_letters
from leaderboard.pages.metrics.plots import forest_figure, scatter_documents
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.metrics.tables import COMPARE_FORM, metric_board, shown_columns
from leaderboard.pages.metrics.text import best_row, empty_reasons, headline, tied_with_best
from leaderboard.pages.published.query import is_published
from leaderboard.queries.comparisons import comparisons
from leaderboard.queries.system_choice import system_choices
from leaderboard.results import Look, look, whole
from leaderboard.results.pages import AWAITS_NEWER, waiting_page
from leaderboard.stored_figures import figure_of, table_for_file
from leaderboard.system_sets import system_note, systems_or_404
from workers.metrics.registry import all_metrics
from workers.runs.metric_list import page_of

PLOTS = "Plots"


@require_safe
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    """Every metric's agreement with people; in the address ``level``, ``coefficient``, ``variant``,
    ``systems``, ``slice`` (what the numbers are of), ``needs``, ``method``, ``origin``, ``q``
    (which metrics; part of a name), ``metric`` (whose plots)."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    systems, data_slice = systems_or_404(request, version), slice_or_404(request, version)
    # What it does not have is refused before anything is computed
    _params(request, systems, data_slice)
    found = look(version, metric_leaderboard, **correlation_params(aspect, systems, data_slice))
    context: dict[str, Any] = corpus_context(version, "metrics", aspect)
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Metric leaderboard")
    whole = found.answer
    params = _params(request, systems, data_slice, whole)
    document = filtered(whole, params)
    compared, letters = _letters(version, aspect, params, whole)
    no_letters = why_no_letters(compared.answer if compared else None, params.coefficient)

    marks = (found.stored, compared.stored if compared else "", params, _registered())

    @cache
    def table() -> TableWriter:
        def board() -> TableWriter:
            best, tied = best_row(document, params), tied_with_best(document, params, letters)
            return page_writer(
                metric_board(document, found.computed_at, params, letters, no_letters, tied),
                metric_lane(document, params, letters, best.metric if best else "", tied),
            )

        return memoize(("metric board", *marks), board)

    figure = cache(
        lambda: memoize(("forest", *marks), lambda: forest_figure(document, params, letters))
    )
    comes = _will_be_there(request, found)
    metric = request.GET["metric"] if comes else _chosen_metric(request, whole, params)
    context |= {
        "analysis": found,
        "compared": compared,
        "params": params,
        "form": filter_form(
            whole,
            params,
            aspect,
            version.aspects,
            system_choices(version),
            slice_options(version, data_slice),
        ),
        "system_note": system_note(version, systems),
        "slice_note": slice_note(version, data_slice),
        "headline": headline(document if document.rows else whole, params, letters),
        "table": table,
        "columns": cache(lambda: shown_columns(table().table, params, document)),
        "permanent_link": request.build_absolute_uri(
            f"{request.path}?{urlencode(_permanent(version, aspect, params))}"
        ),
        "written_from": (found.stored, compared.stored if compared else "", _registered()),
        "compare_form": COMPARE_FORM,
        "figure": figure,
        "left_out": _count(whole) - _count(document),
        "metric": metric,
        "plots_query": _plots_query(version, aspect, metric, params),
        "metric_page": "" if comes else _metric_page(metric, version),
        "judges": inspector_links(version, (row.metric for row in document.rows), aspect),
        "has_preferences": counts_of(version).preferences > 0,
        "has_metrics": bool(whole.rows),
        # Without a metric there is nothing to read meanwhile: the page becomes the new one
        "shows": "" if whole.rows else AWAITS_NEWER,
        "is_published": is_published(slug),
        "fits": bool(document.rows),
        "empty_reasons": [] if whole.rows else empty_reasons(version, aspect),
    }
    files = [table().table, figure().points] if "download" in request.GET else []
    return page(request, "leaderboard/metrics.html", context, files)


def _permanent(version: CorpusVersion, aspect: str, params: BoardParams) -> dict[str, Any]:
    """What of an address another reader needs to see the same numbers."""
    return {"version": version.number, "aspect": aspect, **params.changes()}


def _registered() -> str:
    """The metrics of this site, to whose pages the board leads."""
    return " ".join(f"{metric.name} {metric.version}" for metric in all_metrics().values())


def _params(
    request: HttpRequest,
    systems: str,
    data_slice: str,
    document: MetricCorrelations | None = None,
) -> BoardParams:
    try:
        return parse_params(request.GET, systems, document, data_slice)
    except UnknownParam as unknown:
        raise Http404(str(unknown)) from None


def _letters(
    version: CorpusVersion, aspect: str, params: BoardParams, document: MetricCorrelations
) -> tuple[Look[MetricComparisons] | None, Letters | None]:
    """The look at the comparisons of all pairs, where there is anything to compare, and the letters
    in it."""
    if params.shown_variant != GLOBAL or _count(document) < 2:
        return None, None
    requested = comparison_params(aspect, params.level, params.systems, params.data_slice)
    if requested is None:
        return None, None
    found = look(version, comparisons, **requested)
    return found, memoize(
        ("letters", found.stored, params.coefficient),
        lambda: letters_by_metric(found.answer, params.coefficient),
    )


def _count(document: MetricCorrelations) -> int:
    return len({row.metric for row in document.rows})


def _metric_page(configuration: str, version: CorpusVersion) -> str:
    """The address of the chosen metric's page; "" for one that was handed in as scores."""
    address = page_of(configuration)
    if not address:
        return ""
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'corpus': version.corpus.slug})}"


def _plots_query(version: CorpusVersion, aspect: str, metric: str, params: BoardParams) -> str:
    query = {
        "metric": metric,
        "aspect": aspect,
        "version": version.number,
        "systems": params.systems,
    }
    return urlencode(query | ({"slice": params.data_slice} if params.data_slice else {}))


def _will_be_there(request: HttpRequest, found: Look[MetricCorrelations]) -> bool:
    """The metric that is asked for is not in the older answer that is shown: whoever has just
    handed in its scores is led here before it is in the newer one."""
    requested = request.GET.get("metric", "")
    return (
        bool(requested)
        and found.is_under_way
        and found.answer is not None
        and not found.answer.rows_of(requested)
    )


def _chosen_metric(request: HttpRequest, document: MetricCorrelations, params: BoardParams) -> str:
    """The metric whose scatter plots are shown: the one asked for, else the one that the headline
    names."""
    known = list(dict.fromkeys(row.metric for row in document.rows))
    requested: str = request.GET.get("metric", "")
    if document.rows_of(requested):
        return requested
    if requested:
        raise Http404(f"{requested} is not computed on this corpus")
    best = best_row(filtered(document, params), params)
    if best is not None:
        return best.metric
    return known[0] if known else ""


@require_safe
def scatter(request: HttpRequest, slug: str) -> HttpResponse:
    """One ``metric`` against people at each level, of ``systems`` and of a ``slice``: a page of its
    own, or the part of the leaderboard that asks for it; ``download=scatter-turn-data.csv``,
    ``scatter-dialogue-data.csv``, ``scatter-system-data.csv`` or ``by-human-data.csv``."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    context = corpus_context(version, "metrics", aspect)
    systems, data_slice = systems_or_404(request, version), slice_or_404(request, version)
    requested = correlation_params(aspect, systems, data_slice)
    correlations = look(version, metric_leaderboard, **requested)
    if correlations.answer is None:
        return waiting_page(request, context, correlations, page_name=PLOTS, below_tab=True)
    if _will_be_there(request, correlations):
        seen = replace(correlations, state="waiting", answer=None)
        return waiting_page(
            request, context, seen, page_name=PLOTS, below_tab=True, shows=AWAITS_NEWER
        )
    metric = _chosen_metric(
        request, correlations.answer, parse_params({}, systems, correlations.answer)
    )
    if not metric:
        raise Http404("no metric is computed on this corpus")
    drawn = look(version, scatter_documents, metric=metric, **requested)
    with_points = whole(drawn) if "download" in request.GET else None
    if drawn.answer is None or ("download" in request.GET and with_points is None):
        return waiting_page(request, context, drawn, page_name=PLOTS, below_tab=True)
    if with_points is not None:
        wished = table_for_file(with_points, request.GET["download"].rpartition(".")[0])
        return page(
            request, "leaderboard/scatter.html", context, [] if wished is None else [wished]
        )
    documents = drawn.answer.figures
    context |= {
        "metric": metric,
        "system_note": system_note(version, systems),
        "slice_note": slice_note(version, data_slice),
        "figures": cache(lambda: [figure_of(document) for document in documents]),
        "is_part": bool(request.htmx),
        "written_from": (drawn.stored, bool(request.htmx)),
    }
    template = "leaderboard/_scatter.html" if request.htmx else "leaderboard/scatter.html"
    return page(request, template, context)
