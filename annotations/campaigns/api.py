"""Rating campaigns over the API, for organisers: what is asked, how far it is, what was answered;
setting one up from a form, opening and closing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Path, Query, Router, Schema, Status
from pydantic import Field

from annotations.campaigns.actions import setup
from annotations.campaigns.actions.forms import create_asking
from annotations.campaigns.actions.setup import CampaignParams
from annotations.campaigns.models import Campaign, FormVersion
from annotations.campaigns.models.campaign import MOST_RATERS_PER_ITEM, PAIRED
from annotations.campaigns.plan.form_changes import is_about
from annotations.campaigns.queries import overview
from annotations.campaigns.queries.adjudication import (
    adjudicated_item,
    adjudications_of,
    points_of,
)
from annotations.campaigns.queries.rating_stream import rated_items, ratings_that_are_exported
from annotations.corpora.api import VersionParams, version_of
from annotations.formats.exporters.rating_files import rating_as_json
from annotations.models import CorpusVersion, System
from annotations.questions import templates
from annotations.questions.reading import FormError, form_of, read_text
from annotations.questions.schema import Form, Measurement, QuestionType
from common.api.access import Token
from common.api.problems import Refused, refusals
from common.api.schemas import Given, Page, Paging, Text, page_of

router = Router(tags=["campaigns"])

Kind = Literal["turn", "dialogue", "pair", "dialogue_pair", "systems", "interactive", "collection"]
State = Literal["draft", "open", "paused", "closed"]


class CampaignPath(Schema):
    slug: str = Field(description="The campaign's name in addresses.")


class CampaignRow(Schema):
    slug: str = Field(description="The campaign's name in addresses.")
    name: str = Field(description="Its name on pages.")
    kind: Kind = Field(description="What raters judge; `collection`: they write dialogues.")
    state: State = Field(description="Raters get items while it is open.")
    simulated: bool = Field(description="True where its raters are programs.")
    corpus: str | None = Field(description="Whose dialogues they are; null for collections.")
    corpus_version: str | None = Field(description="Number and start of the content's digest.")
    raters: int = Field(description="How many people have joined.")
    done: int = Field(description="Ratings that count; of a collection, finished dialogues.")
    wanted: int = Field(description="How many are wanted; 0 for drafts.")
    created_at: datetime = Field(description="When it was set up.")
    opened_at: datetime | None = Field(description="When it was opened; null for drafts.")
    closed_at: datetime | None = Field(description="When it was closed; null before.")


class QuestionOut(Schema):
    key: str = Field(description="As answers name it.")
    name: str = Field(description="Its short name, as tables have it.")
    type: QuestionType = Field(description="Of the twelve types of questions.")
    measurement: Measurement = Field(
        description="The level of measurement, from which agreement and statistics follow."
    )


class FormOut(Schema):
    version: int = Field(description="From 1; each answer names the version it was given under.")
    digest: str = Field(description="SHA-256 of what is asked: equal forms have equal digests.")
    created_at: datetime = Field(description="When it was written.")
    ratings: int = Field(description="How many current ratings answer this version.")
    questions: list[QuestionOut] = Field(description="What is asked, in order.")
    form: dict[str, Any] = Field(
        description="The whole form, as templates and the page Questions have it."
    )


class ScaleOut(Schema):
    labels: list[str] = Field(description="What 1, 2, 3, 4 and 5 mean.")
    axes: list[dict[str, Any]] = Field(description="Each with `key`, `name` and `question`.")
    axes_below: int | None = Field(description="Axes are asked for scores below this; null: never.")


class GuidelinesOut(Schema):
    version: int = Field(description="From 1; each rating names the version that its rater had.")
    text: str = Field(description="Markdown.")


class CampaignOut(CampaignRow):
    raters_per_item: int = Field(description="How many people rate each item.")
    items: int = Field(description="How many are judged; 0 for drafts and collections.")
    items_complete: int | None = Field(description="Of them, with all their ratings.")
    expected_end: datetime | None = Field(description="At the pace of the last week.")
    expected_end_basis: str = Field(description="What that rests on, or why it is null.")
    form: int | None = Field(
        description="The version of its form that raters answer now; null: the scale."
    )
    forms: list[FormOut] = Field(description="All versions, the newest first.")
    scale: ScaleOut | None = Field(description="The score from 1 to 5; null with a form.")
    guidelines: list[GuidelinesOut] = Field(description="All versions, the newest first.")
    adjudicates_from: float | None = Field(
        description="Items whose scores differ by so many points are adjudicated; null: none are."
    )
    published_aspect: str = Field(
        description="The aspect under which its ratings are in the corpus; empty: not published."
    )


class JudgedItem(Schema):
    campaign: str = Field(description="The campaign's name in addresses.")
    corpus: str = Field(description="The corpus's name in addresses.")
    corpus_version: str = Field(description="Number and start of the content's digest.")
    item: str = Field(description="The item's public id.")
    dialogue: str = Field(description="The dialogue's id in the corpus.")
    turn: int | None = Field(description="The turn's number; null where dialogues are judged.")


class AnswersOut(Schema):
    score: int | None = Field(None, description="1 to 5; not with a form.")
    low_axes: list[str] | None = Field(
        None, description="Keys of the axes marked low; null where they were not asked."
    )
    form: int | None = Field(None, description="The version of the form that was answered.")
    answers: dict[str, Any] | None = Field(None, description="By question.")
    question_ms: dict[str, int] | None = Field(
        None, description="When each question was answered last, from showing the item."
    )


class RevisionOut(AnswersOut):
    revision: int = Field(description="From 1; the last one holds.")
    flagged: bool = Field(description="Whether the rater flagged the item.")
    comment: str = Field(description="Empty without one.")
    guidelines: int | None = Field(description="The version that the rater had.")
    first_key_ms: int | None = Field(description="From showing the item to the first key.")
    submit_ms: int | None = Field(description="From showing the item to sending the rating.")
    active_ms: int | None = Field(description="Likewise, without the time without activity.")
    shown_at: str | None = Field(description="By the browser's clock; ISO 8601 in UTC.")
    created_at: str = Field(description="When it was stored; ISO 8601 in UTC.")


class RatingOut(JudgedItem, AnswersOut):
    """As a line of the exported `ratings.jsonl`: keys that do not apply are left out. Of pairs
    `system` and A in the answers were shown first, `system_b` and B second; of lists, answers name
    the responses by their place in `systems`, from 1."""

    role: Literal["regular", "training", "attention"] = Field(description="What the item is for.")
    system: str | None = Field(description="Null for checks with a text of their own.")
    system_b: str | None = Field(None, description="Of pairs, the system that was shown second.")
    systems: list[str] | None = Field(None, description="Of lists, in the order shown.")
    rater: str = Field(description="The rater's pseudonym.")
    rater_state: Literal["active", "excluded"] = Field(
        description="Ratings of excluded raters do not count."
    )
    counts: bool = Field(description="Whether it is one of the item's ratings that count.")
    position: int = Field(description="The item's place in the rater's order of work.")
    propensity: float | None = Field(description="With which probability the item was drawn.")
    system_propensity: float | None = Field(
        description="Likewise its system, where ratings are spread adaptively."
    )
    revisions: list[RevisionOut] = Field(description="Oldest first.")
    conversation: list[dict[str, str]] | None = Field(
        None, description="Of a chat, what was said: `speaker` and `text`."
    )


class AdjudicationOut(JudgedItem):
    """A value of its own, never one of the item's ratings."""

    system: str | None = Field(description="Of pairs, A in the answers.")
    system_b: str | None = Field(description="Of pairs, B in the answers.")
    points: float = Field(description="Of the rule: scores so far apart are adjudicated.")
    score: int | None = Field(description="1 to 5; null with a form.")
    form: int | None = Field(description="The version of the form that was answered.")
    answers: dict[str, Any] | None = Field(description="By question.")
    comment: str = Field(description="Empty without one.")
    decided_by: str = Field(description="`organiser`, or the pseudonym of the further rater.")
    decided_at: str = Field(description="When; ISO 8601 in UTC.")


