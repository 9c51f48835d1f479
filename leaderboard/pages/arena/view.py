"""An arena's leaderboard, live."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from common.web import page
from leaderboard.pages.preferences.view import systems_context, written_tables
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
    context = frame | systems_context(found, found.answer, controlled)
    files = written_tables(context) if "download" in request.GET else []
    return page(request, "leaderboard/arena.html", context, files)
