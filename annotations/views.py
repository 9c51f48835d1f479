"""Pages about corpora as such; what metrics say of them is shown by the leaderboard."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations import queries
from annotations.corpus_tables import corpora_table, dialogues_table, systems_table
from annotations.languages import language_name
from annotations.models import CorpusVersion
from annotations.shortcuts import version_or_404
from common.web import page

DIALOGUES_A_PAGE = 50
NextFor = Callable[[Any, list[CorpusVersion]], Iterable[object]]


def corpora_page(request: HttpRequest, next_for: NextFor) -> HttpResponse:
    """The corpora that one may see. ``next_for`` says what the reader does next: words, href and
    remark of each link; it knows all apps, which this one must not."""
    versions = queries.corpora_with_counts(request.user)
    table = corpora_table(versions)
    context = {
        "what_is_next": functools.partial(next_for, request.user, versions),
        "section": "corpora",
        "versions": versions,
        "hidden": queries.hidden_corpora_for(request.user).count(),
        "table": table,
    }
    return page(request, "annotations/home.html", context, [table])


@require_safe
def corpus(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    table = systems_table(version)
    context = {
        "section": "corpora",
        "tab": "overview",
        "version": version,
        "versions": version.corpus.versions.order_by("-number"),
        "counts": queries.counts_of(version),
        "corpus_language": language_name(queries.language_of(version)),
        "scales": [(aspect, version.scales.get(aspect)) for aspect in version.aspects],
        "first_dialogue": queries.dialogue_at(version, 0),
        "table": table,
        "hidden_by_a_round": queries.corpora_with_hidden_references()
        .filter(pk=version.corpus_id)
        .exists(),
    }
    return page(request, "annotations/corpus.html", context, [table])


@require_safe
def dialogues(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    shown = Paginator(queries.dialogues_with_counts(version), DIALOGUES_A_PAGE).get_page(
        request.GET.get("page")
    )
    table = dialogues_table(version, shown)
    context = {
        "section": "corpora",
        "tab": "dialogues",
        "version": version,
        "page_obj": shown,
        "table": table,
    }
    return page(request, "annotations/dialogues.html", context, [table])
