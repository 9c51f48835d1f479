"""Whether this process answers, and whether the site can work: for whoever watches over it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dialeval_site import readiness


@require_safe
@never_cache
def health(_request: HttpRequest) -> JsonResponse:
    """Liveness: asks nothing of anything, so it answers while the database is away. To start the
    process anew would not bring that back."""
    return JsonResponse({"status": "ok", "version": settings.VERSION})


@require_safe
@never_cache
def ready(_request: HttpRequest) -> JsonResponse:
    """Readiness: 200 where all that a request needs is there, else 503 with the reason."""
    found = readiness.checked()
    return JsonResponse(found, status=200 if found["status"] == "ready" else 503)
