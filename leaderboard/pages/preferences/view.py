"""Systems and metrics by preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotations.corpora.queries import NotFound, counts_of
from annotations.corpora.shortcuts import version_or_404
from annotations.models import CorpusVersion
from common.cache import memoize
from common.table_frame import page_writer
from common.tables import Table
from common.tables.to_html import TableWriter
from common.web import page
from leaderboard.answers.preferences import (
    OfPreferences,
    PreferenceQuestion,
    PreferenceStanding,
)
from leaderboard.corpus_context import corpus_context
from leaderboard.pages.preferences.metric_tables import accuracy_lane, metric_preferences_table
from leaderboard.pages.preferences.system_tables import (
    davidson_table,
    meetings_table,
    preference_board,
    rating_lane,
    style_table,
    win_matrix,
)
from leaderboard.pages.preferences.text import checks, metrics_headline, systems_headline
from leaderboard.queries.preference_board import preference_leaderboard
from leaderboard.queries.preference_look import look_at_question
from leaderboard.queries.preference_metrics import preference_metrics
from leaderboard.results import Look
from leaderboard.results.pages import waiting_page
from leaderboard.system_sets import system_note, systems_or_404


@require_safe
def systems(request: HttpRequest, slug: str) -> HttpResponse:
    """Systems by Bradley–Terry strength: ``aspect``, ``level`` (what was compared: ``turn``,
    ``dialogue``), ``style_control`` (``yes``: length, Markdown and emoji held constant)."""
    version = version_or_404(request, slug)
    style_control = request.GET.get("style_control", "")
    if style_control not in ("", "yes"):
        raise Http404("style_control is yes or absent")
    controlled = style_control == "yes"
    if not counts_of(version).preferences:
        return _nothing(request, version, "systems")
    found = _look(request, version, preference_leaderboard, {})
    context = corpus_context(version, "systems", version.main_aspect)
    if found.answer is None:
        return waiting_page(request, context, found, page_name=_("Preferences"), below_tab=True)
    further = {"style": style_table, "davidson": davidson_table}
    context |= _of_question(request, version, found.answer)
    context |= systems_context(found, found.answer, controlled, further)
    files = written_tables(context) if "download" in request.GET else []
    return page(request, "leaderboard/preferences.html", context, files)


def systems_context(
    found: Look[Any],
    document: PreferenceStanding,
    controlled: bool,
    further: Mapping[str, Callable[[PreferenceStanding, Any], Table]] = MappingProxyType({}),
) -> dict[str, Any]:
    """What every page of systems by preference shows, of a corpus or of an arena. ``further``:
    tables of its own."""
    at = found.computed_at

    @cache
    def tables() -> dict[str, TableWriter]:
        return memoize(
            ("systems by preference", found.stored, controlled),
            lambda: {
                "board": page_writer(
                    preference_board(document, at, controlled=controlled),
                    rating_lane(document, controlled=controlled),
                ),
                "pairs": page_writer(meetings_table(document, at)),
                **{name: page_writer(table_of(document, at)) for name, table_of in further.items()},
            },
        )

    return {
        "analysis": found,
        "look": found,
        "document": document,
        "controlled": controlled,
        "headline": systems_headline(document, controlled=controlled),
        "tables": tables,
        "board_columns": cache(lambda: first_columns(tables()["board"].table)),
        "matrix": cache(lambda: win_matrix(document)),
        "figures": checks(document),
        "written_from": (found.stored,),
    }


def written_tables(context: dict[str, Any]) -> list[Table]:
    """For a download, of a context with ``systems_context``."""
    return [one.table for one in context["tables"]().values()]


@require_safe
def metrics(request: HttpRequest, slug: str) -> HttpResponse:
    """Every metric's accuracy on preferences beside people's own agreement: ``aspect``, ``level``
    (what was compared), ``systems`` (whose responses)."""
    version = version_or_404(request, slug)
    chosen = systems_or_404(request, version)
    if not counts_of(version).preferences:
        return _nothing(request, version, "metrics")
    found = _look(request, version, preference_metrics, {"systems": chosen})
    context = corpus_context(version, "metrics", version.main_aspect)
    if found.answer is None:
        return waiting_page(request, context, found, page_name=_("Preferences"), below_tab=True)
    document = found.answer
    table = cache(
        lambda: memoize(
            ("metric preferences", found.stored),
            lambda: page_writer(
                metric_preferences_table(document, found.computed_at), accuracy_lane(document)
            ),
        )
    )
    context |= {
        **_of_question(request, version, document),
        "analysis": found,
        "look": found,
        "headline": metrics_headline(document),
        "table": table,
        "board_columns": cache(lambda: first_columns(table().table)),
        "system_note": system_note(version, chosen),
        "written_from": (found.stored,),
    }
    files = [table().table] if "download" in request.GET else []
    return page(request, "leaderboard/metric_preferences.html", context, files)


def _look(
    request: HttpRequest, version: CorpusVersion, kind: Any, parameters: dict[str, str]
) -> Look[Any]:
    """The answer for the question of the address."""
    aspect, level = request.GET.get("aspect", ""), request.GET.get("level", "")
    try:
        return look_at_question(version, kind, parameters, aspect, level)
    except NotFound as missing:
        raise Http404(str(missing)) from None


def _of_question(
    request: HttpRequest, version: CorpusVersion, document: OfPreferences
) -> dict[str, Any]:
    """What both pages say of the question, and the address that shows the same numbers again."""
    chosen = [
        (name, request.GET[name]) for name in ("systems", "style_control") if request.GET.get(name)
    ]
    permanent = [
        ("version", str(version.number)),
        ("aspect", document.aspect),
        ("level", document.level),
        *chosen,
    ]
    return {
        "aspect": document.aspect,
        "questions": [(one, _is_of(one, document)) for one in document.questions],
        "permanent_link": request.build_absolute_uri(f"{request.path}?{urlencode(permanent)}"),
    }


def _is_of(question: PreferenceQuestion, document: OfPreferences) -> bool:
    return (question.aspect, question.level) == (document.aspect, document.level)


def first_columns(table: Table) -> str:
    """What shows until the reader chooses: all but details."""
    return ",".join(column.key for column in table.columns if not column.detail)


def _nothing(request: HttpRequest, version: CorpusVersion, tab: str) -> HttpResponse:
    context = corpus_context(version, tab, version.main_aspect)
    return render(request, "leaderboard/no_preferences.html", context)
