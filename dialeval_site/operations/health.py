"""Whether this process answers, and whether the site can work: for whoever watches over it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dialeval_site.operations import readiness


@require_safe
@never_cache
def health(_request: HttpRequest) -> JsonResponse:
    """``{"status": "ok"}`` while this web process answers. Asks nothing of database or broker, so
    it answers while they are away: to start the process anew would not bring them back."""
    return JsonResponse({"status": "ok", "version": settings.VERSION})


@require_safe
@never_cache
def ready(_request: HttpRequest) -> JsonResponse:
    """200 where the site can work, else 503: database, migrations, broker, uploads, each with its
    reason."""
    found = readiness.checked()
    return JsonResponse(found, status=200 if found["status"] == "ready" else 503)
