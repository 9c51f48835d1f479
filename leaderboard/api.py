"""What the leaderboards show, over the API: metrics held against people, raters against each other.
And whole corpora as files."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Path, Query, Router, Schema
from pydantic import Field

from annotations.agreement.cohen import PairKappa
from annotations.agreement.report import AgreementReport
from annotations.campaigns.api import CampaignPath, campaign_of
from annotations.campaigns.queries.ratings import resolve_campaign_aspect, select_rated_systems
from annotations.corpora.api import AspectParams, CorpusPath, VersionParams, aspect_of, version_of
from annotations.corpora.queries import NotFound, counts_of
from annotations.corpora.slices import NO_SLICE, resolve_slice
from annotations.models import CorpusVersion
from common.api.access import Token
from common.api.problems import Refused, described_problem
from common.api.schemas import Figure, Text
from common.roles import is_organiser
from leaderboard import queries
from leaderboard.exports import export_response
from leaderboard.metric_requests import correlation_params
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.raters.query import stored_agreement
from leaderboard.queries.agreement_pairs import with_all_pairs
from leaderboard.queries.arena_board import arena_leaderboard
from leaderboard.queries.preference_board import preference_leaderboard
from leaderboard.queries.preference_look import look_at_question
from leaderboard.queries.preference_metrics import preference_metrics
from leaderboard.queries.preferences import NO_PREFERENCES
from leaderboard.queries.standing import agreement
from leaderboard.queries.system_choice import resolve_choice
from leaderboard.results import json_form, look, whole
from leaderboard.results.rest import NotYet, not_yet
from workers.arenas.api import ArenaPath, arena_of

router = Router(tags=["corpora"])
Level = Literal["turn", "dialogue", "system"]


class Computed(Schema):
    corpus: str = Field(description="The corpus's name in addresses.")
    corpus_version: str = Field(description="Number and start of the content's digest.")
    aspect: str = Field(description="The human score.")
    resamples: int = Field(description="How often dialogues were resampled for the intervals.")
    seed: int = Field(description="The seed of these draws.")
    computed_at: datetime = Field(description="When this was computed.")
    stale: bool = Field(
        description="Whether the data have changed since; new numbers are being computed then."
    )


class CorrelationRow(Schema):
    metric: str = Field(description="The metric with its configuration.")
    signature: str = Field(description="How the numbers were made.")
    level: Level = Field(description="What was correlated: responses, dialogues, or systems.")
    n: int = Field(description="How many pairs.")
    coverage: float | None = Field(
        description="Share of the responses that people rated which have a score; null: none is "
        "rated."
    )
    higher_is_better: bool = Field(description="The metric's direction.")
    pearson: Figure = Field(description="Pearson's r.")
    spearman: Figure = Field(description="Spearman's rho.")
    kendall: Figure = Field(description="Kendall's tau-b.")
    per_input: dict[str, Any] | None = Field(
        None, description="By coefficient: the mean of those within inputs, over systems."
    )
    per_dialogue: dict[str, Any] | None = Field(
        None, description="By coefficient: the mean of those within dialogues."
    )
    per_system: dict[str, Any] | None = Field(
        None, description="By coefficient: the mean of those within systems."
    )
    attenuation_corrected: dict[str, Any] | None = Field(
        None, description="By coefficient: corrected for the ratings' reliability."
    )
    pairwise_accuracy: dict[str, Any] | None = Field(
        None, description="Of systems: share of the pairs that the metric orders as people do."
    )
    soft_pairwise_accuracy: dict[str, Any] | None = Field(
        None, description="Of systems: how near the p values of the pairs are to people's."
    )
    tie_calibrated_accuracy: dict[str, Any] | None = Field(
        None, description="Of responses to one input: share of the pairs ordered or tied alike."
    )
    note: str | None = Field(None, description="A remark on the numbers.")
    generalises_to: str | None = Field(
        None, description="At system level what the intervals speak of: these systems or new ones."
    )
    worth: str | None = Field(
        None, description="What is known of the judge that made the scores, where it is one."
    )
    submitted: dict[str, Any] | None = Field(
        None, description="Of a metric that somebody submitted: by whom, and where."
    )


class Correlations(Computed):
    systems: list[str] = Field(description="The systems that were compared.")
    systems_chosen: str = Field(
        description="The choice of systems, for all metrics alike; by default without-gold where a "
        "system's responses are the references, else all."
    )
    data_slice: str = Field(
        "", description="Of which conversations, as KEY:VALUE; empty: all of them."
    )
    correlation_ceiling: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By level and coefficient: the highest correlation that a perfect metric could "
        "reach, √reliability; intervals: `ci`.",
    )
    reliability: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By level and coefficient: of the mean rating, split halves stepped up by "
        "Spearman and Brown.",
    )
    leave_one_out_agreement: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By level and coefficient: how far one rater agrees with the mean of the "
        "others; intervals: `ci`.",
    )
    design: str = Field(
        "crossed",
        description="crossed: all systems answer the same dialogues; nested: each has its own; "
        "partly crossed.",
    )
    human_ceiling: dict[str, dict[str, Any]] = Field(
        description="The old name of `leave_one_out_agreement`, which is no ceiling. It goes with "
        "0.4."
    )
    rows: list[CorrelationRow] = Field(description="A row for each metric and level.")
    baseline: list[CorrelationRow] = Field(
        default_factory=list,
        description="Of response length (the metric response_length), by level: the trivial "
        "baseline, which is neither ranked nor tested.",
    )


class CorrelationParams(AspectParams):
    level: Literal["turn", "dialogue", "system", "all"] = Field(
        "all", description="Of the rows that come back."
    )
    systems: Text | None = Field(
        None,
        max_length=200,
        description="all, without-gold (without systems whose responses are the references), "
        "without-people (without these and people), or another choice of the leaderboard. "
        "Default: without-gold where there are such systems.",
    )
    slice: Text | None = Field(
        None,
        max_length=300,
        description="KEY:VALUE: of the conversations whose metadata, or a label of theirs, has "
        "this value. Default: all conversations.",
    )


@router.get(
    "/corpora/{slug:slug}/correlations",
    auth=Token("read", anybody=True),
    response={200: Correlations, 202: NotYet},
    operation_id="get_correlations",
    summary="How far metrics agree with people",
)
def get_correlations(
    request: HttpRequest,
    response: HttpResponse,
    place: Path[CorpusPath],
    params: Query[CorrelationParams],
) -> Any:
    """What the metric leaderboard shows. It is computed when the data change and kept. Where
    nothing is stored yet the answer is 202: ask again."""
    version = version_of(request, place.slug, params)
    aspect = aspect_of(version, params.aspect)
    try:
        data_slice = resolve_slice(version, params.slice or NO_SLICE)
    except NotFound as unknown:
        raise _unknown(unknown, field="slice", code="slice") from None
    try:
        requested = correlation_params(aspect, params.systems, data_slice)
        found = look(version, metric_leaderboard, **requested)
    except NotFound as unknown:
        raise _unknown(unknown, field="systems", code="systems") from None
    answer = found.answer
    if answer is None:
        return not_yet(found, response)
    levels = queries.CORRELATION_LEVELS if params.level == "all" else (params.level,)
    document = json_form(answer)
    return {
        **document,
        **{
            key: [row for row in document.get(key, ()) if row["level"] in levels]
            for key in ("rows", "baseline")
        },
        **{
            key: {level: values for level, values in document[key].items() if level in levels}
            for key in (
                "correlation_ceiling",
                "reliability",
                "leave_one_out_agreement",
                "human_ceiling",
            )
            if key in document
        },
        "computed_at": found.computed_at,
        "stale": found.state != "present",
    }


class PreferenceParams(VersionParams):
    aspect: Text | None = Field(
        None, max_length=100, description="What was asked; default: what has most votes."
    )
    level: Literal["turn", "dialogue"] | None = Field(
        None, description="Whether responses or whole dialogues were compared; default: either."
    )


class OfPreferences(Computed):
    level: Literal["turn", "dialogue"] = Field(
        description="Whether responses or whole dialogues were compared."
    )
    questions: list[dict[str, Any]] = Field(
        description="Everything that was asked: aspect, level, votes."
    )
    votes: int = Field(description="Between two systems.")
    ties: int = Field(description="Votes without a winner.")
    both_bad: int = Field(description="Of these, votes that liked neither.")
    conversations: int = Field(description="On which people voted.")
    raters: int = Field(description="How many voted.")


class Preferences(OfPreferences):
    reason: str = Field("", description="Why there are no strengths; empty where there are.")
    systems: list[dict[str, Any]] = Field(
        description="Strength (log scale, mean 0), ranks and win rate of each; `controlled`: with "
        "length, Markdown and emoji held constant."
    )
    meetings: list[dict[str, Any]] = Field(
        description="Pairs that met, as places in `systems`: battles, win rate of the first, p."
    )
    slot_share: dict[str, Any] = Field(description="Share won by slot A.")
    slot: dict[str, Any] = Field(description="Log odds of slot A beyond what strengths explain.")
    style: list[dict[str, Any]] = Field(description="What each feature of style does.")
    triples: int = Field(description="Of systems each pair of which has a winner.")
    cyclic: int = Field(description="Of these, circles.")
    circles: list[list[str]] = Field(description="Some of them.")
    undefined_resamples: int = Field(description="Resamples without strengths.")
    nu: float | dict[str, Any] = Field(description="Davidson's tendency to tie.")
    same_system: int = Field(description="Votes between samples of one system, left out.")


class PreferenceMetrics(OfPreferences):
    systems_chosen: str = Field(description="The choice of systems, as in `get_correlations`.")
    people: dict[str, Any] = Field(description="How far people agree with people.")
    rows: list[dict[str, Any]] = Field(description="Each metric.")
    baseline: dict[str, Any] | None = Field(description="Response length.")
    not_on_pairs: list[str] = Field(description="Metrics that score nothing so small.")
    method: str = Field(description="Of the tests behind the groups.")


class PreferenceMetricParams(PreferenceParams):
    systems: Text | None = Field(None, max_length=200, description="As in `get_correlations`.")


@router.get(
    "/corpora/{slug:slug}/preferences",
    auth=Token("read", anybody=True),
    response={200: Preferences, 202: NotYet},
    operation_id="get_preferences",
    summary="Systems by people's preferences",
)
def get_preferences(
    request: HttpRequest,
    response: HttpResponse,
    place: Path[CorpusPath],
    params: Query[PreferenceParams],
) -> Any:
    """Bradley–Terry strengths with intervals clustered by conversation. A corpus without
    preferences has none: 404. Where nothing is stored yet the answer is 202."""
    version = version_of(request, place.slug, params)
    return _of_preferences(version, preference_leaderboard, {}, params, response)


@router.get(
    "/corpora/{slug:slug}/preferences/metrics",
    auth=Token("read", anybody=True),
    response={200: PreferenceMetrics, 202: NotYet},
    operation_id="get_preference_metrics",
    summary="How well metrics predict preferences",
)
def get_preference_metrics(
    request: HttpRequest,
    response: HttpResponse,
    place: Path[CorpusPath],
    params: Query[PreferenceMetricParams],
) -> Any:
    """Accuracy on pairs and AUC of every metric, beside people and response length. Where nothing
    is stored yet the answer is 202."""
    version = version_of(request, place.slug, params)
    try:
        chosen = {"systems": resolve_choice(version, params.systems)}
    except NotFound as unknown:
        raise _unknown(unknown, field="systems", code="systems") from None
    return _of_preferences(version, preference_metrics, chosen, params, response)


def _of_preferences(
    version: CorpusVersion,
    kind: Any,
    more: dict[str, Any],
    params: PreferenceParams,
    response: HttpResponse,
) -> Any:
    try:
        if not counts_of(version).preferences:
            raise NotFound(NO_PREFERENCES)
        found = look_at_question(version, kind, more, params.aspect or "", params.level or "")
    except NotFound as unknown:
        raise Refused(404, str(unknown), code="preference") from None
    if found.answer is None:
        return not_yet(found, response)
    facts = {"computed_at": found.computed_at, "stale": found.state != "present"}
    return {**json_form(found.answer), **facts}


class ArenaLeaderboard(Preferences):
    arena: str = Field(description="The arena's name in addresses.")


@router.get(
    "/arenas/{slug:slug}/leaderboard",
    auth=Token("read", anybody=True),
    response={200: ArenaLeaderboard, 202: NotYet},
    operation_id="get_arena_leaderboard",
    summary="Systems by the votes of an arena's visitors",
    tags=["arenas"],
)
def get_arena_leaderboard(
    request: HttpRequest, response: HttpResponse, place: Path[ArenaPath]
) -> Any:
    """As `get_preferences`, of the votes that count; `aspect` is the arena's name. Where nothing is
    stored yet the answer is 202."""
    arena = arena_of(request, place.slug)
    found = look(arena.version, arena_leaderboard, arena=arena.pk)
    if found.answer is None:
        return not_yet(found, response)
    facts = {"computed_at": found.computed_at, "stale": found.state != "present"}
    return {**json_form(found.answer), **facts, "arena": arena.slug}


class Agreement(Computed):
    resamples: int = Field(
        description="0: without intervals. Nothing is drawn: dialogues are left out one at a time."
    )
    seed: int = Field(description="Without meaning: nothing is drawn.")
    level: Literal["turn", "dialogue"] = Field(description="What was rated.")
    items: int = Field(description="How many items were rated.")
    raters: int = Field(description="By how many people.")
    ratings: int = Field(description="How often.")
    krippendorff_alpha: dict[str, Figure] = Field(
        description="By measurement: nominal, ordinal, interval, ratio."
    )
    cohen_kappa: dict[str, dict[str, Any]] = Field(
        description="By weighting: the mean of all pairs, and each pair."
    )
    fleiss_kappa: dict[str, Any] = Field(description="Its value, with what it was computed from.")
    icc: dict[str, dict[str, Any]] = Field(description="ICC(2,1) and ICC(2,k).")
    leave_one_out: dict[str, dict[str, Any]] = Field(
        description="Each rater against the mean of the others."
    )


class AgreementParams(AspectParams):
    level: Literal["turn", "dialogue"] | None = Field(
        None, description="Default: that at which people rated."
    )


@router.get(
    "/corpora/{slug:slug}/agreement",
    auth=Token("read", anybody=True),
    response={200: Agreement, 202: NotYet},
    operation_id="get_agreement",
    summary="How far raters agree",
)
def get_agreement(
    request: HttpRequest,
    response: HttpResponse,
    place: Path[CorpusPath],
    params: Query[AgreementParams],
) -> Any:
    """Raters are named as pages name them: rater 1, rater 2, … Where nothing is stored yet the
    answer is 202."""
    version = version_of(request, place.slug, params)
    aspect = aspect_of(version, params.aspect)
    rated = [level for level in queries.rated_levels(version, aspect) if level != "system"]
    level = params.level or (rated[0] if rated else "turn")
    found = look(version, agreement, aspect=aspect, level=level)
    answer = whole(found)
    if answer is None:
        return not_yet(found, response)
    return {
        **_with_pseudonyms(version, with_all_pairs(answer)).as_json(),
        "corpus": answer.corpus,
        "corpus_version": answer.corpus_version,
        "aspect": answer.aspect,
        "level": answer.level,
        "resamples": answer.resamples,
        "seed": answer.seed,
        "computed_at": found.computed_at,
        "stale": found.state != "present",
    }


def _with_pseudonyms(version: CorpusVersion, report: AgreementReport) -> AgreementReport:
    shown = {rater.name: rater.pseudonym for rater in version.raters.all()}

    def renamed(pair: PairKappa) -> PairKappa:
        first, second = pair.raters
        return replace(pair, raters=(shown.get(first, first), shown.get(second, second)))

    return replace(
        report,
        cohen_kappa={
            weighting: replace(kappa, pairs=tuple(map(renamed, kappa.pairs)))
            for weighting, kappa in report.cohen_kappa.items()
        },
        leave_one_out={
            name: replace(
                found,
                raters=tuple(
                    replace(one, rater=shown.get(one.rater, one.rater)) for one in found.raters
                ),
            )
            for name, found in report.leave_one_out.items()
        },
    )


class CampaignAgreementOut(Agreement):
    campaign: str = Field(description="The campaign's name in addresses.")
    systems: list[str] = Field(description="The systems whose items are compared.")
    excluded_raters: bool = Field(description="Whether ratings of excluded raters are read, too.")
    questions: list[dict[str, Any]] = Field(
        [],
        description="With a form: each question's coefficients, as its level of measurement asks "
        "for them.",
    )
    distribution: list[dict[str, Any]] = Field(description="How often each score was given.")
    by_system: list[dict[str, Any]] = Field(description="Ratings, mean and α of each system.")
    widest: list[dict[str, Any]] = Field(description="The items on which raters differ most.")


class CampaignAgreementParams(Schema):
    aspect: Text | None = Field(
        None,
        max_length=100,
        description="A question that scores, or an axis, by key or name; default: the main one.",
    )
    system: Text | None = Field(None, max_length=200, description="Its items only; default: all.")
    all: bool = Field(False, description="Also ratings of excluded raters.")


@router.get(
    "/campaigns/{slug:slug}/agreement",
    auth=Token("organise"),
    response={200: CampaignAgreementOut, 202: NotYet},
    operation_id="get_campaign_agreement",
    summary="How far a campaign's raters agree",
    tags=["campaigns"],
)
def get_campaign_agreement(
    request: HttpRequest,  # noqa: ARG001  ninja hands it over
    response: HttpResponse,
    place: Path[CampaignPath],
    params: Query[CampaignAgreementParams],
) -> Any:
    """As `get_agreement`, of the ratings that count now; of each question in `questions`. Where
    nothing is stored yet the answer is 202."""
    campaign = campaign_of(place.slug, rated=True)
    try:
        aspect = resolve_campaign_aspect(campaign, params.aspect)
    except NotFound as unknown:
        raise _unknown(unknown, field="aspect", code="aspect") from None
    try:
        select_rated_systems(campaign, [params.system] if params.system else None)
    except NotFound as unknown:
        raise _unknown(unknown, field="system", code="systems") from None
    chosen = {"aspect": aspect, "system": params.system or "", "excluded": params.all}
    found = look(campaign.version, stored_agreement, campaign=campaign.pk, **chosen)
    if found.answer is None:
        return not_yet(found, response)
    facts = {"computed_at": found.computed_at, "stale": found.state != "present"}
    return {**json_form(found.answer), **facts}


def _unknown(unknown: NotFound, field: str, code: str) -> Refused:
    errors = [{"field": f"query.{field}", "message": str(unknown)}]
    return Refused(422, str(unknown), code=code, errors=errors)


ARCHIVE = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}


class ExportParams(VersionParams):
    format: Literal[
        "jsonl", "dataset", "csv", "mt-metrics-eval", "dpo", "label-studio", "argilla"
    ] = Field("jsonl", description="See the page on formats.")


@router.get(
    "/corpora/{slug:slug}/export",
    auth=Token("export"),
    operation_id="export_corpus",
    summary="A whole corpus as a zip archive",
    openapi_extra={
        "responses": {
            200: {
                "description": "The archive. Cells of CSV cannot become formulas.",
                "content": ARCHIVE,
            },
            206: {"description": "The part that `Range` names.", "content": ARCHIVE},
            416: described_problem(416),
        }
    },
)
def export_corpus(
    request: HttpRequest, place: Path[CorpusPath], params: Query[ExportParams]
) -> HttpResponseBase:
    """Dialogues, systems, responses, ratings and the scores of metrics, those of all finished runs
    and those that were submitted, as `manage.py export_corpus` writes them. Systems of a round are
    not among them before its organisers publish them. Who is not an organiser gets raters as pages
    name them (rater 1, rater 2, …), without their comments. A broken download goes on with `Range`
    and, in `If-Range`, the answer's `ETag`."""
    version = version_of(request, place.slug, params)
    return export_response(request, version, params.format, raters_named=is_organiser(request.user))
