"""A part of a page that is asked for when its reader is logged out.

htmx follows a redirect and puts what it finds in the part's place: the log-in page inside the page,
and what was typed there gone. It is told 401 instead, which it never swaps in, and
``logged-out.js`` says what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse


class NoLogInPageInsideAPage:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.headers.get("HX-Request") == "true" and _leads_to_log_in(response):
            return HttpResponse(status=401)
        return response


def _leads_to_log_in(response: HttpResponse) -> bool:
    if response.status_code != 302:
        return False
    return urlsplit(response["Location"]).path in (
        resolve_url(settings.LOGIN_URL),
        reverse("two-factor"),
    )
