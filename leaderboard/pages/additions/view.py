"""The page on which organisers add a table to a corpus: ratings, labels and responses, or scores of
metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from annotations.corpora import pending_uploads
from annotations.corpora.additions import addition_to
from annotations.corpora.forms import MAX_MAPPED_COLUMNS
from annotations.corpora.shortcuts import version_or_404
from annotations.formats.importers.addition import Addition
from annotations.formats.importers.base import ImportFailed, PartSurvey, survey
from annotations.formats.importers.column_mapping import USES
from annotations.formats.importers.preview import ShownColumn, table_columns
from annotations.formats.records import LabelRecord, RatingRecord, ResponseRecord
from annotations.models import CorpusVersion
from common.file_bodies import takes_file
from common.web import organisers_alone, organisers_page
from leaderboard.additions import add_table
from leaderboard.metric_score_tables import TableScores, add_metric_scores, read_metric_scores
from leaderboard.pages.additions.forms import LOWER, METRIC_SCORES, AdditionForm

ORGANISERS = ("home", gettext_lazy("only organisers add to a corpus"))


@dataclass(frozen=True, slots=True)
class _Preview:
    """What a table adds: of ratings and responses the counts and first records, of metrics' scores
    each metric."""

    counts: Sequence[tuple[str, int]] = ()
    rows: Sequence[tuple[str, int | None, str, str]] = ()
    metrics: Sequence[TableScores] = ()
    survey: PartSurvey | None = None


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page(*ORGANISERS)
@takes_file(organisers_alone(*ORGANISERS))
def add_to_corpus(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a table to a version of a corpus: ``file``, or ``uploaded`` (one that was sent before);
    ``holds`` (``ratings``, ``metric-scores``), ``direction`` of the metrics' scores; ``preview``
    (show it, store nothing); ``column-N``, ``use-N``, ``aspect-N`` and ``rater-N``."""
    version = version_or_404(request, slug)
    if request.method != "POST":
        return _form_page(request, version, AdditionForm())
    form = AdditionForm(request.POST, request.FILES, user=request.user)
    if not form.is_valid() or form.upload is None:
        return _form_page(request, version, form)
    with pending_uploads.readable(form.upload) as path:
        columns: list[ShownColumn] = []
        try:
            columns = table_columns(path, form.mapping())
            if form.is_preview:
                shown = _preview(version, form, path)
                return _form_page(request, version, form, columns, shown)
            _store(request, version, form, path)
        except ImportFailed as failure:
            return _form_page(request, version, form, columns, failure=failure)
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
def _store(request: HttpRequest, version: CorpusVersion, form: AdditionForm, path: Path) -> None:
    if form.cleaned_data["holds"] == METRIC_SCORES:
        higher = form.cleaned_data["direction"] != LOWER
        added = add_metric_scores(version, path, request.user, form.mapping(), higher)
        new = ", ".join(one.metric.name for one in added if one.created)
        if new:
            messages.success(
                request, _("Added to the metric leaderboard: %(names)s.") % {"names": new}
            )
        else:
            messages.info(request, _("Nothing is changed: this file has been added before."))
        return
    outcome = add_table(version, path, form.mapping(), by=request.user)
    if outcome.created:
        names = {"version": outcome.version.label, "older": version.label}
        text = _("%(version)s is stored, made of %(older)s and the file.")
        messages.success(request, text % names)
    else:
        text = _("Nothing is changed: %(version)s holds this content.")
        messages.info(request, text % {"version": outcome.version.label})


def _form_page(
    request: HttpRequest,
    version: CorpusVersion,
    form: AdditionForm,
    columns: Sequence[ShownColumn] = (),
    shown: _Preview | None = None,
    failure: ImportFailed | None = None,
) -> HttpResponse:
    """Problems are listed with the sender's name of the file, not with the one that it has here."""
    file_name = form.upload.name if failure and form.upload else ""
    context = {
        "section": "corpora",
        "tab": "add",
        "version": version,
        "form": form,
        "columns": columns if len(columns) <= MAX_MAPPED_COLUMNS else [],
        "uses": USES,
        "preview": shown,
        "problems": [str(replace(one, file=file_name)) for one in failure.problems]
        if failure
        else [],
        "is_cut": failure is not None and failure.stopped,
        "largest_mb": form.most_bytes() // 1_000_000,
    }
    status = 422 if failure or form.errors else 200
    return render(request, "leaderboard/add_to_corpus.html", context, status=status)
