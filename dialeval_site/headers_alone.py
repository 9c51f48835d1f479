"""HEAD: the headers of what GET would send. gunicorn throws a body away, but only after it was
made."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotations.page import asks_for_headers_alone


class HeadersAlone:
    """Middleware. What would be made while it is sent, such as a file of ratings, is not begun. A
    view that makes a file before it is sent asks itself (``asks_for_headers_alone``)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if asks_for_headers_alone(request) and isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        return response
