"""The system leaderboard."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.queries import counts_of
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.corpora.slice_choice import slice_note, slice_options, slice_or_404
from annotations.models import CorpusVersion
from common.cache import memoize
from common.estimates import Estimate
from common.table_frame import page_writer
from common.tables import Table
from common.tables.to_html import TableWriter
from common.text import parse_integer
from common.web import page
from leaderboard.answers.raters import RaterEffects
from leaderboard.answers.systems import (
    MisleadingMetrics,
    Separating,
    SystemProfile,
    SystemStanding,
)
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.metric_requests import slice_params
from leaderboard.pages.raters.query import rater_effects
from leaderboard.pages.systems.figures.rank_differences import RankDifference
from leaderboard.pages.systems.misleading import (
    metrics_of,
    misleading_figure,
    misleading_table,
    misleading_text,
    nearest_to_people,
    rows_of,
)
from leaderboard.pages.systems.plots import (
    both_ends,
    profile_figure,
    rank_figure,
    shown_profiles,
    system_means_figure,
    timeline_figure,
)
from leaderboard.pages.systems.query import (
    misleading_metrics,
    separating,
    system_leaderboard,
    system_profile,
)
from leaderboard.pages.systems.tables import (
    COMPARE_FORM,
    FEW_METRICS,
    shown_columns,
    shown_systems,
    system_board,
    system_lane,
    with_ranks,
)
from leaderboard.pages.systems.text import headline, separating_table, separating_text
from leaderboard.queries.system_choice import ALL, system_choices
from leaderboard.results import Look, look
from leaderboard.results.pages import waiting_page
from leaderboard.system_sets import system_note, systems_or_404

KINDS = ("agent", "human", "gold", "baseline")
PRESERVED_PARAMS = (
    "version",
    "aspect",
    "systems",
    "slice",
    "kind",
    "q",
    "metric",
    "profile",
    "sort",
    "columns",
)


LONGEST_SEARCH = 80

A = TypeVar("A")


@dataclass
class Section(Generic[A]):
    """A part of the page with a stored answer of its own: it waits by itself, and leaves the rest
    as it is."""

    look: Look[A]
    figure: Figure | None = None
    table: TableWriter | None = None
    words: str = ""
    more: dict[str, Any] = field(default_factory=dict)


@require_safe
def systems(request: HttpRequest, slug: str) -> HttpResponse:
    """Systems by human mean, with ranks and metrics: ``aspect``, ``systems`` (ranked among:
    ``all``, ``without-gold``, ``without-people``, ``track:…``, ``round:…``), ``slice``
    (KEY:VALUE of the conversations' metadata), ``kind`` (repeated;
    only ``agent``, ``human``, ``gold``, ``baseline``), ``q`` (part of a name), ``metric`` (the one
    compared with the human ranking), ``profile`` (numbers of systems drawn by aspect),
    ``part=more`` (what is below the board, which the page asks for)."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    chosen = systems_or_404(request, version, default=ALL)
    choices = system_choices(version)
    data_slice = slice_or_404(request, version)
    requested = slice_params(data_slice) | ({} if chosen == ALL else {"systems": chosen})
    found = look(version, system_leaderboard, aspect=aspect, **requested)
    context: dict[str, Any] = {
        **corpus_context(version, "systems", aspect),
        "analysis": found,
        "look": found,
    }
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Systems")
    document = found.answer
    kinds = sorted({*request.GET.getlist("kind")} & {*KINDS})
    # Metrics are compared without reference responses unless all systems are asked for by name.
    named = {"systems": chosen} if request.GET.get("systems") else {}
    misleading = _misleading(request, version, aspect, slice_params(data_slice) | named)
    effects = look(version, rater_effects, aspect=aspect)

    # Raters' severity is estimated from all conversations.
    corrected = None if data_slice else _corrected(effects.answer)
    shown_kinds = tuple(kinds)
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    shown = shown_systems(document, kinds, search)
    scale = version.scales.get(aspect)

    @cache
    def table() -> TableWriter:
        board = memoize(
            ("system board", found.stored, effects.stored, shown_kinds, search, str(scale)),
            lambda: page_writer(
                system_board(document, found.computed_at, kinds, corrected, search),
                system_lane(shown, both_ends(scale)),
            ),
        )
        places = {row.swatch: row for row in _rows(misleading)}
        return with_ranks(board, misleading.more["metric"], places) if places else board

    nearest = cache(lambda: _nearest(misleading.look))
    figure = cache(
        lambda: memoize(
            ("system means", found.stored, str(scale), shown_kinds),
            lambda: system_means_figure(document, scale, kinds),
        )
    )
    ranks = cache(
        lambda: memoize(
            ("ranks", found.stored, shown_kinds),
            lambda: rank_figure(document, kinds, "Ranks are among all kinds." if kinds else ""),
        )
    )
    names = [metric.metric for metric in document.metrics]
    counts = Counter(system.kind for system in document.systems)
    context |= {
        "table": table,
        "columns": cache(lambda: shown_columns(table().table, names, nearest())),
        "few": FEW_METRICS
        if len(document.metrics) > FEW_METRICS and "columns" not in request.GET
        else 0,
        "nearest": nearest,
        "metrics": len(document.metrics),
        "all_systems": len(document.systems),
        "rows": len(shown),
        # A search leaves out rows, not what is found
        "headline": headline(shown_systems(document, kinds, "")),
        "figure": figure,
        "ranks": ranks,
        "written_from": (
            found.stored,
            misleading.look.stored,
            effects.stored,
            str(scale),
        ),
        "misleading": misleading,
        "choices": choices,
        "metrics_note": system_note(version, misleading.look.parameters["systems"]),
        "chosen": chosen,
        "slices": slice_options(version, data_slice),
        "data_slice": data_slice,
        "slice_note": slice_note(version, data_slice),
        "kinds": [(kind, kind in kinds, counts[kind]) for kind in KINDS if counts[kind]],
        "search": search,
        "permanent_link": request.build_absolute_uri(
            f"{request.path}?{urlencode(_permanent(request, version, aspect))}"
        ),
        "compare_form": COMPARE_FORM,
        "misleading_from": (misleading.look.stored,),
        "kept_for_metric": _hidden_fields(request, "metric"),
        "kept_for_profile": _hidden_fields(request, "profile"),
        "has_preferences": counts_of(version).preferences > 0,
        "is_pair": len(document.systems) > 1,
        "has_systems": bool(document.systems),
    }
    files: list[Table] = []
    if "download" in request.GET:
        files = [table().table, figure().points, ranks().points]
    part = request.GET.get("part") == "more"
    if part or "download" in request.GET:
        more, more_files = _more(request, version, found, kinds, misleading, requested)
        context |= more
        files += more_files
    context["more_query"] = _more_query(request)
    template = "_systems_more" if part and request.htmx else "systems_more" if part else "systems"
    return page(request, f"leaderboard/{template}.html", context, files)


