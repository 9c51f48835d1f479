"""How far raters of a corpus agree, the live agreement of a rating campaign, and rater effects:
strict and lenient raters, and the systems' order without them."""

from __future__ import annotations

from functools import cache, partial

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotations.agreement.cohen import Weighting
from annotations.campaigns.access import campaign_or_404, organisers_page
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.adjudication import ADJUDICATED_KINDS, adjudication_count
from annotations.campaigns.queries.overview import progress_of
from annotations.campaigns.queries.ratings import (
    aspects_of,
    form_of_campaign,
    rated_systems,
    resolve_campaign_aspect,
    select_rated_systems,
)
from annotations.corpora.queries import NotFound
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.cache import memoize
from common.table_frame import page_writer
from common.tables import Table
from common.tables.to_html import TableWriter
from common.web import page
from leaderboard import queries
from leaderboard.answers.raters import RaterEffects
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.pages.raters import query
from leaderboard.pages.raters.agreement_tables import agreement_tables
from leaderboard.pages.raters.campaign_tables import tables_of
from leaderboard.pages.raters.effects_tables import (
    corrected_table,
    effects_signature,
    in_one_sentence,
    key_figures,
    rater_rows,
    rater_table,
)
from leaderboard.pages.raters.figures import scale_use, severity_forest
from leaderboard.pages.raters.matrix import WEIGHTINGS, pair_matrix
from leaderboard.pages.raters.verdict import most_ratings_first, verdict
from leaderboard.queries import standing
from leaderboard.queries.agreement_pairs import PAIRS_SHOWN, with_all_pairs
from leaderboard.results import look, whole
from leaderboard.results.pages import waiting_page

MATRIX_RATERS = 14
"""Of so many the stored answer has every pair: 91 of at most ``PAIRS_SHOWN``."""


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the raters agree."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    levels = queries.rated_levels(version, aspect)
    level = request.GET.get("level") or (levels[0] if levels else "turn")
    if level not in ("turn", "dialogue"):
        raise Http404("agreement exists at turn and dialogue level")
    found = look(version, standing.agreement, aspect=aspect, level=level)
    context = {**corpus_context(version, "agreement", aspect), "level": level, "levels": levels}
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Agreement")
    pseudonyms = {rater.name: rater.pseudonym for rater in version.raters.all()}
    report, computed_at = found.answer, found.computed_at
    written_from = (found.stored, str(pseudonyms))

    @cache
    def tables() -> dict[str, TableWriter]:
        made = cache(
            lambda: [page_writer(one) for one in agreement_tables(report, computed_at, pseudonyms)]
        )
        return {
            name: memoize(
                ("agreement", place, *written_from), partial(lambda number: made()[number], place)
            )
            for place, name in enumerate(("coefficients", "pairs", "scores"))
        }

    context |= {
        "analysis": found,
        "report": report,
        "verdict": verdict(report),
        "matrix": cache(
            lambda: pair_matrix(
                report.cohen_kappa[WEIGHTINGS[0]],
                WEIGHTINGS[0],
                pseudonyms,
                most_ratings_first(report.score_use)[:MATRIX_RATERS],
            )
        ),
        "tables": tables,
        "written_from": written_from,
    }
    files: list[Table] = []
    if "download" in request.GET:
        answer = whole(found)
        if answer is None:
            return waiting_page(request, context, found, page_name="Agreement")
        files = agreement_tables(with_all_pairs(answer), computed_at, pseudonyms)
    return page(request, "leaderboard/agreement.html", context, files)


SEEN = "X-Seen"
"""What the page that asks again has: the answer is then 204 where nothing else would be shown."""


