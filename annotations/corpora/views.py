"""Pages about corpora as such, and those where organisers add one from a file and say who sees it.
What metrics say of a corpus is shown by the leaderboard."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.corpora import actions, pending_uploads, queries
from annotations.corpora.forms import (
    EVERYBODY,
    MAX_MAPPED_COLUMNS,
    CorpusForm,
    CorpusSettingsForm,
    SeenByForm,
)
from annotations.corpora.shortcuts import version_or_404
from annotations.corpora.shown_messages import shown_text
from annotations.corpora.slice_choice import slice_options, slice_or_404
from annotations.corpora.slices import dialogues_in
from annotations.corpora.tables import dialogues_table, left_out_table, systems_table
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers import jsonl, table
from annotations.formats.importers.base import Importer, ImportFailed, survey
from annotations.formats.importers.column_mapping import USES
from annotations.formats.importers.left_out import LeftOut, left_out
from annotations.formats.importers.preview import ShownColumn, preview, table_columns
from annotations.formats.importers.registry import importers, likely_format, possible_formats
from annotations.languages import language_name
from annotations.models import Corpus
from common.cache import memoize
from common.file_bodies import takes_file
from common.roles import is_organiser
from common.web import organisers_alone, organisers_page, page

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
@takes_file(organisers_alone(*ORGANISERS))
def corpus_new(request: HttpRequest) -> HttpResponse:
    """Add a corpus: ``file``, ``address``, or ``uploaded`` (one that was sent before); ``format``
    (detected without it); ``preview`` (show it, store nothing); ``good_only`` (leave out bad
    records), ``left-out`` (these as CSV); ``column-N``, ``use-N``, ``aspect-N`` and
    ``rater-N`` (of a table); ``name``, ``slug``, ``seen_by`` (``everybody``, ``organisers``),
    ``is_new_version``. ``corpus=`` the form for a new version of one.

    The file is read whole before anything is stored, in this request: its size is bounded.
    """
    if request.method != "POST":
        slug = request.GET.get("corpus", "")
        is_known = Corpus.objects.filter(slug=slug[:80]).exists()
        initial = {"slug": slug, "is_new_version": True} if is_known else {}
        return _form_page(request, CorpusForm(initial=initial))
    form = CorpusForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid() or form.upload is None:
        return _form_page(request, form)
    with pending_uploads.readable(form.upload) as path:
        likely, reason = likely_format(path)
        name = form.cleaned_data["format"] or likely
        if name is None:
            columns = _shown_columns(form, table.IMPORTER, path)
            if len(columns) < 2:
                message = _("The format was not detected: %(reason)s. Choose it.")
                form.add_error("format", message % {"reason": reason})
                return _form_page(request, form)
            message = _(
                "This is a table whose columns are not known by name. Say what each one is."
            )
            form.add_error("format", message)
            form.offer_format(table.IMPORTER.name, read_as="")
            return _form_page(request, form, columns=columns)
        try:
            if "left-out" in form.data:
                return _left_out_file(form, importers()[name], path)
            if form.is_preview:
                return _preview_page(request, form, importers()[name], path)
            outcomes = _imported(request, form, importers()[name], path)
        except ImportFailed as failure:
            form.offer_format(likely, read_as=name)
            columns = _shown_columns(form, importers()[name], path)
            return _form_page(request, form, failure, columns)
        except actions.CorpusExists as known:
            message = _(
                "%(slug)s is here already. Choose another address, or say that this is a new "
                "version of it."
            )
            form.add_error("slug", message % {"slug": known})
            return _form_page(request, form)
    pending_uploads.remove(form.upload)
    for outcome in outcomes:
        _tell(request, outcome)
    return (
        redirect("corpus", outcomes[0].version.corpus.slug)
        if len(outcomes) == 1
        else redirect("home")
    )


@sensitive_variables()
def _imported(
    request: HttpRequest, form: CorpusForm, importer: Importer, path: Path
) -> list[actions.ImportOutcome]:
    params, mapping = form.cleaned_data, form.mapping()
    return actions.import_corpus(
        table.with_mapping(mapping) if mapping and importer is table.IMPORTER else importer,
        path,
        params["slug"],
        params["name"],
        is_public=params["seen_by"] == EVERYBODY,
        by=request.user,
        may_exist=params["is_new_version"],
        language=params["language"],
        good_only=params["good_only"],
        source=form.upload.source if form.upload else "",
    )


def _left_out_file(form: CorpusForm, importer: Importer, path: Path) -> HttpResponse:
    """The records that would be left out, of all corpora of the file."""
    mapping = form.mapping()
    if mapping and importer is table.IMPORTER:
        importer = table.with_mapping(mapping)
    parts = survey(importer, path, good_only=True)
    records = tuple(one for part in parts for one in left_out(path, part).records)
    response = HttpResponse(LeftOut(records=records).csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="left-out.csv"'
    return response


def _preview_page(
    request: HttpRequest, form: CorpusForm, importer: Importer, path: Path
) -> HttpResponse:
    """The format, counts, first rows, and what each column of a table is: nothing is stored."""
    found = preview(
        importer,
        path,
        form.mapping() if importer is table.IMPORTER else None,
        good_only=form.cleaned_data["good_only"],
    )
    form.data["format"] = importer.name
    others = [one.name for one in possible_formats(path) if one.name != importer.name]
    context = {
        "section": "corpora",
        "form": form,
        "preview": found,
        "format": importer,
        "other_formats": ", ".join(others),
        "columns": _shown_columns(form, importer, path),
        "uses": USES,
        "jsonl_example": jsonl.IMPORTER.example,
        "largest_mb": settings.MAX_CORPUS_UPLOAD_BYTES // 1_000_000,
    }
    return render(request, "annotations/corpus_new.html", context)


def _shown_columns(form: CorpusForm, importer: Importer, path: Path) -> list[ShownColumn]:
    """Of a table that is not too wide for a form."""
    if importer is not table.IMPORTER:
        return []
    try:
        columns = table_columns(path, form.mapping())
    except ImportFailed:
        return []
    return columns if len(columns) <= MAX_MAPPED_COLUMNS else []


def _form_page(
    request: HttpRequest,
    form: CorpusForm,
    failure: ImportFailed | None = None,
    columns: Sequence[ShownColumn] = (),
) -> HttpResponse:
    """Problems are listed with the sender's name of the file, not with the one that it has here."""
    file_name = form.upload.name if failure and form.upload else ""
    context = {
        "section": "corpora",
        "form": form,
        "problems": [str(replace(problem, file=file_name)) for problem in failure.problems]
        if failure
        else [],
        "is_cut": failure is not None and failure.stopped,
        "columns": columns,
        "uses": USES,
        "jsonl_example": jsonl.IMPORTER.example,
        "largest_mb": settings.MAX_CORPUS_UPLOAD_BYTES // 1_000_000,
    }
    return render(
        request, "annotations/corpus_new.html", context, status=422 if form.is_bound else 200
    )