def campaign_of(slug: str, rated: bool = False) -> Any:
    """With counts of what is there. ``rated``: a collection has none of what is asked for. Raises
    ``Refused`` (404)."""
    found = overview.campaigns_with_counts().select_related("form").filter(slug=slug).first()
    if found is None:
        raise Refused(404, _("There is no such campaign."), code="campaign")
    if rated and found.kind == Campaign.Kind.COLLECTION:
        raise Refused(
            404, _("Nothing is rated in a campaign that collects dialogues."), code="campaign"
        )
    return found


@router.get(
    "/campaigns",
    auth=Token("organise"),
    response=Page[CampaignRow],
    operation_id="list_campaigns",
    summary="Rating campaigns",
)
def list_campaigns(
    request: HttpRequest,  # noqa: ARG001  ninja hands it over
    paging: Query[Paging],
) -> dict[str, Any]:
    """By their names in addresses."""
    return page_of(overview.campaigns_with_counts(), "slug", paging, _row)


def _row(one: Any) -> dict[str, Any]:
    same = ("slug", "name", "kind", "state", "simulated", "done", "wanted")
    times = ("created_at", "opened_at", "closed_at")
    return {
        **{name: getattr(one, name) for name in (*same, *times)},
        "corpus": one.version.corpus.slug if one.version else None,
        "corpus_version": one.version.label if one.version else None,
        "raters": one.rater_count,
    }


