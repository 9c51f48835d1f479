"""Pages about raters and their ratings: how they rate, whose ratings count, files, publication."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.actions import publishing, quality
from annotations.campaigns.flag_text import FlagText, flag_text
from annotations.campaigns.forms.collecting import CorpusForm
from annotations.campaigns.forms.quality import (
    ConflictForm,
    ExclusionForm,
    FlaggedRatersForm,
    PublishForm,
    RemovalForm,
)
from annotations.campaigns.models import Campaign, Participation
from annotations.campaigns.queries import quality as queries
from annotations.campaigns.queries.adjudication import (
    ADJUDICATED_KINDS,
    adjudicated_items,
    adjudication_count,
)
from annotations.campaigns.queries.collection import corpus_of, dialogues_by, writers_table
from annotations.campaigns.queries.rating_stream import (
    campaign_document,
    campaign_records,
    newest_ratings,
    ratings_to_export,
)
from annotations.campaigns.queries.ratings import (
    aspects_to_publish,
    publication_of,
    question_keys,
)
from annotations.campaigns.rating_tables import raters_table, ratings_table, shown_columns
from annotations.campaigns.views.collect import is_stored_as_corpus
from annotations.formats.exporters import mt_metrics_eval
from annotations.formats.exporters.rating_files import (
    csv_of_adjudications,
    csv_of_ratings,
    csv_of_revisions,
    json_lines,
)
from common.database import read_snapshot
from common.temporary import temporary_folder
from common.web import is_head_request, page, stream_as_file

RATINGS_A_PAGE = 100
FORMATS = ("csv", "revisions-csv", "jsonl", "mt-metrics-eval", "adjudications", "campaign")


@require_safe
@organisers_page
def raters(request: HttpRequest, slug: str) -> HttpResponse:
    """How each rater works; ``rater`` is the number of one: stakes, exclusion."""
    return _raters_page(request, campaign_or_404(slug), request.GET.get("rater", ""))


def _raters_page(
    request: HttpRequest,
    campaign: Campaign,
    number: str,
    forms: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    everyone = queries.raters_of(campaign)
    collects = campaign.kind == Campaign.Kind.COLLECTION
    table = writers_table(campaign) if collects else raters_table(campaign, everyone)
    chosen = next((rater for rater in everyone if str(rater.number) == number), None)
    if number and chosen is None:
        raise Http404(f"there is no rater {number}")
    context = {
        "section": "campaigns",
        "tab": "raters",
        "campaign": campaign,
        "table": table,
        "shown_columns": shown_columns(everyone),
        "chosen": chosen,
        "flagged": _flagged(rater for rater in everyone if rater.flags and rater.counted),
    }
    if chosen is not None:
        context |= {
            "conflicts": queries.conflicts_of(chosen.participation),
            "exclusion_form": ExclusionForm(),
            "removal_form": RemovalForm(),
            "conflict_form": ConflictForm(campaign),
            "flags": [flag_text(flag) for flag in chosen.flags],
            "written": dialogues_by(chosen.participation) if collects else None,
            **(forms or {}),
        }
    if status != 200:
        return render(request, "campaigns/raters.html", context, status=status)
    return page(request, "campaigns/raters.html", context, [table])


def _flagged(raters: Iterable[queries.RaterQuality]) -> list[tuple[int, str, list[FlagText]]]:
    """(number, pseudonym, what each flag says) of each rater."""
    return [
        (rater.number, rater.participation.pseudonym, [flag_text(flag) for flag in rater.flags])
        for rater in raters
    ]


@require_POST
@organisers_page
def exclude(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """``reason``: none of the rater's ratings counts any more."""
    campaign, rater = _rater_or_404(slug, number)
    form = ExclusionForm(request.POST)
    if not form.is_valid():
        return _raters_page(request, campaign, str(number), {"exclusion_form": form}, status=422)
    count = quality.exclude(rater, form.cleaned_data["reason"], by=request.user)
    if campaign.kind == Campaign.Kind.COLLECTION:
        messages.success(request, _("%(rater)s is excluded.") % {"rater": rater.pseudonym})
        return _back_to_rater(slug, number)
    words = ngettext(
        "%(rater)s is excluded. %(count)s rating no longer counts; its place is free for others.",
        "%(rater)s is excluded. %(count)s ratings no longer count; their places are free for "
        "others.",
        count,
    )
    messages.success(request, words % {"rater": rater.pseudonym, "count": count})
    return _back_to_rater(slug, number)


