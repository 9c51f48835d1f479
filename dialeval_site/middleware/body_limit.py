"""The upload size limit: what a request may bring, decided before a byte of its body is read.

Every address takes a form, or JSON, of ``DATA_UPLOAD_MAX_MEMORY_SIZE``. A view that says so
(``takes_file``) takes a file as large as its setting allows, from who may send one there. The
middleware refuses the rest, before CSRF's middleware reads a form to look for its token; the web
server, which takes in a body before anything of the site runs, asks ``file_sender`` about one that
is larger than a form. A file that found no room on the disk is told so.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import ResolverMatch, resolve
from django.utils.translation import gettext as _

from common.api.problems import problem_response
from common.file_bodies import Admission, admission_of
from common.text import DIGITS_OF_A_KEY, parse_integer
from common.web import wants_json
from dialeval_site.accounts import tokens
from dialeval_site.api.root import api, operations
from leaderboard.challenges.upload_handler import ToDisk

log = logging.getLogger(__name__)

BESIDE_THE_FILE = 1_000_000
"""Bytes of a form's other fields and of what separates them."""


class BodyLimit:
    """Middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        return _not_written(request) if getattr(request, "upload_failed", False) else response

    def process_view(
        self,
        request: HttpRequest,
        _view: Callable[..., Any],
        _arguments: Any,
        named: dict[str, Any],
    ) -> HttpResponseBase | None:
        length, most_of_a_form = _length(request), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        admission = _admission_at(request)
        if length > (
            most_of_a_form if admission is None else admission.most_bytes + BESIDE_THE_FILE
        ):
            return _too_large(request, admission)
        comes_in_chunks = "Transfer-Encoding" in request.headers
        is_in_parts = request.content_type == "multipart/form-data"
        if admission is not None and (length > most_of_a_form or is_in_parts or comes_in_chunks):
            if (refusal := _refusal(request, admission, named)) is not None:
                return refusal
            request.upload_handlers = [ToDisk(request)]
        if comes_in_chunks:
            return _length_required(request)
        return None


def file_sender(environ: dict[str, Any], length: int) -> object:
    """Who sends this, where they may send a file of this length here, else None: then the site
    itself says why, to a request without a body. Nothing of the body is read. Whoever asks closes
    the database's connections as at a request's ends."""
    try:
        request = WSGIRequest(environ)
        request.resolver_match = match = resolve(request.path_info)
        admission = _admission_at(request)
        if admission is None or not 0 <= length <= admission.most_bytes + BESIDE_THE_FILE:
            return None
        SessionMiddleware(lambda _request: HttpResponse()).process_request(request)
        request.user = get_user(request)
        if _is_of_api(request):
            request.api_caller = tokens.caller_of(request)  # type: ignore[attr-defined]
        if isinstance(admission.refuse(request, **match.kwargs), HttpResponseBase):
            return None
        return request.user.pk
    except Exception as refusal:
        log.debug("a body is not read: %r", refusal)
        return None


def _admission_at(request: HttpRequest) -> Admission | None:
    match: ResolverMatch = request.resolver_match  # type: ignore[assignment]
    return admission_of(match.func) or _admissions_of_api().get((match.route, request.method or ""))


@lru_cache(maxsize=1)
def _admissions_of_api() -> dict[tuple[str, str], Admission]:
    return {
        (route, method): admission
        for route, operation in operations()
        for method in operation.methods
        if (admission := admission_of(operation.view_func)) is not None
    }


def _refusal(
    request: HttpRequest,
    admission: Admission,
    named: dict[str, Any],
) -> HttpResponseBase | None:
    try:
        answer = admission.refuse(request, **named)
    except Exception as refusal:
        if not _is_of_api(request):
            raise
        return api.on_exception(request, refusal)
    return answer if isinstance(answer, HttpResponseBase) else None


def _is_of_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _length(request: HttpRequest) -> int:
    """A length that is no number, or one that nothing has, is over every limit."""
    length = parse_integer(request.META.get("CONTENT_LENGTH") or "0", DIGITS_OF_A_KEY)
    return sys.maxsize if length is None else length


def _too_large(request: HttpRequest, admission: Admission | None) -> HttpResponse:
    if admission is None:
        message = _("This is larger than %(limit)s MB, the most that this address takes.")
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    else:
        message = _("The file is larger than %(limit)s MB. Nothing of it was stored.")
        limit = admission.most_bytes
    message = message % {"limit": limit // 1_000_000}
    if _is_of_api(request):
        return problem_response(413, message, "too_large")
    context = {"message": message, "takes_file": admission is not None}
    return render(request, "413.html", context, status=413)


def _length_required(request: HttpRequest) -> HttpResponse:
    message = _("Say how long the body is, in Content-Length.")
    if _is_of_api(request):
        return problem_response(411, message, "length")
    return HttpResponse(message, status=411, content_type="text/plain")


def _not_written(request: HttpRequest) -> HttpResponse:
    """The disk of this web server is full (``upload_handler``)."""
    message = _(
        "The site has no room for the file at the moment. Nothing was stored or counted; try "
        "again later."
    )
    if request.path.startswith("/api/"):
        return problem_response(503, message, "storage")
    if wants_json(request):
        return JsonResponse({"errors": [{"field": "", "message": message}]}, status=503)
    return render(request, "503.html", {"message": message}, status=503)