@router.get(
    "/campaigns/{slug:slug}",
    auth=Token("organise"),
    response=CampaignOut,
    operation_id="get_campaign",
    summary="A campaign: what it asks, how far it is",
)
def get_campaign(
    request: HttpRequest,  # noqa: ARG001
    place: Path[CampaignPath],
) -> dict[str, Any]:
    return _document(campaign_of(place.slug))


def _document(one: Any) -> dict[str, Any]:
    progress = overview.progress_of(one)
    scale = {"labels": one.scale_labels, "axes": one.axes, "axes_below": one.axes_below}
    asks_scale = one.form is None and one.kind != Campaign.Kind.COLLECTION
    return {
        **_row(one),
        "raters_per_item": one.raters_per_item,
        "items": progress.items,
        "items_complete": progress.items_complete,
        "expected_end": progress.expected_end,
        "expected_end_basis": progress.basis,
        "form": one.form.number if one.form else None,
        "forms": [_form(version) for version in overview.forms_with_counts(one)],
        "scale": scale if asks_scale else None,
        "guidelines": [
            {"version": text.number, "text": text.text}
            for text in one.guidelines.order_by("-number")
        ],
        "adjudicates_from": points_of(one),
        "published_aspect": one.published_aspect,
    }


def _form(version: Any) -> dict[str, Any]:
    form: FormVersion = version
    fields = ("key", "name", "type", "measurement")
    return {
        "version": form.number,
        "digest": form.digest,
        "created_at": form.created_at,
        "ratings": version.rating_count,
        "questions": [
            {name: getattr(question, name) for name in fields}
            for question in form.parsed().questions
        ],
        "form": form.schema,
    }


class RatingParams(Schema):
    all: bool = Field(
        False,
        description="Also what does not count: ratings of excluded raters, training and attention "
        "items.",
    )


@router.get(
    "/campaigns/{slug:slug}/ratings",
    auth=Token("organise"),
    response=Page[RatingOut],
    exclude_unset=True,
    operation_id="list_ratings",
    summary="Ratings of a campaign",
)
def list_ratings(
    request: HttpRequest,  # noqa: ARG001
    place: Path[CampaignPath],
    params: Query[RatingParams],
    paging: Query[Paging],
) -> dict[str, Any]:
    """Those given or changed last come last: one that is changed meanwhile comes once more, as it
    is then. Adjudicated values are not among them."""
    campaign = campaign_of(place.slug, rated=True)
    ratings = ratings_that_are_exported(campaign, params.all)
    page = page_of(ratings.only("current"), "current_id", paging, attrgetter("pk"))
    shown = ratings.filter(pk__in=page["items"]).order_by("current_id")
    return {**page, "items": [rating_as_json(one) for one in rated_items(campaign, shown)]}


@router.get(
    "/campaigns/{slug:slug}/adjudications",
    auth=Token("organise"),
    response=Page[AdjudicationOut],
    operation_id="list_adjudications",
    summary="Adjudicated values of a campaign",
)
def list_adjudications(
    request: HttpRequest,  # noqa: ARG001
    place: Path[CampaignPath],
    paging: Query[Paging],
) -> dict[str, Any]:
    """In the order in which they were first decided."""
    campaign = campaign_of(place.slug, rated=True)
    return page_of(
        adjudications_of(campaign),
        "pk",
        paging,
        lambda one: asdict(adjudicated_item(campaign, one)),
    )


# --- setting up -----------------------------------------------------------------------------------


class CampaignIn(Given):
    model_config = {
        "json_schema_extra": {
            "examples": [{"name": "USR on our systems", "corpus": "usr", "template": "usr"}]
        }
    }
    name: Text = Field(
        min_length=1, max_length=200, description="Raters see it. It should not name a system."
    )
    slug: Text = Field(
        "",
        max_length=80,
        pattern="^[-a-zA-Z0-9_]*$",
        description="The last part of its address, which raters see. Default: made from the name.",
    )
    corpus: Text = Field(max_length=80, description="The corpus whose dialogues are judged.")
    version: int | None = Field(
        None, ge=1, lt=2**31, description="Number of the version; default: the newest."
    )
    systems: list[Text] | None = Field(
        None, max_length=1000, description="Their names; default: all that the corpus shows."
    )
    template: Text | None = Field(
        None, max_length=60, description="A template of questions, such as `usr`."
    )
    form: dict[str, Any] | str | None = Field(
        None,
        description="Instead of a template: a form, or the text of its YAML or JSON file. Its "
        "guidelines become the campaign's.",
    )
    raters_per_item: int = Field(
        2, ge=1, le=MOST_RATERS_PER_ITEM, description="How many people rate each item."
    )
    dialogues: int | None = Field(
        None, ge=1, le=10_000_000, description="How many are drawn; default: all."
    )
    pairs: int | None = Field(
        None, ge=1, le=10_000_000, description="Of pairs, how many are drawn; default: all."
    )
    seed: int | None = Field(
        None, ge=0, lt=2**31, description="Draws dialogues, pairs and their order; default: random."
    )


