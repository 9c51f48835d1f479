"""``/monitoring/``, for a Prometheus that has the token."""

from __future__ import annotations

import os
from secrets import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def monitoring(request: HttpRequest) -> HttpResponse:
    """Figures for Prometheus, for who has the monitoring token: 404 without
    ``DIALEVAL_MONITORING_TOKEN``, 401 without that token."""
    if not settings.MONITORING_TOKEN:
        raise Http404
    if not _has_the_token(request):
        refusal = HttpResponse(
            "Send the token of DIALEVAL_MONITORING_TOKEN.\n", status=401, content_type="text/plain"
        )
        refusal["WWW-Authenticate"] = 'Bearer realm="monitoring"'
        return refusal
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return HttpResponse(generate_latest(_registry()), content_type=CONTENT_TYPE_LATEST)


def _has_the_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and compare_digest(
        token.strip().encode(), settings.MONITORING_TOKEN.encode()
    )


def _registry():  # type: ignore[no-untyped-def]
    """A new one for each reading. Several processes of one web server write into files
    (PROMETHEUS_MULTIPROC_DIR, which ``deploy/gunicorn.conf.py`` sets), and whichever of them is
    asked adds them all up."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    from dialeval_site.operations.monitoring import requests
    from dialeval_site.operations.monitoring.site import SiteCollector

    registry = CollectorRegistry(auto_describe=False)
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)
    else:
        registry.register(requests.OWN)
    registry.register(SiteCollector())
    return registry