@require_safe
@organisers_page
def campaign_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the campaign's raters agree, live: ``aspect`` (an axis, by key or name; the overall
    score without it), ``system`` (its items only), ``raters=all`` (also ratings that do not
    count, of excluded raters), ``weighting`` (κ of the matrix: ``quadratic`` without it,
    ``linear``, ``unweighted``)."""
    campaign = campaign_or_404(slug)
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    aspect, system, excluded, weighting = _choices_of(request, campaign)
    found = look(
        campaign.version,
        query.stored_agreement,
        campaign=campaign.pk,
        aspect=aspect,
        system=system,
        excluded=excluded,
    )
    if request.htmx and request.headers.get(SEEN) == found.mark:
        return HttpResponse(status=204)
    frame = {"section": "campaigns", "tab": "agreement", "campaign": campaign}
    if found.answer is None:
        words = {"base": "campaigns/campaign_base.html", "page_name": _("Agreement")}
        return waiting_page(request, frame, found, **words)
    tables = tables_of(
        campaign,
        found.answer,
        found.computed_at,
        None if "download" in request.GET else PAIRS_SHOWN,
    )
    form = form_of_campaign(campaign)
    context = {
        **frame,
        "is_text_only": form is not None
        and all(one.measurement == "text" for one in form.questions),
        "aspects": aspects_of(campaign),
        "aspect": aspect,
        "systems": rated_systems(campaign),
        "system": system,
        "excluded": excluded,
        "weightings": WEIGHTINGS,
        "matrix": pair_matrix(found.answer.cohen_kappa[weighting], weighting),
        "weighting": weighting,
        "progress": progress_of(campaign),
        "adjudicated": adjudication_count(campaign),
        "may_adjudicate": campaign.kind in ADJUDICATED_KINDS,
        "analysis": found,
        "report": found.answer,
        "verdict": verdict(found.answer),
        "tables": tables,
        "seen": found.mark,
    }
    template = (
        "leaderboard/_campaign_agreement.html"
        if request.htmx
        else "leaderboard/campaign_agreement.html"
    )
    return page(request, template, context, tables.values())


def _choices_of(request: HttpRequest, campaign: Campaign) -> tuple[str, str, bool, Weighting]:
    try:
        aspect = resolve_campaign_aspect(campaign, request.GET.get("aspect"))
        system = request.GET.get("system", "")
        select_rated_systems(campaign, [system] if system else None)
    except NotFound as missing:
        raise Http404(str(missing)) from None
    raters, chosen = request.GET.get("raters", ""), request.GET.get("weighting") or WEIGHTINGS[0]
    weighting = next((one for one in WEIGHTINGS if one == chosen), None)
    if raters not in ("", "all") or weighting is None:
        raise Http404("there is no such choice of raters or weighting")
    return aspect, system, raters == "all", weighting


@require_safe
def rater_effects(request: HttpRequest, slug: str) -> HttpResponse:
    """Strict and lenient raters, under pseudonyms, and the systems' means without their severity:
    ``aspect``, ``level``."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    levels = queries.rated_levels(version, aspect)
    level = request.GET.get("level") or (levels[0] if levels else "turn")
    if level not in ("turn", "dialogue"):
        raise Http404("raters judge at turn or dialogue level")
    found = look(version, query.rater_effects, aspect=aspect, level=level)
    context = {**corpus_context(version, "agreement", aspect), "level": level, "levels": levels}
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Rater effects", below_tab=True)
    document = found.answer
    corrected = cache(lambda: corrected_table(document, found.computed_at))
    raters = cache(lambda: rater_table(document, found.computed_at))
    charts = cache(lambda: _figures(document) if document.raters else [])
    context |= {
        "analysis": found,
        "look": found,
        "document": document,
        "figures": key_figures(document),
        "sentence": in_one_sentence(document),
        "charts": charts,
        "corrected": corrected,
        "raters": raters,
        "written_from": (found.stored,),
    }
    files = (
        [corrected(), raters(), *(one.points for one in charts())]
        if "download" in request.GET
        else ()
    )
    return page(request, "leaderboard/rater_effects.html", context, files)


def _figures(document: RaterEffects) -> list[Figure]:
    rows = rater_rows(document)
    signature = effects_signature(document)
    drawn = [severity_forest(rows, figure_id="severity", signature=signature)]
    if document.steps is not None:
        drawn.append(scale_use(rows, document.steps, figure_id="scale-use", signature=signature))
    return drawn
