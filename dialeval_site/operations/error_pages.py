"""Pages of faults on our side. They stand alone: database, session or log-in may have failed."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from common.read_only import is_away, refuses_writes
from dialeval_site.operations import log_context

RETRY_SECONDS = 60


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """With the number by which the fault is found in the log. 503 where the database takes no
    writes, or is away."""
    problem = sys.exc_info()[1]  # Django calls this while it handles the exception
    if (away := is_away(problem)) or refuses_writes(problem):
        context = {"is_away": away, "is_form": request.method not in ("GET", "HEAD")}
        page = loader.get_template("503_database.html").render(context)
        return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_SECONDS)})
    page = loader.get_template("500.html").render({"request_id": log_context.request_id()})
    return HttpResponse(page, status=500)
