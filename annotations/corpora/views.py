"""Pages about corpora as such, and those where organisers add one from a file and say who sees it.
What metrics say of a corpus is shown by the leaderboard."""

from __future__ import annotations

from array import array
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.corpora import actions, queries
from annotations.corpora.forms import (
    EVERYBODY,
    CorpusSettingsForm,
    SeenByForm,
)
from annotations.corpora.shortcuts import version_or_404
from annotations.corpora.shown_messages import shown_text
from annotations.corpora.slice_choice import slice_options, slice_or_404
from annotations.corpora.slices import dialogues_in
from annotations.corpora.tables import dialogues_table, left_out_table, systems_table
from annotations.formats.exporters.registry import exporters
from annotations.languages import language_name
from annotations.models import Corpus
from common.cache import memoize
from common.roles import is_organiser
from common.web import organisers_page, page

DIALOGUES_A_PAGE = 50


@require_safe
def corpus(request: HttpRequest, slug: str) -> HttpResponse:
    """What the corpus holds, its systems, its versions."""
    version = version_or_404(request, slug)
    table = systems_table(version)
    # Records of the file may name raters, and say what a round hides
    not_there = left_out_table(version) if is_organiser(request.user) else None
    context = {
        "section": "corpora",
        "tab": "overview",
        "version": version,
        "versions": version.corpus.versions.select_related("derived_from").order_by("-number"),
        "description": shown_text(version.corpus.description or version.description),
        "counts": queries.counts_of(version),
        "corpus_language": language_name(queries.language_of(version)),
        "scales": [(aspect, version.scales.get(aspect)) for aspect in version.aspects],
        "first_dialogue": queries.dialogue_at(version, 0),
        "table": table,
        "left_out": not_there,
        "export_formats": exporters().values(),
        "hidden_by_a_round": queries.corpora_with_hidden_references()
        .filter(pk=version.corpus_id)
        .exists(),
    }
    tables = [table, not_there] if not_there else [table]
    return page(request, "annotations/corpus.html", context, tables)


@require_safe
def dialogues(request: HttpRequest, slug: str) -> HttpResponse:
    """Its dialogues, or those of a slice, 50 a page."""
    version = version_or_404(request, slug)
    data_slice = slice_or_404(request, version)
    counted = queries.dialogues_with_counts(version)
    # Keys are counted up in the order of the dialogues; of a slice there may be a million
    listed: Any = counted
    if data_slice:
        listed = memoize(
            ("dialogues of a slice", version.pk, version.revision, data_slice),
            lambda: array("q", sorted(dialogues_in(version, data_slice))),
        )
    shown = Paginator(listed, DIALOGUES_A_PAGE).get_page(request.GET.get("page"))
    if data_slice:
        shown.object_list = counted.filter(pk__in=shown.object_list)
    table = dialogues_table(version, shown)
    context = {
        "section": "corpora",
        "tab": "dialogues",
        "version": version,
        "page_obj": shown,
        "table": table,
        "slices": slice_options(version, data_slice),
        "data_slice": data_slice,
    }
    return page(request, "annotations/dialogues.html", context, [table])


ORGANISERS = ("home", gettext_lazy("only organisers add corpora and say who sees them"))
organisers_only = organisers_page(*ORGANISERS)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_only
def corpus_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """A corpus's ``name`` and ``description``, and its deletion with what depends on it."""
    version = version_or_404(request, slug)
    initial = {"name": version.corpus.name, "description": version.corpus.description}
    form = CorpusSettingsForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        if actions.describe(version.corpus, **form.cleaned_data, by=request.user):
            messages.success(request, _("The settings are saved."))
        return redirect("corpus-settings", slug)
    context = {
        "section": "corpora",
        "tab": "settings",
        "version": version,
        "form": form,
        "counts": queries.counts_of(version),
        "versions": version.corpus.versions.count(),
        "why_not_deleted": actions.why_not_deleted(version.corpus),
    }
    status = 422 if form.is_bound else 200
    return render(request, "annotations/corpus_settings.html", context, status=status)


@require_POST
@organisers_only
def corpus_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a corpus with its versions, ratings and scores: ``slug`` typed."""
    corpus = version_or_404(request, slug).corpus
    if request.POST.get("slug", "") != slug:
        messages.error(request, _("Nothing was deleted: type the corpus's address to delete it."))
        return redirect("corpus-settings", slug)
    try:
        actions.delete_corpus(corpus, force=True, by=request.user)
    except actions.CorpusHasResults as refusal:
        messages.error(request, str(refusal))
        return redirect("corpus-settings", slug)
    messages.success(request, _("%(slug)s is deleted.") % {"slug": slug})
    return redirect("home")


@require_POST
@organisers_only
def corpus_seen_by(request: HttpRequest, slug: str) -> HttpResponse:
    """Who sees a corpus: ``seen_by`` (``everybody``, ``organisers``)."""
    corpus = Corpus.objects.filter(slug=slug).first()
    if corpus is None:
        raise Http404(f"there is no corpus {slug}")
    form = SeenByForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("There is no such choice; nothing was changed."))
    elif not actions.show_to(
        corpus, everybody=form.cleaned_data["seen_by"] == EVERYBODY, by=request.user
    ):
        messages.info(request, _("Nothing was changed."))
    elif form.cleaned_data["seen_by"] == EVERYBODY:
        messages.success(request, _("Everybody may see this corpus now."))
    else:
        messages.success(request, _("Only organisers see this corpus now."))
    return redirect("corpus", slug)
