"""A corpus as an archive, for organisers."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import version_or_404
from annotations.formats.exporters.registry import exporters
from common.web import organisers_page
from leaderboard.exports import export_response

organisers_only = organisers_page("home", gettext_lazy("only organisers download corpora here"))


@require_safe
@organisers_only
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A zip archive of the corpus as ``export_corpus`` writes it, with raters' names: ``format``,
    ``version``."""
    version = version_or_404(request, slug)
    format = request.GET.get("format", "jsonl")
    if format not in exporters():
        raise Http404("there is no such format")
    return export_response(request, version, format, raters_named=True)