def _more(
    request: HttpRequest,
    version: CorpusVersion,
    board: Look[SystemStanding],
    kinds: list[str],
    misleading: Section[MisleadingMetrics],
    params: dict[str, str],
) -> tuple[dict[str, Any], list[Table]]:
    """What stands beneath the board, and is asked for when the board is there: its context and its
    files."""
    document = board.answer
    assert document is not None  # there is a board
    _fill_misleading(misleading, _hidden_fields(request, "metric"))
    profile = _profile(request, version, params)
    neighbours = (
        _separating(version, document.aspect, params) if len(document.systems) > 1 else None
    )
    known = {one.metric for one in document.metrics}
    requested = request.GET.get("metric", "")
    metric = requested if requested in known else ""
    time_line = memoize(
        ("time line", board.stored, tuple(kinds), metric),
        lambda: timeline_figure(document, kinds, metric),
    )
    figures = [time_line, misleading.figure, profile.figure if profile else None]
    tables = [misleading.table, neighbours.table if neighbours else None]
    files = [
        *(writer.table for writer in tables if writer),
        *(figure.points for figure in figures if figure),
    ]
    more = {
        "time_line": time_line,
        "profile": profile,
        "separating": neighbours,
        "separating_from": (neighbours.look.stored,) if neighbours else (),
    }
    return more, files


