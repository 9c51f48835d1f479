"""An arena's leaderboard, live."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from common.cache import memoize
from common.table_frame import page_writer
from common.tables.to_html import TableWriter
from common.web import page
from leaderboard.pages.preferences.system_tables import (
    meetings_table,
    preference_board,
    rating_lane,
    win_matrix,
)
from leaderboard.pages.preferences.text import checks, systems_headline
from leaderboard.pages.preferences.view import first_columns
from leaderboard.queries.arena_board import arena_leaderboard
from leaderboard.results import look
from leaderboard.results.pages import waiting_page
from workers.arenas.views import seen_arena_or_404


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """Systems by Bradley–Terry strength of the votes that count; ``style_control`` (``yes``)."""
    arena = seen_arena_or_404(request, slug)
    controlled = request.GET.get("style_control") == "yes"
    found = look(arena.version, arena_leaderboard, arena=arena.pk)
    frame = {"section": "arenas", "arena": arena}
    if found.answer is None:
        words = {"base": "leaderboard/arena_base.html", "page_name": _("Leaderboard")}
        return waiting_page(request, frame, found, **words)
    document, at = found.answer, found.computed_at

    @cache
    def tables() -> dict[str, TableWriter]:
        return memoize(
            ("arena", found.stored, controlled),
            lambda: {
                "board": page_writer(
                    preference_board(document, at, controlled=controlled),
                    rating_lane(document, controlled=controlled),
                ),
                "pairs": page_writer(meetings_table(document, at)),
            },
        )

    context = {
        **frame,
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
    files = [one.table for one in tables().values()] if "download" in request.GET else []
    return page(request, "leaderboard/arena.html", context, files)
