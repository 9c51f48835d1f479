"""How far raters of a corpus agree."""

from __future__ import annotations

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.cache import memoize
from common.table_frame import page_writer
from common.tables import Table
from common.tables.to_html import TableWriter
from common.web import page
from leaderboard import queries
from leaderboard.analyses import look, whole
from leaderboard.analyses.pages import waiting_page
from leaderboard.corpus_context import corpus_context
from leaderboard.queries.agreement_pairs import with_all_pairs
from leaderboard.raters.agreement_tables import agreement_tables


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    levels = queries.rated_levels(version, aspect)
    level = request.GET.get("level") or (levels[0] if levels else "turn")
    if level not in ("turn", "dialogue"):
        raise Http404("agreement exists at turn and dialogue level")
    found = look(version, "agreement", aspect=aspect, level=level)
    context = {**corpus_context(version, "agreement", aspect), "level": level, "levels": levels}
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Agreement")
    pseudonyms = {rater.name: rater.pseudonym for rater in version.raters.all()}
    report, computed_at = found.answer, found.computed_at
    written_from = (found.stored, str(pseudonyms))

    @cache
    def tables() -> list[TableWriter]:
        made = cache(
            lambda: [page_writer(one) for one in agreement_tables(report, computed_at, pseudonyms)]
        )
        preserved = [
            memoize(("agreement", place, *written_from), lambda place=place: made()[place])
            for place in (0, 1)
        ]
        return [one for one in preserved if one.table.rows]

    context |= {"analysis": found, "report": report, "tables": tables, "written_from": written_from}
    files: list[Table] = []
    if "download" in request.GET:
        answer = whole(found)
        if answer is None:
            return waiting_page(request, context, found, page_name="Agreement")
        files = agreement_tables(with_all_pairs(answer), computed_at, pseudonyms)
    return page(request, "leaderboard/agreement.html", context, files)
