"""The pages of a corpus that everybody may open, as the site's addresses name them: a new one stands
in every test of what they keep back."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, get_resolver, reverse

ADDRESS = "corpora/<slug:slug>/"
OF_ORGANISERS = {
    *("corpus-settings", "corpus-add", "corpus-subset", "corpus-delete", "corpus-export"),
    *("corpus-seen-by", "score", "retry-failed", "withdraw-waiting"),
    *("judge-runs", "judge-progress", "judge-estimate", "judge-start", "judge-stop"),
    *("judge-resume", "judge-budget", "judge-forget"),
}
"""The permission matrices say who may open these."""


def _routes() -> dict[str, str]:
    found: dict[str, str] = {}
    waiting: list[tuple[str, Any]] = [("", one) for one in get_resolver().url_patterns]
    while waiting:
        prefix, one = waiting.pop()
        route = f"{prefix}{one.pattern}"
        if not isinstance(one, URLPattern):
            waiting += [(route, pattern) for pattern in one.url_patterns]
        elif route.startswith(ADDRESS):
            found[one.name] = route
    return found


ROUTES = _routes()
CORPUS_PAGES = sorted(ROUTES.keys() - OF_ORGANISERS)


def place_of(name: str, slug: str) -> str:
    return reverse(name, args=[slug, *([0] if "<int:position>" in ROUTES[name] else [])])
