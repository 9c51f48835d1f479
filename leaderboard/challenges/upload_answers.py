"""How an upload is answered: the page of one that was taken; the status of one that was not, by
pages and API alike."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from common.web import wants_json
from leaderboard.challenges.actions.receiving import NotTaken, Received

_STATUS_OF = {
    "round": 404,
    "closed": 409,
    "upcoming": 409,
    "track": 409,
    "hidden": 409,
    "known": 409,
    "limit_day": 409,
    "limit_total": 409,
    "disqualified": 403,
    "not_member": 403,
    "rater": 403,
    "too_large": 413,
    "not_text": 415,
    "storage": 503,
}
_OF_THE_FILE = ("empty", "not_text", "too_large")
_OF_OTHER_FIELDS = ("name", "description", "level", "link")


def status_of(refusal: NotTaken) -> int:
    """409 where the round or a limit stands against it: 429 is for rates of requests, which a limit
    is not. 415 and 413 for the file; 422 for another field."""
    return _STATUS_OF.get(refusal.code, 422)


def field_of(refusal: NotTaken) -> str | None:
    """The field that is wrong; None where none is."""
    if refusal.code in _OF_THE_FILE:
        return "file"
    return refusal.code if refusal.code in _OF_OTHER_FIELDS else None


def taken(request: HttpRequest, received: Received, known_words: str) -> HttpResponse:
    """To the submission's page, which shows its state; a page that sent the file by itself is told
    where that is. ``known_words`` are said where the same file was there before; they hold
    ``%(name)s``."""
    if not received.is_new:
        messages.info(request, known_words % {"name": received.submission.name})
    address = reverse("submission", args=[received.submission.public_id])
    if wants_json(request):
        return JsonResponse(
            {"location": address, "is_new": received.is_new}, status=201 if received.is_new else 200
        )
    return redirect(address)
