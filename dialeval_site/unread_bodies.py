"""What a refused request goes on sending is read and forgotten, so that the refusal is heard.

A token that does not count is refused before a byte of the file is read. gunicorn closes such a connection under who
still sends: a program sees it reset instead of the answer, and Caddy makes 502 of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dialeval_site.body_limit import BESIDE_THE_FILE

AT_A_TIME = 1 << 16


class ReadToTheEnd:
    """Middleware. No more is read than an upload may have: of who sends more than that the connection is closed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method not in ("GET", "HEAD") and request.META.get("wsgi.input_terminated"):
            _read_on(request.META["wsgi.input"], settings.MAX_UPLOAD_BYTES + BESIDE_THE_FILE)
        return response


def _read_on(body: Any, most: int) -> None:
    """Of a server that says itself where a body ends, as gunicorn does: from another, reading would wait for ever."""
    try:
        while most > 0 and (read := body.read(min(AT_A_TIME, most))):
            most -= len(read)
    except (
        Exception
    ):  # who sent it is gone, or sends no chunks: gunicorn has a class for each, and closes the connection
        return
