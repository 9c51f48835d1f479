"""A corpus as an archive, for organisers."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import version_or_404
from annotations.formats.exporters.registry import exporters
from common.web import is_head_request, organisers_page
from leaderboard.exports import zipped_export

organisers_only = organisers_page("home", gettext_lazy("only organisers download corpora here"))


@require_safe
@organisers_only
def export(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A zip archive of the corpus as ``export_corpus`` writes it, with raters' names: ``format``,
    ``version``."""
    version = version_or_404(request, slug)
    format = request.GET.get("format", "jsonl")
    if format not in exporters():
        raise Http404("there is no such format")
    archive: Iterator[bytes] = iter(())
    if not is_head_request(request):
        archive = zipped_export(version, format, raters_named=True)
    response = StreamingHttpResponse(archive, content_type="application/zip")
    name = f"{version.corpus.slug}-{version.label}-{format}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
