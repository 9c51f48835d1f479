"""Request ids: every request has one, the proxy's where there is a proxy to believe, else one made
here. It stands in every line of the log, in the answer, on the page of an error, and goes with the
hint to the worker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from common.text import DIGITS_OF_A_KEY, parse_integer
from dialeval_site.operations import log_context

HEADER = "X-Request-ID"
access_log = logging.getLogger("dialeval.access")

Handler = Callable[[HttpRequest], HttpResponseBase]


class RequestIds:
    """Middleware, the outermost: what others log has the id."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = _proxy_request_id(request) or log_context.new_id()
        before = log_context.begin_request(request_id, request)
        try:
            response = self.get_response(request)
        finally:
            log_context.end_request(before)
        response[HEADER] = request_id
        return response


def _proxy_request_id(request: HttpRequest) -> str:
    """Where no proxy is declared, the header is a visitor's, who could write anything into our
    log."""
    given = request.headers.get(HEADER, "")
    return given if settings.PROXIES and log_context.WELL_FORMED.fullmatch(given) else ""


class AccessLog:
    """Middleware: where the log is for programs, a line for each request. People read the
    proxy's."""

    def __init__(self, get_response: Handler) -> None:
        if settings.LOG_FORMAT != "json":
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        response = self.get_response(request)
        access_log.info(
            "%s %s %s",
            request.method,
            request.path,
            response.status_code,
            extra={
                "method": request.method,
                "route": route_of(request),
                "path": request.path,
                "status": response.status_code,
                "ms": round((time.perf_counter() - begun) * 1000, 1),
                "bytes": _length(response),
            },
        )
        return response


def route_of(request: HttpRequest) -> str:
    """The name of the address, ``campaign-join``, never what stands in it; "-" where no view was
    found."""
    match = getattr(request, "resolver_match", None)
    return (match.view_name or "-") if match else "-"


def _length(response: HttpResponseBase) -> int | None:
    """None where it is not known before it is sent."""
    if isinstance(response, HttpResponse):
        return len(response.content)
    return parse_integer(response.get("Content-Length", ""), DIGITS_OF_A_KEY)
