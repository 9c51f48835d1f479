"""The pages on which organisers add a corpus: a file is sent, shown and stored, at once or by a
worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.corpora import actions, imports, pending_uploads
from annotations.corpora.format_groups import format_groups
from annotations.corpora.forms import MAX_MAPPED_COLUMNS, CorpusForm
from annotations.corpora.views import ORGANISERS, organisers_only
from annotations.formats.importers import jsonl, table
from annotations.formats.importers.base import Importer, survey
from annotations.formats.importers.column_mapping import USES
from annotations.formats.importers.left_out import LeftOut, left_out
from annotations.formats.importers.preview import ShownColumn, first_rows, preview, table_columns
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format, possible_formats
from annotations.models import Corpus, CorpusImport, CorpusVersion
from common.file_bodies import takes_file
from common.web import organisers_alone, wants_json


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_only
@takes_file(organisers_alone(*ORGANISERS), limit="MAX_CORPUS_UPLOAD_BYTES")
def corpus_new(request: HttpRequest) -> HttpResponse:
    """Add a corpus: ``file``, ``address``, or ``uploaded`` (one that was sent before); ``format``
    (detected without it); ``preview`` (show it, store nothing); ``good_only`` (leave out bad
    records), ``left-out`` (these as CSV); ``column-N``, ``use-N``, ``aspect-N`` and
    ``rater-N`` (of a table); ``name``, ``slug``, ``seen_by`` (``everybody``, ``organisers``),
    ``is_new_version``. With GET a file that was sent is shown; ``corpus=`` the form for a new
    version of one. In JSON: where the file is shown.

    A file above ``imports.IMMEDIATE_BYTES`` is stored by a worker, and of it the first rows alone
    are shown before. One at an address is downloaded by a worker, unless it is small and quick.
    """
    is_sent = request.method == "POST"
    if not is_sent and "uploaded" not in request.GET:
        slug = request.GET.get("corpus", "")
        is_known = Corpus.objects.filter(slug=slug[:80]).exists()
        initial = {"slug": slug, "is_new_version": True} if is_known else {}
        shown = imports.shown_imports()
        return _form_page(request, CorpusForm(initial=initial), under_way=shown)
    data = request.POST if is_sent else _without_address(request.GET)
    form = CorpusForm(data, request.FILES, user=request.user)
    is_valid = form.is_valid()
    if is_valid and form.is_large_address:
        address = form.cleaned_data["address"]
        job = imports.start_download(address, form.choices(), request.user)
        response = redirect("corpus-import", job.pk)
        if wants_json(request):
            return JsonResponse({"location": response["Location"]}, status=201)
        return response
    if is_sent and wants_json(request):
        return _location(form)
    if not is_valid or form.upload is None:
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
        is_preview = form.is_preview or not is_sent
        form.cleaned_data["format"] = name
        size = path.stat().st_size
        is_large = size > imports.IMMEDIATE_BYTES
        try:
            if "left-out" in form.data:
                return _left_out_file(form, path, is_large)
            if is_preview:
                return _preview_page(request, form, importers()[name], path, is_large)
            if is_large:
                job = imports.start(form.upload, size, form.choices(), request.user)
                return redirect("corpus-import", job.pk)
            outcomes = _imported(request, form, path)
        except ImportFailed as failure:
            form.offer_format(likely, read_as=name)
            columns = _shown_columns(form, importers()[name], path)
            problems = imports.problems_of(failure, form.upload.name)
            return _form_page(
                request, form, problems, failure.stopped, columns, is_beginning=is_large
            )
        except actions.CorpusExists as known:
            form.add_error("slug", _exists_already(known))
            return _form_page(request, form)
    pending_uploads.remove(form.upload)
    return _stored(request, imports.stored_corpora(outcomes))


def _without_address(data: QueryDict) -> QueryDict:
    """A link downloads nothing."""
    data = data.copy()
    data.pop("address", None)
    return data


def _location(form: CorpusForm) -> JsonResponse:
    """To a page that has sent the file by itself: where the file is shown, or what is wrong with
    it."""
    if form.upload is None:
        faults = [message for messages in form.errors.values() for message in messages]
        return JsonResponse({"errors": [{"message": one} for one in faults]}, status=422)
    shown = {name: form.data[name] for name in ("uploaded", *form.fields) if form.data.get(name)}
    shown.pop("address", None)
    return JsonResponse({"location": f"{reverse('corpus-new')}?{urlencode(shown)}"}, status=201)


def _exists_already(slug: object) -> str:
    message = _(
        "%(slug)s is here already. Choose another address, or say that this is a new version of it."
    )
    return message % {"slug": slug}


@sensitive_variables()
def _imported(request: HttpRequest, form: CorpusForm, path: Path) -> list[actions.ImportOutcome]:
    source = form.upload.source if form.upload else ""
    return imports.import_file(path, form.choices(), request.user, source)


def _left_out_file(form: CorpusForm, path: Path, is_large: bool) -> HttpResponse:
    """The records that would be left out, of all corpora of the file. Of a large one its import has
    found them."""
    job = imports.latest_of(form.upload) if is_large and form.upload else None
    if job is not None and "bad_records" in job.outcome:
        found = LeftOut.of_json(job.outcome["bad_records"])
    else:
        parts = survey(imports.importer_of(form.choices()), path, good_only=True)
        found = LeftOut(
            records=tuple(one for part in parts for one in left_out(path, part).records)
        )
    response = HttpResponse(found.csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="left-out.csv"'
    return response


def _preview_page(
    request: HttpRequest, form: CorpusForm, importer: Importer, path: Path, is_large: bool
) -> HttpResponse:
    """The format, counts, first rows, and what each column of a table is: nothing is stored."""
    found = (first_rows if is_large else preview)(
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
        "is_large": is_large,
        "format": importer,
        "other_formats": ", ".join(others),
        "columns": _shown_columns(form, importer, path),
        "uses": USES,
        "format_groups": format_groups(),
        "jsonl_example": jsonl.IMPORTER.example,
        **_largest(),
    }
    return render(request, "annotations/corpus_new.html", context)


def _largest() -> dict[str, int]:
    most = CorpusForm.most_bytes()
    return {"largest_bytes": most, "largest_mb": most // 1_000_000}


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
    problems: Sequence[str] = (),
    is_cut: bool = False,
    columns: Sequence[ShownColumn] = (),
    **more: Any,
) -> HttpResponse:
    context = {
        "section": "corpora",
        "form": form,
        "problems": problems,
        "is_cut": is_cut,
        "columns": columns,
        "uses": USES,
        "format_groups": format_groups(),
        "jsonl_example": jsonl.IMPORTER.example,
        **_largest(),
        **more,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "annotations/corpus_new.html", context, status=status)


@require_safe
@organisers_only
def corpus_import(request: HttpRequest, pk: int) -> HttpResponse:
    """A file that a worker stores: its progress, to htmx that alone; then the corpus, or the form
    with the problems of the file."""
    job = _import_or_404(pk)
    if job.state in imports.UNDER_WAY:
        context = {
            "section": "corpora",
            "job": job,
            "done_mb": (job.progress.get("bytes") or 0) // 1_000_000,
            "total_mb": (job.progress.get("total") or job.size) // 1_000_000,
        }
        name = "_import_progress" if request.htmx else "corpus_import"
        return render(request, f"annotations/{name}.html", context)
    if request.htmx:
        response = HttpResponse()
        response["HX-Refresh"] = "true"
        return response
    if job.state == CorpusImport.State.DONE and "downloaded" in job.outcome:
        upload = pending_uploads.offered(user=request.user, **job.outcome["downloaded"])
        shown = {"uploaded": upload.token, **job.fields}
        del shown["address"]
        return redirect(f"{reverse('corpus-new')}?{urlencode(shown)}")
    if imports.ADDS_TO in job.fields:
        if job.state == CorpusImport.State.DONE:
            show_addition(request, job.outcome)
            return redirect("corpus", job.fields["slug"])
        version = CorpusVersion.objects.filter(pk=job.fields[imports.ADDS_TO]).first()
        if version is None:
            raise Http404("the corpus was deleted")
        page = reverse("corpus-add", args=[job.fields["slug"]])
        return redirect(f"{page}?version={version.number}&import={job.pk}")
    if job.state == CorpusImport.State.DONE:
        return _stored(request, job.outcome["corpora"])
    if "address" in job.fields:
        return _form_page(request, CorpusForm(initial=job.fields), ended_import=job)
    upload = pending_uploads.offered(job.stored, job.file_name, request.user, job.source)
    form = CorpusForm({**job.fields, "uploaded": upload.token}, user=request.user)
    columns: list[ShownColumn] = []
    if form.is_valid() and form.upload and job.fields["format"]:
        with pending_uploads.readable(form.upload) as path:
            columns = _shown_columns(form, importers()[job.fields["format"]], path)
    if "corpus_exists" in job.outcome:
        form.add_error("slug", _exists_already(job.outcome["corpus_exists"]))
    return _form_page(
        request,
        form,
        job.outcome.get("problems", []),
        job.outcome.get("is_cut", False),
        columns,
        ended_import=job,
    )


@require_POST
@organisers_only
def corpus_import_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel it: nothing is stored, and the file stays for a day."""
    if not imports.cancel(_import_or_404(pk), request.user):
        messages.info(request, _("The import had ended."))
    return redirect("corpus-import", pk)


