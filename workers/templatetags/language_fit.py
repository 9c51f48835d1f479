"""``{% load language_fit %}{% recommended_metrics version %}``: metrics for a corpus's language."""

from __future__ import annotations

from typing import Any

from django import template

from annotations.corpora.queries import language_of
from annotations.languages import language_name
from annotations.models import CorpusVersion
from workers.runs.language_fit import recommended_metrics as names_of
from workers.runs.metric_list import page_of

register = template.Library()


@register.inclusion_tag("components/recommended_metrics.html")
def recommended_metrics(version: CorpusVersion) -> dict[str, Any]:
    """Metrics with the addresses of their pages; nothing is drawn where none can be computed."""
    language = language_of(version)
    return {
        "language": language_name(language) if language else "",
        "metrics": [(name, page_of(name)) for name in names_of(version)],
    }
