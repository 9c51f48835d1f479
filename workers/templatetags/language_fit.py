"""``{% load language_fit %}{% recommended_metrics version %}``: metrics for a corpus's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from annotations.corpora.queries import language_of
from annotations.languages import language_name
from annotations.models import CorpusVersion
from workers.runs.language_fit import recommended_metrics as names_of
from workers.runs.metric_list import page_of

register = template.Library()


@register.inclusion_tag("components/recommended_metrics.html", takes_context=True)
def recommended_metrics(context: Mapping[str, Any], version: CorpusVersion) -> dict[str, Any]:
    """Metrics with the addresses of their pages, and for organisers a button that computes them;
    nothing is drawn where none can be computed."""
    language = language_of(version)
    return {
        "version": version,
        "may_compute": context.get("user_is_organiser")
        and getattr(context.get("counts"), "systems", 0),
        "csrf_token": context.get("csrf_token"),
        "language": language_name(language) if language else "",
        "metrics": [(name, page_of(name)) for name in names_of(version)],
    }
