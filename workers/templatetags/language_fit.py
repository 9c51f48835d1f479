"""``{% load language_fit %}{% recommended_metrics version %}``: metrics for a corpus's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.db.models import Count

from annotations.corpora.queries import language_of
from annotations.languages import language_name
from annotations.models import CorpusVersion
from workers.models import MetricRun
from workers.runs.language_fit import recommended_metrics as names_of
from workers.runs.metric_list import page_of

register = template.Library()


@register.inclusion_tag("components/recommended_metrics.html", takes_context=True)
def recommended_metrics(context: Mapping[str, Any], version: CorpusVersion) -> dict[str, Any]:
    """Metrics with the addresses of their pages, and for organisers a button that computes them
    unless all have been requested; nothing is drawn where none can be computed."""
    language = language_of(version)
    names = names_of(version)
    may_compute = False
    if context.get("user_is_organiser") and (systems := getattr(context["counts"], "systems", 0)):
        runs = MetricRun.objects.filter(system__version=version, configuration__in=names)
        requested = (
            runs.exclude(state=MetricRun.State.FAILED)
            .values_list("metric")
            .annotate(Count("system", distinct=True))
        )
        may_compute = sum(dict(requested).values()) < systems * len(names)
    return {
        "version": version,
        "may_compute": may_compute,
        "csrf_token": context.get("csrf_token"),
        "language": language_name(language) if language else "",
        "metrics": [(name, page_of(name)) for name in names],
    }