@router.post(
    "/campaigns",
    auth=Token("organise"),
    response={201: CampaignOut},
    operation_id="create_campaign",
    summary="Set up a campaign from a template or a form",
    openapi_extra=refusals(404),
)
def create_campaign(request: HttpRequest, params: CampaignIn) -> Status[Any]:
    """A draft, which nobody sees before it is opened. What raters judge follows from the form's
    level. Campaigns of chats, collections, and adaptive spreading are set up on the page."""
    version = version_of(request, params.corpus, VersionParams(version=params.version))
    form = _requested_form(params)
    kind = next((one for one in Campaign.Kind.values if is_about(form, one)), None)
    if kind is None:
        raise _wrong("form", _("No campaign can ask this form: see its level."), code="form")
    if not params.name.strip():
        raise _wrong("name", _("Give it a name."), code="name")
    if params.pairs is not None and kind not in PAIRED:
        raise _wrong("pairs", _("Only campaigns of pairs draw pairs."), code="form")
    settings = CampaignParams(
        name=params.name.strip(),
        slug=params.slug,
        kind=kind,
        version=version,
        systems=_systems(version, params.systems),
        raters_per_item=params.raters_per_item,
        dialogues_per_system=params.dialogues,
        pairs=params.pairs,
        seed=params.seed,
    )
    try:
        campaign = create_asking(settings, form, by=request.user)
    except setup.SlugTaken:
        raise _wrong("slug", _("Another campaign has this address."), code="slug") from None
    return Status(201, _document(campaign_of(campaign.slug)))


def _requested_form(params: CampaignIn) -> Form:
    if (params.template is None) == (params.form is None):
        raise _wrong("form", _("Name a template, or send a form."), code="form")
    if params.template is not None:
        try:
            return templates.load(params.template)
        except KeyError:
            known = ", ".join(templates.names())
            text = _("There is no such template. Templates: %(names)s.") % {"names": known}
            raise _wrong("template", text, code="form") from None
    try:
        return read_text(params.form) if isinstance(params.form, str) else form_of(params.form)
    except FormError as error:
        errors = [
            {"field": f"body.form.{one.path}".rstrip("."), "message": one.text}
            for one in error.faults
        ]
        raise Refused(422, str(error)[:1000], code="form", errors=errors) from None


def _systems(version: CorpusVersion, names: Sequence[str] | None) -> list[System]:
    known = list(version.systems.order_by("position"))
    if names is None:
        # A campaign on a corpus that shows none is about those that teams have submitted
        return [one for one in known if not one.withheld] or known
    if unknown := set(names) - {one.name for one in known}:
        text = _("The corpus has no system %(name)r.") % {"name": min(unknown)}
        raise _wrong("systems", text, code="systems")
    return [one for one in known if one.name in names]


def _wrong(field: str, message: str, code: str) -> Refused:
    errors = [{"field": f"body.{field}", "message": message}]
    return Refused(422, message, code=code, errors=errors)


class StateIn(Given):
    model_config = {"json_schema_extra": {"examples": [{"to": "open"}]}}
    to: Literal["open", "paused", "closed"] = Field(
        description="A draft is opened; a paused or closed campaign is opened again."
    )


@router.post(
    "/campaigns/{slug:slug}/state",
    auth=Token("organise"),
    response=CampaignOut,
    operation_id="change_campaign_state",
    summary="Open, pause or close a campaign",
    openapi_extra=refusals(409),
)
def change_campaign_state(
    request: HttpRequest, place: Path[CampaignPath], params: StateIn
) -> dict[str, Any]:
    """Opening makes the items; from then on what is asked stays. 409: something is missing, or the
    campaign is not in a state for this; `detail` says which."""
    campaign = campaign_of(place.slug)
    is_draft = campaign.state == Campaign.State.DRAFT
    step: Callable[..., Any] = {
        "open": setup.open_campaign if is_draft else setup.resume,
        "paused": setup.pause,
        "closed": setup.close,
    }[params.to]
    try:
        step(campaign, by=request.user)
    except (setup.NotReady, setup.WrongState) as refusal:
        raise Refused(409, str(refusal), code="state") from None
    return _document(campaign_of(place.slug))
