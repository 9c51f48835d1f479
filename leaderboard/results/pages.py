"""What a page shows while its numbers are not there: how far they are, and the page itself once
they are."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.signing import BadSignature
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_POST, require_safe

from common.roles import is_organiser
from common.web import organisers_page
from leaderboard.models import Analysis
from leaderboard.results import rows
from leaderboard.results.look import KEYS, Look, look

REFRESH_SECONDS = 5
BOARD = "board"
"""The id of the part of a leaderboard that its filters swap."""
GONE = "the statistic was deleted with what it is about"
NOTHING, OLDER, AWAITS_NEWER = SHOWS = ("nothing", "older", "awaits-newer")
"""What a page shows while it asks. One without numbers becomes the page as soon as there are any,
also where newer ones are being computed again; one whose older numbers lack what it is about waits
for the newer."""


def waiting_page(
    request: HttpRequest, context: dict[str, Any], found: Look[Any], **words: Any
) -> HttpResponse:
    """In the place of a page whose ``found.answer`` is None. ``context`` is what the page would
    have: of a corpus, or with ``base``, the template of its frame. ``words``: ``page_name``,
    ``lead``, ``below_tab`` where the breadcrumb has the page below its tab, ``shows``
    (``AWAITS_NEWER``). It becomes the page by itself. A leaderboard whose filter was changed
    (``#board``) keeps its older answer, with a notice, until the new one is swapped in."""
    if request.htmx and request.htmx.target == BOARD:
        updating = render(request, "leaderboard/_updating.html", {"look": found})
        updating["HX-Reswap"] = "none"
        add_never_cache_headers(updating)
        return updating
    template = "leaderboard/_waiting.html" if request.htmx else "leaderboard/waiting.html"
    context = {
        **context,
        "analysis": None,
        **words,
        "look": found,
        "expected_seconds": _expected_seconds(found),
        "refresh_seconds": REFRESH_SECONDS,
    }
    response = render(request, template, context, status=503 if "download" in request.GET else 200)
    add_never_cache_headers(response)
    if found.is_under_way:
        response["Retry-After"] = str(REFRESH_SECONDS)
    return response


def _expected_seconds(found: Look[Any]) -> float | None:
    """What the newest answer of this kind took; None where there is none yet."""
    taken = Analysis.objects.filter(kind=found.kind, seconds__isnull=False)
    seconds: float | None = taken.order_by("-computed_at").values_list("seconds", flat=True).first()
    return seconds


@require_safe
def analysis(request: HttpRequest, key: str) -> HttpResponse:
    """How far a stored statistic is, for who was shown a page that waits for it or shows it of
    older data (the key is signed); what went wrong, for organisers. With htmx the part of that
    page which renews itself: ``mark`` (what it shows; 204 where nothing has changed), ``shows``
    (``older``, ``nothing``)."""
    found = _found(key)
    if not request.htmx:
        return _whole(request, found)
    if request.GET.get("mark") == found.mark:
        return HttpResponse(status=204)
    shows = request.GET.get("shows", "")
    if (shows == NOTHING and found.answer is not None) or (
        shows == AWAITS_NEWER and found.state == "present"
    ):
        return HttpResponse(headers={"HX-Refresh": "true"})
    context = {"look": found, "shows": shows if shows in SHOWS else ""}
    return render(request, "leaderboard/_analysis_state.html", context)


def _whole(request: HttpRequest, found: Look[Any]) -> HttpResponse:
    context = {
        "look": found,
        "section": "corpora",
        "key": found.key,
        "is_organiser": is_organiser(request.user),
    }
    response = render(request, "leaderboard/analysis.html", context)
    add_never_cache_headers(response)
    return response


@require_POST
@organisers_page("home", "only organisers have a statistic computed again")
def try_again(_request: HttpRequest, key: str) -> HttpResponse:
    """Compute a statistic that failed once more."""
    rows.try_again(_row_of(key).pk)
    return redirect("analysis", key)


def _found(key: str) -> Look[Any]:
    row = _row_of(key)
    try:
        return look(row.version, row.kind, **row.parameters)
    except ObjectDoesNotExist:
        raise Http404(GONE) from None


def _row_of(key: str) -> Analysis:
    try:
        pk = int(KEYS.unsign(key))
    except (BadSignature, ValueError):
        raise Http404("there is no such statistic") from None
    row = Analysis.objects.defer("answer").select_related("version").filter(pk=pk).first()
    if row is None:
        raise Http404(GONE)
    return row
