"""What every request to the API passes: whose token it is, how many a minute, and errors in one
form."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from annotations import rates
from common.api.problems import MEDIA_TYPE, problem_response
from dialeval_site.accounts import tokens
from dialeval_site.operations import log_context

log = logging.getLogger(__name__)

API_PATH = "/api/v1/"
MINUTE = 60

WORDS = {
    400: "The request cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not know that method.",
    413: "The request is too large.",
    416: "The range begins behind the end of what is here.",
    500: (
        "Something went wrong on the server. It was noted. Nothing of the request was kept. Tell "
        "the organiser the number in request_id."
    ),
}


class ApiGate:
    """Middleware. Pages of the site pass untouched."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(API_PATH):
            return self.get_response(request)
        try:
            caller = tokens.caller_of(request)
        except DatabaseError:
            log.exception("the token of a request could not be looked up")
            words = _("The site cannot reach its database. Try again later.")
            return problem_response(503, words, request_id=log_context.request_id())
        whom = (
            f"token {caller.token_id}"
            if caller.token_id is not None
            else f"address {rates.address_of(request)}"
        )
        count = rates.counted_request("api", whom, MINUTE)
        if count > settings.API_RATE:
            response: HttpResponseBase = problem_response(
                429,
                _("More than %(most)d requests in a minute. Try again later.")
                % {"most": settings.API_RATE},
                code="rate",
            )
            response["Retry-After"] = str(_seconds_left())
        else:
            request.api_caller = caller  # type: ignore[attr-defined]
            response = _in_one_form(self._answer(request))
        response["RateLimit-Limit"] = str(settings.API_RATE)
        response["RateLimit-Remaining"] = str(max(0, settings.API_RATE - count))
        response["RateLimit-Reset"] = str(_seconds_left())
        if response.status_code == 401:
            response["WWW-Authenticate"] = 'Bearer realm="dialeval"'
        if "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-store"
        return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        """HEAD is answered as GET is, which every address that can be read must (RFC 9110, 9.1);
        operations know GET alone. The body goes no further (``headers_alone``)."""
        if request.method != "HEAD":
            return self.get_response(request)
        request.method = "GET"
        try:
            return self.get_response(request)
        finally:
            request.method = "HEAD"


def _seconds_left() -> int:
    return MINUTE - int(time.time()) % MINUTE


def _in_one_form(response: HttpResponseBase) -> HttpResponseBase:
    """An error that was not written as a problem (by Django, or by another part of the site)
    becomes one."""
    if response.status_code < 400 or response.get("Content-Type", "").startswith(MEDIA_TYPE):
        return response
    status = response.status_code
    detail = ""
    if isinstance(response, HttpResponse) and response.get("Content-Type", "").startswith(
        "text/plain"
    ):
        detail = response.content.decode("utf-8", "replace").strip()[:500]
    more = {"request_id": log_context.request_id()} if status >= 500 else {}
    problem = problem_response(
        status, detail or _(WORDS.get(status, "The request was refused.")), **more
    )
    for header in ("Allow", "Content-Range", "Retry-After", "Connection"):
        if header in response:
            problem[header] = response[header]
    if "Allow" in problem:
        problem["Allow"] = _with_head(problem["Allow"])
    return problem


def _with_head(allowed: str) -> str:
    methods = {one.strip() for one in allowed.split(",")}
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))
