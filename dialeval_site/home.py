"""The home page: what was found, what one can take part in, and where each role begins."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotations.campaigns.queries.arena import public_arenas
from annotations.corpora.queries import corpora_with_counts, hidden_corpora_for
from annotations.corpora.tables import corpora_table
from common.web import page
from leaderboard.challenges.queries.dashboard import rounds_now
from leaderboard.pages.metrics.finding import corpora_with_findings

CARDS, ROUNDS, ARENAS = 6, 4, 4
"""So many at most; all stand in the table of corpora and on the pages of challenges and arenas."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The corpora that one may see, with their findings, open rounds with their leaders, and open
    arenas."""
    versions = corpora_with_counts(request.user)
    table = corpora_table(versions)
    cards = corpora_with_findings(versions, CARDS)
    found = next((card.version.corpus.slug for card in cards if card.finding), "")
    context = {
        "section": "corpora",
        "corpora": cards,
        "leaderboard": found and reverse("metric-leaderboard", args=[found]),
        "corpora_count": len(versions),
        "hidden": hidden_corpora_for(request.user).count(),
        "rounds": [
            one for one in rounds_now(request.user, timezone.now(), ROUNDS) if one.phase == "open"
        ],
        "arenas": public_arenas().filter(is_open=True)[:ARENAS],
        "table": table,
    }
    return page(request, "home.html", context, [table])