def _fill_misleading(
    section: Section[MisleadingMetrics], preserved_params: list[tuple[str, str]]
) -> None:
    found = section.look
    document = found.answer
    if document is None:
        return
    section.words = memoize(("misleading words", found.stored), lambda: misleading_text(document))
    if not section.more:
        return
    metric = section.more["metric"]
    section.table = memoize(
        ("misleading table", found.stored, tuple(preserved_params)),
        lambda: page_writer(misleading_table(document, found.computed_at, preserved_params)),
    )
    section.figure = memoize(
        ("misleading figure", found.stored, metric), lambda: misleading_figure(document, metric)
    )


def _more_query(request: HttpRequest) -> str:
    """The board's own wishes without those of its table, whose part this is not."""
    preserved = [
        (name, value)
        for name in PRESERVED_PARAMS
        if name not in ("sort", "columns")
        for value in request.GET.getlist(name)
    ]
    return urlencode([*preserved, ("part", "more")])


def _permanent(request: HttpRequest, version: CorpusVersion, aspect: str) -> list[tuple[str, str]]:
    """What of an address another reader needs to see the same numbers."""
    chosen = [
        pair for pair in _hidden_fields(request, "version") if pair[0] != "aspect" and pair[1]
    ]
    return [("version", str(version.number)), ("aspect", aspect), *chosen]


def _hidden_fields(request: HttpRequest, without: str) -> list[tuple[str, str]]:
    """What of the address stays in links and forms of a part of the page."""
    return [
        (name, value)
        for name in PRESERVED_PARAMS
        if name != without
        for value in request.GET.getlist(name)
    ]


def _misleading(
    request: HttpRequest, version: CorpusVersion, aspect: str, params: dict[str, str]
) -> Section[MisleadingMetrics]:
    section = Section(look(version, misleading_metrics, aspect=aspect, **params))
    document = section.look.answer
    if document is None:
        return section
    ordering = memoize(
        ("metrics that order systems", section.look.stored), lambda: metrics_of(document.metrics)
    )
    known = [one.metric for one in ordering]
    requested = request.GET.get("metric", "")
    if requested and requested not in [one.metric for one in document.metrics]:
        raise Http404(f"{requested} is not computed on this corpus")
    metric = requested or (known[0] if known else "")
    if metric:
        section.more = {
            "metric": metric,
            "metrics": sorted(known),
            "misled": any(one.misled for one in ordering),
        }
    return section


def _nearest(misleading: Look[MisleadingMetrics]) -> list[str]:
    """The metrics whose order of systems is nearest to people's, the nearest first."""
    document = misleading.answer
    if document is None:
        return []
    return memoize(
        ("nearest to people", misleading.stored), lambda: nearest_to_people(document.metrics)
    )


def _rows(misleading: Section[MisleadingMetrics]) -> list[RankDifference]:
    """Every system's places by the chosen metric and by people."""
    document = misleading.look.answer
    if document is None or not misleading.more:
        return []
    return rows_of(document, misleading.more["metric"])


def _profile(
    request: HttpRequest, version: CorpusVersion, params: dict[str, str]
) -> Section[SystemProfile] | None:
    """None where there is but one aspect: the table says all of it."""
    if len(version.aspects) < 2:
        return None
    section = Section(look(version, system_profile, **params))
    document = section.look.answer
    if document is None or len(document.aspects) < 2:
        return section
    requested = {parse_integer(one) for one in request.GET.getlist("profile")}
    positions = {one.position for one in document.systems if one.position in requested}
    section.figure = profile_figure(document, positions)
    drawn = set(shown_profiles(document, positions))
    section.more["choice"] = [
        (one.position, one.system, number in drawn) for number, one in enumerate(document.systems)
    ]
    return section


def _separating(version: CorpusVersion, aspect: str, params: dict[str, str]) -> Section[Separating]:
    section = Section(look(version, separating, aspect=aspect, **params))
    found = section.look
    document = found.answer
    if document is not None and document.pairs:
        section.words = memoize(
            ("separating words", found.stored), lambda: separating_text(document)
        )
        section.table = memoize(
            ("separating table", found.stored),
            lambda: page_writer(separating_table(document, found.computed_at)),
        )
    return section


def _corrected(effects: RaterEffects | None) -> dict[int, Estimate] | None:
    """By position; None while nothing is known."""
    if effects is None:
        return None
    return {one.position: one.corrected for one in effects.systems}
