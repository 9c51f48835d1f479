"""Organisers add a corpus from a file, and say who sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotations import actions
from annotations.corpus_forms import EVERYBODY, CorpusForm, SeenByForm
from annotations.importers.base import ImportFailed
from annotations.importers.registry import importers
from annotations.models import Corpus
from common.file_bodies import takes_file
from common.web import organisers_alone, organisers_page

ORGANISERS = ("home", gettext_lazy("only organisers add corpora and say who sees them"))
organisers_only = organisers_page(*ORGANISERS)


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_only
@takes_file(organisers_alone(*ORGANISERS))
def corpus_new(request: HttpRequest) -> HttpResponse:
    """The file is read whole before anything is stored, in this request: its size is bounded."""
    if request.method != "POST":
        return _form_page(
            request, CorpusForm(initial=_new_version_of(request.GET.get("corpus", "")))
        )
    form = CorpusForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form_page(request, form)
    try:
        outcomes = _imported(request, form)
    except ImportFailed as failure:
        form.offer_the_format_that_the_file_has()
        return _form_page(request, form, failure)
    except actions.CorpusExists as known:
        message = _(
            "%(slug)s is here already. Choose another address, or say that this is a new version "
            "of it."
        )
        form.add_error("slug", message % {"slug": known})
        return _form_page(request, form)
    for outcome in outcomes:
        _tell(request, outcome)
    return (
        redirect("corpus", outcomes[0].version.corpus.slug)
        if len(outcomes) == 1
        else redirect("home")
    )


def _new_version_of(slug: str) -> dict[str, object]:
    return (
        {"slug": slug, "is_new_version": True}
        if Corpus.objects.filter(slug=slug[:80]).exists()
        else {}
    )


@sensitive_variables()
def _imported(request: HttpRequest, form: CorpusForm) -> list[actions.ImportOutcome]:
    params = form.cleaned_data
    return actions.import_corpus(
        importers()[params["format"]],
        Path(params["file"].temporary_file_path()),
        params["slug"],
        params["name"],
        is_public=params["seen_by"] == EVERYBODY,
        by=request.user,
        may_exist=params["is_new_version"],
        language=params["language"],
    )


def _form_page(
    request: HttpRequest, form: CorpusForm, failure: ImportFailed | None = None
) -> HttpResponse:
    """Problems are told with the sender's name of the file, not with the one that it has here."""
    file_name = form.cleaned_data["file"].name if failure else ""
    context = {
        "section": "corpora",
        "form": form,
        "problems": [str(replace(problem, file=file_name)) for problem in failure.problems]
        if failure
        else [],
        "is_cut": failure is not None and failure.stopped,
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


@require_POST
@organisers_only
def corpus_seen_by(request: HttpRequest, slug: str) -> HttpResponse:
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
