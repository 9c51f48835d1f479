"""The corpus version and the aspect that an address names."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from annotations.corpora import queries
from annotations.models import CorpusVersion
from common.text import parse_integer


def version_or_404(request: HttpRequest, slug: str) -> CorpusVersion:
    """The corpus's newest version, or the one that ``?version=`` names. What one may not see does
    not exist."""
    requested = request.GET.get("version", "")
    number = parse_integer(requested)
    if requested and number is None:
        raise Http404("a version is a number")
    try:
        return queries.visible_version(request.user, slug, number)
    except queries.NotFound as missing:
        raise Http404(str(missing)) from None


def aspect_or_404(request: HttpRequest, version: CorpusVersion) -> str:
    try:
        return queries.resolve_aspect(version, request.GET.get("aspect"))
    except queries.NotFound as missing:
        raise Http404(str(missing)) from None