def _import_or_404(pk: int) -> CorpusImport:
    job = CorpusImport.objects.filter(pk=pk).first() if pk < 2**63 else None
    if job is None:
        raise Http404("there is no such import")
    return job


def _stored(request: HttpRequest, corpora: Sequence[Mapping[str, Any]]) -> HttpResponse:
    """To what was stored, with its counts."""
    for one in corpora:
        _add_messages(request, one)
    return redirect("corpus", corpora[0]["slug"]) if len(corpora) == 1 else redirect("home")


def show_addition(request: HttpRequest, outcome: Mapping[str, Any]) -> None:
    """What became of a table that was added to a corpus."""
    if names := ", ".join(outcome.get("metrics", [])):
        messages.success(
            request, _("Added to the metric leaderboard: %(names)s.") % {"names": names}
        )
    elif "metrics" in outcome:
        messages.info(request, _("Nothing is changed: this file has been added before."))
    elif outcome["is_new"]:
        text = _("%(version)s is stored, made of %(older)s and the file.")
        messages.success(request, text % outcome)
    else:
        messages.info(request, _("Nothing is changed: %(version)s holds this content.") % outcome)


def _add_messages(request: HttpRequest, stored: Mapping[str, Any]) -> None:
    if not stored["is_new"]:
        if stored["newest"] != stored["version"]:
            text = _(
                "%(slug)s: nothing is changed. %(version)s holds this content; the newest version "
                "is still %(newest)s."
            )
            messages.warning(request, text % stored)
        else:
            text = _("%(slug)s: nothing is changed. %(version)s holds this content.")
            messages.info(request, text % stored)
        return
    text = _(
        "%(slug)s: %(version)s is stored. Dialogues: %(dialogues)s, turns: %(turns)s, "
        "systems: %(systems)s, responses: %(responses)s, ratings: %(ratings)s."
    )
    messages.success(request, text % stored)
    if not_there := stored["left_out"]:
        text = ngettext(
            "%(n)d record of the file is not in it; this page lists it.",
            "%(n)d records or answers of the file are not in it; this page lists them.",
            not_there,
        )
        messages.warning(request, text % {"n": not_there})
