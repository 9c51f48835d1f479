"""The leaderboard of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common.roles import is_organiser
from common.table_frame import page_writer
from common.web import page
from leaderboard.challenges.access import round_or_404, team_of
from leaderboard.challenges.board.answer import BoardEntry
from leaderboard.challenges.board.split import PARTS
from leaderboard.challenges.models import Round, Track
from leaderboard.challenges.queries.board import has_private_board, round_board
from leaderboard.challenges.views.board_table import (
    board_finding,
    board_history,
    board_lane,
    board_table,
    counted_text,
    shown_columns,
    shown_entries,
)
from leaderboard.results.pages import waiting_page

LONGEST_SEARCH = 80


@never_cache
@require_safe
def board(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """The round's leaderboard; ``part=private`` the private one, which until the release says
    only when that is; ``q`` (part of a team's or system's name), ``track`` (whose entries)."""
    round = round_or_404(request.user, slug, round_slug)
    part = request.GET.get("part", "public")
    if part not in PARTS:
        raise Http404("a board is public or private")
    shown = round_board(round, request.user, part)
    found, answer = shown.look, shown.answer
    frame = {
        "section": "challenges",
        "challenge": round.challenge,
        "round": round,
        "own_team": team_of(request.user, round.challenge),
        "tab": "rounds",
        "round_tab": "board",
    }
    if found is not None and answer is None:
        base = {"base": "challenges/challenge_base.html", "page_name": _("Leaderboard")}
        return waiting_page(request, frame, found, **base)
    organiser = is_organiser(request.user)
    search, track = request.GET.get("q", "").strip()[:LONGEST_SEARCH], request.GET.get("track", "")
    entries = shown_entries(shown.entries, search, track if track in Track.values else "")
    writer = history = None
    if answer is not None:
        writer = page_writer(
            board_table(shown, answer, organiser, entries), board_lane(shown, answer, entries)
        )
        history = board_history(shown, answer)
    context = {
        **frame,
        "look": found,
        "board": shown,
        "table": writer,
        "columns": shown_columns(writer.table, shown.entries) if writer else "",
        "rows": len(entries),
        "finding": "" if answer is None else board_finding(answer),
        # A single mark is no history
        "history": history if history and len(history.points.rows) > 1 else None,
        "search": search,
        "tracks": _tracks(shown.entries, track),
        "permanent_link": request.build_absolute_uri(request.get_full_path()),
        "parts": _parts(round),
        "part": part,
        "counted": "" if answer is None else counted_text(answer),
        "has_competitors": any(not entry.is_baseline for entry in shown.entries),
        "before_others": organiser and part == "private" and not shown.is_released,
        "release_at": round.release_at,
        "own_entries": [entry for entry in shown.entries if shown.is_own(entry)],
        "updated": shown.updated,
    }
    files = [writer.table] if writer else []
    return page(
        request, "challenges/board.html", context, files + ([history.points] if history else [])
    )


def _tracks(entries: Sequence[BoardEntry], chosen: str) -> list[tuple[str, Any, int, bool]]:
    """(value, label, entries, whether it is chosen) of each track, where teams took several."""
    counts = Counter(entry.track for entry in entries if not entry.is_baseline)
    if len(counts) < 2:
        return []
    labels = {Track.GPU: _("GPU"), Track.PROMPT: _("prompt")}
    return [
        ("", _("All tracks"), counts.total(), chosen not in counts),
        *((one, label, counts[one], one == chosen) for one, label in labels.items() if counts[one]),
    ]


def _parts(round: Round) -> list[tuple[str, Any, str]]:
    """The tabs, where there are two boards."""
    if not has_private_board(round):
        return []
    address = reverse("board", args=[round.challenge.slug, round.slug])
    return [
        ("public", _("Public leaderboard"), address),
        ("private", _("Private leaderboard"), f"{address}?part=private"),
    ]