def _tell(request: HttpRequest, outcome: actions.ImportOutcome) -> None:
    names = {"slug": outcome.version.corpus.slug, "version": outcome.version.label}
    if not outcome.created:
        if outcome.newest != outcome.version:
            text = _(
                "%(slug)s: nothing is changed. %(version)s holds this content; the newest version "
                "is still %(newest)s."
            )
            messages.warning(request, text % (names | {"newest": outcome.newest.label}))
        else:
            messages.info(
                request, _("%(slug)s: nothing is changed. %(version)s holds this content.") % names
            )
        return
    counts = outcome.survey.counts
    numbers = {
        name: getattr(counts, name)
        for name in ("dialogues", "turns", "systems", "responses", "ratings")
    }
    messages.success(
        request,
        _(
            "%(slug)s: %(version)s is stored. Dialogues: %(dialogues)s, turns: %(turns)s, "
            "systems: %(systems)s, responses: %(responses)s, ratings: %(ratings)s."
        )
        % (names | numbers),
    )
    if not_there := outcome.survey.skipped_count + len(outcome.survey.left_out):
        text = ngettext(
            "%(n)d record of the file is not in it; this page lists it.",
            "%(n)d records or answers of the file are not in it; this page lists them.",
            not_there,
        )
        messages.warning(request, text % {"n": not_there})


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
