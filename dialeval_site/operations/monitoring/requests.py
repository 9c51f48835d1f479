"""Requests, counted by the name of their address: what stands in an address would make a series of
each visitor's."""

from __future__ import annotations

import time

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram

from dialeval_site.middleware.request_ids import Handler, route_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
"""300 ms is what a page may take; a body of 200 MB takes what its line takes."""

OWN = CollectorRegistry()
REQUESTS = Counter(
    "dialeval_requests",
    "Requests answered, by name of address, method and class of status.",
    ["view", "method", "status"],
    registry=OWN,
)
REQUEST_SECONDS = Histogram(
    "dialeval_request_seconds",
    "Seconds until the answer was made, without what it takes to send it.",
    ["view", "method"],
    buckets=SECONDS,
    registry=OWN,
)


class CountRequests:
    """Middleware; there is none on a site that nobody reads the figures of."""

    def __init__(self, get_response: Handler) -> None:
        if not settings.MONITORING_TOKEN:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        response = self.get_response(request)
        view, method = route_of(request), request.method if request.method in METHODS else "other"
        REQUESTS.labels(view, method, f"{response.status_code // 100}xx").inc()
        REQUEST_SECONDS.labels(view, method).observe(time.perf_counter() - begun)
        return response
