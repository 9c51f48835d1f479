"""On which systems metrics are compared: what an address asks for, and the line that says who is
left out."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest

from annotations.corpora.queries import NotFound
from annotations.models import CorpusVersion
from leaderboard.queries.system_choice import ALL, cache_choices, left_out_of, resolve_choice


@dataclass(frozen=True, slots=True)
class SystemNote:
    choice: str
    left_out: tuple[str, ...]


def systems_or_404(request: HttpRequest, version: CorpusVersion, default: str | None = None) -> str:
    """``default`` None: that of metrics that are compared."""
    cache_choices(version)
    try:
        return resolve_choice(version, request.GET.get("systems") or default)
    except NotFound as unknown:
        raise Http404(str(unknown)) from None


def system_note(version: CorpusVersion, choice: str) -> SystemNote | None:
    """None where all systems take part."""
    return None if choice == ALL else SystemNote(choice, tuple(left_out_of(version, choice)))
