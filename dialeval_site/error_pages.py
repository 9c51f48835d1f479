"""The page of a fault on our side. It stands alone: the database, the session or the log-in may be what failed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from dialeval_site import log_context


@requires_csrf_token
def server_error(_request: HttpRequest) -> HttpResponse:
    """With the number by which the fault is found in the log."""
    page = loader.get_template("500.html").render({"request_id": log_context.request_id()})
    return HttpResponse(page, status=500)
