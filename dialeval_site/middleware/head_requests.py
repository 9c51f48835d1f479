"""HEAD: the headers of what GET would send. gunicorn throws a body away, but only after it was
made."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from common.web import is_head_request


class HeadMiddleware:
    """Middleware. What would be made while it is sent, such as a file of ratings, is not begun. A
    view that makes a file before it is sent asks itself (``is_head_request``)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if is_head_request(request) and isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        return response
