"""The page of a dialogue."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.corpora.queries import dialogue_at
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from leaderboard.corpus_context import corpus_context
from leaderboard.dialogues.contents import dialogue_context


@require_safe
def dialogue(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    found = dialogue_at(version, position)
    if found is None:
        raise Http404(f"{slug} has no dialogue at place {position}")
    context = {
        **corpus_context(version, "dialogues", aspect),
        **dialogue_context(version, found, aspect=aspect, **_filters_of(request)),
    }
    return render(request, "leaderboard/dialogue.html", context)


def _filters_of(request: HttpRequest) -> dict[str, str]:
    params = request.GET
    return {
        "turn": params.get("turn", ""),
        "page": params.get("page", ""),
        "system": params.get("system", ""),
    }
