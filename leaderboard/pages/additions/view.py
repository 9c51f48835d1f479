"""The page on which organisers add a table to a corpus: ratings, labels and responses, or scores of
metrics."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from annotations.corpora import imports, pending_uploads
from annotations.corpora.additions import addition_to
from annotations.corpora.forms import MAX_MAPPED_COLUMNS
from annotations.corpora.import_views import show_addition
from annotations.corpora.imports import IMMEDIATE_BYTES
from annotations.corpora.queries import counts_of
from annotations.corpora.shortcuts import version_or_404
from annotations.formats.importers.addition import Addition
from annotations.formats.importers.base import ImportFailed, PartSurvey, survey
from annotations.formats.importers.column_mapping import USES
from annotations.formats.importers.preview import ShownColumn, table_columns
from annotations.formats.records import LabelRecord, RatingRecord, ResponseRecord
from annotations.models import CorpusImport, CorpusVersion
from common.file_bodies import takes_file
from common.text import DIGITS_OF_A_KEY, parse_integer
from common.web import organisers_alone, organisers_page
from leaderboard.additions import METRIC_SCORES, add_as_form_says
from leaderboard.metric_score_tables import TableScores, read_metric_scores
from leaderboard.pages.additions.forms import AdditionForm

IMMEDIATE_RESPONSES = 20_000
"""Of the corpus, all of which a new version holds again: of these it takes about 2 s."""
ORGANISERS = ("home", gettext_lazy("only organisers add to a corpus"))


@dataclass(frozen=True, slots=True)
class _Preview:
    """What a table adds: of ratings and responses the counts and first records, of metrics' scores
    each metric. ``is_large``: a worker finds out."""

    counts: Sequence[tuple[str, int]] = ()
    rows: Sequence[tuple[str, int | None, str, str]] = ()
    metrics: Sequence[TableScores] = ()
    survey: PartSurvey | None = None
    is_large: bool = False


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page(*ORGANISERS)
@takes_file(organisers_alone(*ORGANISERS))
def add_to_corpus(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a table to a version of a corpus: ``file``, or ``uploaded`` (one that was sent before);
    ``holds`` (``ratings``, ``metric-scores``), ``direction`` of the metrics' scores; ``preview``
    (show it, store nothing); ``column-N``, ``use-N``, ``aspect-N`` and ``rater-N``. A large file,
    or one for a large corpus, is added by a worker; ``import`` (GET): what came of that."""
    version = version_or_404(request, slug)
    if request.method != "POST":
        return _ended_import(request, version) or _form_page(request, version, AdditionForm())
    form = AdditionForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid() or form.upload is None:
        return _form_page(request, version, form)
    with pending_uploads.readable(form.upload) as path:
        columns: list[ShownColumn] = []
        try:
            columns = table_columns(path, form.mapping())
            size = path.stat().st_size
            is_large = size > IMMEDIATE_BYTES or counts_of(version).responses > IMMEDIATE_RESPONSES
            if form.is_preview:
                shown = _Preview(is_large=True) if is_large else _preview(version, form, path)
                return _form_page(request, version, form, columns, shown)
            if is_large:
                job = imports.start(form.upload, size, form.choices(version), request.user)
                return redirect("corpus-import", job.pk)
            show_addition(request, _added(request, version, form, path))
        except ImportFailed as failure:
            problems = imports.problems_of(failure, form.upload.name)
            return _form_page(request, version, form, columns, None, problems, failure.stopped)
    pending_uploads.remove(form.upload)
    return redirect("corpus", slug)


@sensitive_variables()
def _preview(version: CorpusVersion, form: AdditionForm, path: Path) -> _Preview:
    if form.cleaned_data["holds"] == METRIC_SCORES:
        return _Preview(metrics=read_metric_scores(version, path, form.mapping()))
    addition = addition_to(version, form.mapping())
    (found,) = survey(addition.importer, path)
    return _Preview(_counts(addition), [_first(one) for one in addition.first], survey=found)


def _counts(addition: Addition) -> list[tuple[str, int]]:
    counts = addition.counts
    return [
        (_("Systems"), counts.systems),
        (_("Responses"), counts.responses),
        (_("Raters"), counts.raters),
        (_("Aspects"), counts.aspects),
        (_("Ratings"), counts.ratings),
        (_("Labels"), counts.labels),
        (_("Known already"), counts.known),
    ]


def _first(
    record: ResponseRecord | RatingRecord | LabelRecord,
) -> tuple[str, int | None, str, str]:
    """(conversation, turn, system, what is added)."""
    if isinstance(record, ResponseRecord):
        what = record.text
    elif isinstance(record, RatingRecord):
        what = f"{record.rater}: {record.aspect} = {record.score:g}"
    else:
        value = record.value if isinstance(record.value, str) else ", ".join(record.value)
        what = f"{record.rater}: {record.question} = {value}"
    return record.dialogue_id, record.turn, record.system, what[:300]


@sensitive_variables()
def _added(
    request: HttpRequest, version: CorpusVersion, form: AdditionForm, path: Path
) -> dict[str, Any]:
    return add_as_form_says(path, form.choices(version), request.user)


def _ended_import(request: HttpRequest, version: CorpusVersion) -> HttpResponse | None:
    """The form with the problems that a worker found in its file."""
    key = parse_integer(request.GET.get("import", ""), DIGITS_OF_A_KEY)
    job = CorpusImport.objects.filter(pk=key, fields__adds_to=str(version.pk)).first()
    if job is None:
        return None
    upload = pending_uploads.offered(job.stored, job.file_name, request.user)
    form = AdditionForm({**job.fields, "uploaded": upload.token}, user=request.user)
    columns: list[ShownColumn] = []
    if form.is_valid() and form.upload:
        with pending_uploads.readable(form.upload) as path, suppress(ImportFailed):
            columns = table_columns(path, form.mapping())
    found = job.outcome.get("problems") or [job.error]
    return _form_page(request, version, form, columns, None, found, job.outcome.get("is_cut"))


def _form_page(
    request: HttpRequest,
    version: CorpusVersion,
    form: AdditionForm,
    columns: Sequence[ShownColumn] = (),
    shown: _Preview | None = None,
    problems: Sequence[str] = (),
    is_cut: bool = False,
) -> HttpResponse:
    context = {
        "section": "corpora",
        "tab": "add",
        "version": version,
        "form": form,
        "columns": columns if len(columns) <= MAX_MAPPED_COLUMNS else [],
        "uses": USES,
        "preview": shown,
        "problems": problems,
        "is_cut": is_cut,
        "largest_mb": form.most_bytes() // 1_000_000,
    }
    status = 422 if request.method == "POST" and (problems or form.errors) else 200
    return render(request, "leaderboard/add_to_corpus.html", context, status=status)
