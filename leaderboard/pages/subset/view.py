"""The page on which organisers cut an evaluation set from a corpus."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotations.corpora.actions import CorpusExists
from annotations.corpora.queries import NotFound, counts_of
from annotations.corpora.shortcuts import version_or_404
from annotations.formats.importers.problems import ImportFailed
from common.database import read_snapshot
from common.web import organisers_page
from leaderboard.pages.subset.forms import SubsetForm
from leaderboard.reproduction.evaluation_sets import TooFewError
from leaderboard.subsets import CutSet, cut_set, store_set
from workers.metrics.common.configuration import ConfigurationError

MOST_RESPONSES = 50_000
"""Of the whole corpus: all are read in the request."""


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page("home", gettext_lazy("only organisers cut sets from a corpus"))
def cut_subset(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the responses of a corpus that a score chooses as a corpus: ``by`` (``human``, a
    metric), ``aspect``, ``at_least``, ``below``, ``highest``, ``draw``, ``balanced``, ``seed``;
    ``preview`` (count them, store nothing); ``name``, ``slug``, ``seen_by``."""
    version = version_or_404(request, slug)
    if request.method != "POST":
        return _form_page(request, SubsetForm(version))
    form = SubsetForm(version, request.POST)
    if counts_of(version).responses > MOST_RESPONSES:
        text = _("The corpus is too large to be cut here. On the server: manage.py subset %(slug)s")
        form.add_error(None, text % {"slug": slug})
    if not form.is_valid():
        return _form_page(request, form)
    given = form.cleaned_data
    requested: tuple[Any, ...] = (version, given["by"], given["aspect"], form.cut)
    try:
        if "preview" in request.POST:
            with read_snapshot():
                return _form_page(request, form, cut_set(*requested))
        outcome = store_set(
            *requested,
            slug=given["slug"],
            name=given["name"],
            is_public=form.is_public,
            user=request.user,
        )
    except (NotFound, ConfigurationError, TooFewError, ImportFailed) as refusal:
        form.add_error(None, str(refusal))
        return _form_page(request, form)
    except CorpusExists as known:
        form.add_error("slug", _("%(slug)s is here already.") % {"slug": known})
        return _form_page(request, form)
    names = {"slug": outcome.version.corpus.slug, "version": outcome.version.label}
    if outcome.created:
        messages.success(request, _("%(slug)s: %(version)s is stored.") % names)
    else:
        text = _("%(slug)s: nothing is changed. %(version)s holds this content.")
        messages.info(request, text % names)
    return redirect("corpus", given["slug"])


def _form_page(
    request: HttpRequest, form: SubsetForm, chosen: CutSet | None = None
) -> HttpResponse:
    context = {
        "section": "corpora",
        "tab": "subset",
        "version": form.version,
        "form": form,
        "chosen": chosen,
    }
    status = 422 if form.errors else 200
    return render(request, "leaderboard/subset.html", context, status=status)
