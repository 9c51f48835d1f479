"""A request that is too long is refused by its Content-Length, before a byte of it is read or stored; one whose file
found no room on the disk is told so.

Django reads no more of a body than Content-Length says, so this is the limit of what an upload can write to disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotations.campaigns.access import wants_json
from annotations.rest.problems import problem_response
from annotations.whole_numbers import DIGITS_OF_A_KEY, whole_number

BESIDE_THE_FILE = 1_000_000
"""Bytes of a form's other fields and of what separates them."""


class BodyLimit:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _length(request) > settings.MAX_UPLOAD_BYTES + BESIDE_THE_FILE:
            return _too_large(request)
        response = self.get_response(request)
        return _not_written(request) if getattr(request, "upload_failed", False) else response


def _length(request: HttpRequest) -> int:
    """A length that is no number, or one that nothing has, is over every limit."""
    length = whole_number(request.META.get("CONTENT_LENGTH") or "0", DIGITS_OF_A_KEY)
    return sys.maxsize if length is None else length


def _too_large(request: HttpRequest) -> HttpResponse:
    message = _("The file is larger than %(limit)s MB. Nothing of it was stored.") % {
        "limit": settings.MAX_UPLOAD_BYTES // 1_000_000
    }
    if request.path.startswith("/api/"):
        return problem_response(413, message, "too_large")
    return render(request, "413.html", {"message": message}, status=413)


def _not_written(request: HttpRequest) -> HttpResponse:
    """The disk of this web server is full (``upload_handler``)."""
    message = _("The site has no room for the file at the moment. Nothing was stored or counted; try again later.")
    if request.path.startswith("/api/"):
        return problem_response(503, message, "storage")
    if wants_json(request):
        return JsonResponse({"errors": [{"field": "", "message": message}]}, status=503)
    return render(request, "503.html", {"message": message}, status=503)