@require_POST
@organisers_page
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """``removal-ratings`` (``keep``, ``exclude``), ``removal-reason``: the person has no access any
    more."""
    campaign, rater = _rater_or_404(slug, number)
    form = RemovalForm(request.POST)
    if not form.is_valid():
        return _raters_page(request, campaign, str(number), {"removal_form": form}, status=422)
    keeps_ratings = form.cleaned_data["ratings"] == "keep"
    count = quality.remove(rater, form.cleaned_data["reason"], keeps_ratings, by=request.user)
    text = _("%(rater)s is removed and has no access any more.") % {"rater": rater.pseudonym}
    if count:
        text += " " + _("Ratings that no longer count: %(count)s.") % {"count": count}
    messages.success(request, text)
    return _back_to_rater(slug, number)


@require_POST
@organisers_page
def restore(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """They count again where slots are free."""
    _campaign, rater = _rater_or_404(slug, number)
    restored = quality.restore(rater, by=request.user)
    messages.success(
        request,
        _restored_text(_("%(rater)s may rate again.") % {"rater": rater.pseudonym}, restored),
    )
    return _back_to_rater(slug, number)


def _restored_text(start: str, restored: quality.Restored) -> str:
    words = _("Ratings that count again: %(counted)s.") % {"counted": restored.counted}
    if restored.full:
        words += " " + _(
            "%(full)s do not, because others have filled the items' places meanwhile."
        ) % {"full": restored.full}
    return f"{start} {words}"


@require_POST
@organisers_page
def conflict(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """``system``, ``withdraw``: the rater's stake in a system."""
    campaign, rater = _rater_or_404(slug, number)
    form = ConflictForm(campaign, request.POST)
    if rater.user is None:
        messages.error(request, _("This rater's account was deleted, so no stake can be noted."))
        return _back_to_rater(slug, number)
    if not form.is_valid():
        return _raters_page(request, campaign, str(number), {"conflict_form": form}, status=422)
    system = form.cleaned_data["system"]
    names = {"rater": rater.pseudonym, "system": system.name}
    if form.cleaned_data["withdraw"]:
        restored = quality.withdraw_conflict(rater.user, system, by=request.user)
        messages.success(
            request, _restored_text(_("%(rater)s may rate %(system)s.") % names, restored)
        )
    else:
        count = quality.declare_conflict(rater.user, system, by=request.user)
        words = _(
            "%(rater)s is not given %(system)s any more. Ratings that no longer count: %(count)s."
        )
        messages.success(request, words % {**names, "count": count})
    return _back_to_rater(slug, number)


def _rater_or_404(slug: str, number: int) -> tuple[Campaign, Participation]:
    campaign = campaign_or_404(slug)
    rater = queries.rater_at(campaign, number)
    if rater is None:
        raise Http404(f"there is no rater {number}")
    return campaign, rater


def _back_to_rater(slug: str, number: int) -> HttpResponse:
    return redirect(f"{reverse('campaign-raters', args=[slug])}?rater={number}#rater")


# --- ratings --------------------------------------------------------------------------------------


@require_safe
@organisers_page
def ratings(request: HttpRequest, slug: str) -> HttpResponse:
    """Current ratings, 100 a ``page``; files; publishing."""
    return _ratings_page(request, _rated_campaign(slug))


def _ratings_page(
    request: HttpRequest,
    campaign: Campaign,
    form: PublishForm | CorpusForm | None = None,
    status: int = 200,
    decisions: FlaggedRatersForm | None = None,
) -> HttpResponse:
    found = Paginator(newest_ratings(campaign), RATINGS_A_PAGE).get_page(request.GET.get("page"))
    table = ratings_table(campaign, found)
    can_publish = bool(aspects_to_publish(campaign))
    context = {
        "section": "campaigns",
        "tab": "ratings",
        "campaign": campaign,
        "page": found,
        "table": table,
        "shown_columns": ",".join(one.key for one in table.columns if not one.detail),
        "publication": publication_of(campaign),
        "can_publish": can_publish,
        "has_scores": can_publish and not campaign.compares,
        "corpus": corpus_of(campaign) if campaign.kind == Campaign.Kind.INTERACTIVE else None,
        "stands_still": campaign.state in (Campaign.State.PAUSED, Campaign.State.CLOSED),
        "form": form or _publish_form(campaign),
        "decisions": decisions,
        "may_adjudicate": campaign.kind in ADJUDICATED_KINDS,
        "adjudicated": adjudication_count(campaign),
    }
    if request.method == "POST":
        return render(request, "campaigns/ratings.html", context, status=status)
    return page(request, "campaigns/ratings.html", context, [table])


def _publish_form(
    campaign: Campaign, data: Mapping[str, str] | None = None
) -> PublishForm | CorpusForm:
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        return CorpusForm(campaign, data)
    return PublishForm(data, initial={"aspect": publishing.default_aspect(campaign)})


def _rated_campaign(slug: str) -> Campaign:
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    return campaign


@require_safe
@organisers_page
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """The ratings as a file: ``format`` (``csv`` without it, ``revisions-csv``, ``jsonl``,
    ``mt-metrics-eval``, a ZIP; ``adjudications``, what was decided of items whose raters differ;
    ``campaign``, what was asked, with every version of the form); ``names=1`` adds the account
    names, ``all=1`` what does not count."""
    campaign = _rated_campaign(slug)
    form = request.GET.get("format", "csv")
    accounts, everything = request.GET.get("names") == "1", request.GET.get("all") == "1"
    if form not in FORMATS:
        raise Http404(f"there is no format {form!r}. Formats: {', '.join(FORMATS)}")
    if form == "campaign":
        text = json.dumps(campaign_document(campaign), ensure_ascii=False) + "\n"
        return stream_as_file((text,), f"{campaign.slug}-campaign.json", "application/json")
    if form == "mt-metrics-eval" and campaign.compares:
        raise Http404("mt-metrics-eval holds scores, and raters of pairs give none")
    name = f"{campaign.slug}-ratings" + ("-all" if everything else "")
    if form == "mt-metrics-eval":
        name += f"-{form}"
        if is_head_request(request):
            return stream_as_file((), f"{name}.zip", "application/zip")
        return _zip_of(campaign, everything, name)
    name += "-with-names" if accounts else ""
    found = ratings_to_export(campaign, everything, accounts)
    axes, questions = [axis["key"] for axis in campaign.axes], question_keys(campaign)
    if form == "adjudications":
        return stream_as_file(
            csv_of_adjudications(adjudicated_items(campaign), questions, campaign.is_of_pairs),
            f"{campaign.slug}-adjudications.csv",
            "text/csv; charset=utf-8",
        )
    if form == "jsonl":
        return stream_as_file(
            json_lines(found, accounts), f"{name}.jsonl", "application/jsonl; charset=utf-8"
        )
    if form == "csv":
        return stream_as_file(
            csv_of_ratings(found, axes, accounts, questions, campaign.compared_column),
            f"{name}.csv",
            "text/csv; charset=utf-8",
        )
    return stream_as_file(
        csv_of_revisions(found, axes, accounts, questions, campaign.compared_column),
        f"{name}-revisions.csv",
        "text/csv; charset=utf-8",
    )


def _zip_of(campaign: Campaign, everything: bool, name: str) -> HttpResponse:
    file = tempfile.TemporaryFile()  # noqa: SIM115  the response closes it when it is sent
    with temporary_folder() as made:
        folder = made / name
        folder.mkdir()
        with read_snapshot():
            mt_metrics_eval.write(campaign_records(campaign, everything), (), folder)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(made))
    file.seek(0)
    return FileResponse(
        file, as_attachment=True, filename=f"{name}.zip", content_type="application/zip"
    )


@require_POST
@organisers_page
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Copy the ratings that count into the corpus, under ``aspect``; of chats make a corpus, with
    ``slug``, ``name`` and ``is_public``. Where raters are flagged, the page asks about each first:
    ``flagged-<number>`` is ``keep`` or ``exclude``."""
    campaign = _rated_campaign(slug)
    form = _publish_form(campaign, request.POST)
    if not form.is_valid():
        return _ratings_page(request, campaign, form, status=422)
    flagged = queries.flagged_raters(campaign)
    decisions = FlaggedRatersForm(
        _flagged(flagged), request.POST if "flagged-asked" in request.POST else None
    )
    if flagged and not decisions.is_valid():
        status = 422 if decisions.is_bound else 200
        return _ratings_page(request, campaign, form, status, decisions)
    for rater in flagged:
        if decisions.is_left_out(rater.number):
            quality.exclude(rater.participation, decisions.reason_of(rater.number), by=request.user)
    if isinstance(form, CorpusForm):
        if not is_stored_as_corpus(request, campaign, form):
            return _ratings_page(request, campaign, form, status=422)
        return redirect("campaign-ratings", slug=slug)
    try:
        count = publishing.publish(campaign, form.cleaned_data["aspect"], by=request.user)
    except publishing.CannotPublish as refusal:
        form.add_error(None, str(refusal))
        return _ratings_page(request, campaign, form, status=422)
    words = ngettext("%(count)s rating is published.", "%(count)s ratings are published.", count)
    messages.success(request, words % {"count": f"{count:,}"})
    return redirect("campaign-ratings", slug=slug)


@require_POST
@organisers_page
def unpublish(request: HttpRequest, slug: str) -> HttpResponse:
    """Take them out again."""
    removed = publishing.unpublish(_rated_campaign(slug), by=request.user)
    words = ngettext(
        "%(count)s rating is no longer part of the corpus.",
        "%(count)s ratings are no longer part of the corpus.",
        removed,
    )
    messages.success(request, words % {"count": f"{removed:,}"})
    return redirect("campaign-ratings", slug=slug)
