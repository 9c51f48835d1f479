"""``{% load dialogue_address %}``: links from a leaderboard to what was said."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from annotations.models import CorpusVersion

register = template.Library()


@register.simple_tag
def dialogue_address(
    version: CorpusVersion, position: int, aspect: str, turn: int | str | None, system: int
) -> str:
    """Of a dialogue's page; with a turn (None and "" for none), at the system's response."""
    params: dict[str, str | int] = {"version": version.number}
    fragment = "main"
    if turn is not None and turn != "":
        params |= {"turn": turn, "system": system}
        fragment = f"system-{system}"
    page = reverse("dialogue", args=[version.corpus.slug, position])
    return f"{page}?{urlencode(params | {'aspect': aspect})}#{fragment}"
