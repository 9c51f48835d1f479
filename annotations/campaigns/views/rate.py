"""The desk at which items are rated: the page of the work, and what it sends."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotations.campaigns.access import raters_page
from annotations.campaigns.actions import work_queue as desk_actions
from annotations.campaigns.actions.chat import conversation_of
from annotations.campaigns.actions.work_queue import (
    ItemTaken,
    NotHanded,
    RatingsClosed,
    Stored,
    WorkQueue,
)
from annotations.campaigns.forms.answers import AnswersForm
from annotations.campaigns.forms.rating import JudgementForm, RatingForm, SkipForm, has_axes
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Guidelines,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.outbox import outbox_name
from annotations.campaigns.queries import work_queue as queries
from annotations.campaigns.queries.ratings import (
    form_of_campaign,
    main_aspect,
    question_of_checks,
    score_of_checks,
)
from annotations.campaigns.question_view import (
    QuestionView,
    answered,
    answers_in_words,
    expected_order,
    material_of,
    question_views,
    score_words,
    tagged,
)
from annotations.campaigns.scale import SCORES
from annotations.campaigns.views.rating_start import html_of, lease_minutes, scale_of, whole
from annotations.questions.answers import Material
from common.web import wants_json

OWN_RATINGS_A_PAGE = 25


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the form: of a stored rating, of a form that was refused, or nothing."""

    score: int | None = None
    axes: Sequence[str] = ()
    flagged: bool = False
    comment: str = ""
    key: str = ""
    answers: Mapping[str, Any] | None = None
    faults: Mapping[str, str] | None = None
    """Of the answers that were refused, by question."""

    @classmethod
    def of_stored(cls, assignment: Assignment) -> Typed:
        rating = assignment.current
        if rating is None:
            return cls()
        return cls(
            rating.score,
            tuple(rating.low_axes or ()),
            rating.flagged,
            rating.comment,
            answers=rating.answers,
        )

    @classmethod
    def of_refused(cls, form: JudgementForm) -> Typed:
        typed = cls(
            flagged=bool(form["flagged"].value()),
            comment=str(form["comment"].value() or ""),
            key=str(form["key"].value() or ""),
        )
        if isinstance(form, AnswersForm):
            return replace(typed, answers=form.raw, faults=form.faults)
        score = whole(form["score"].value())
        return replace(
            typed,
            score=score if score in SCORES else None,
            axes=tuple(form["axis"].value() or ()),
        )


@require_safe
@never_cache
@raters_page
def work(request: HttpRequest, participation: Participation) -> HttpResponse:
    """The item in hand; ``item`` an earlier one of one's own by its public id, ``feedback`` that of
    a practice item."""
    campaign = participation.campaign
    if campaign.kind == Campaign.Kind.COLLECTION:
        return redirect("meet", campaign.slug)
    if requested := request.GET.get("feedback"):
        return _feedback_page(request, participation, requested)
    text = queries.current_guidelines(campaign)
    if text is not None and participation.guidelines_read_id is None:
        return redirect("rating-start", campaign.slug)
    work_queue = _fill_queue(participation)
    if requested := request.GET.get("item"):
        wished = queries.own_assignment(participation, requested)
        if wished is None:
            raise Http404("this item was not given to you")
        if queries.chat_is_to_come(wished):
            return redirect("rating-work", campaign.slug)
        if wished.state == Assignment.State.DONE or wished.pk in {
            one.pk for one in work_queue.assignments
        }:
            return _work_page(
                request, participation, wished, work_queue, text, Typed.of_stored(wished)
            )
    if not work_queue.assignments:
        context = {
            "section": "rate",
            "campaign": campaign,
            "participation": participation,
            "why": work_queue.why_empty or "wait",
            "progress": queries.progress_of(participation),
            "previous": queries.rated_before(participation),
            "outbox": outbox_name(participation),
        }
        return render(request, "campaigns/rating/end.html", context)
    current = work_queue.assignments[0]
    if queries.chat_is_to_come(current):
        return redirect("chat", campaign.slug, conversation_of(current).public_id)
    return _work_page(request, participation, current, work_queue, text, Typed())


def _fill_queue(participation: Participation) -> WorkQueue:
    return desk_actions.fill_queue(participation, _held_at_once(participation.campaign))


def _held_at_once(campaign: Campaign) -> int:
    """A chat cannot be loaded beforehand: of an interactive campaign one item is in hand at a
    time."""
    return 1 if campaign.kind == Campaign.Kind.INTERACTIVE else desk_actions.HELD_AT_ONCE


def _work_page(
    request: HttpRequest,
    participation: Participation,
    current: Assignment,
    work_queue: WorkQueue,
    text: Guidelines | None,
    typed: Typed,
    errors: Sequence[str] = (),
    asks_axes: bool = False,
    status: int = 200,
) -> HttpResponse:
    campaign = participation.campaign
    others = [one for one in work_queue.assignments if one.pk != current.pk]
    is_raw = _reads_raw_text(request)
    view, *upcoming = queries.assignment_views([current, *others], markdown=not is_raw)
    questions = _questions(campaign, typed, view)
    if questions:
        blank = _labels_of_utterances(campaign)
        view, upcoming = tagged(view, questions), [tagged(one, blank) for one in upcoming]
    is_rated = current.state == Assignment.State.DONE
    progress = queries.progress_of(participation, len(work_queue.assignments))
    context = {
        "campaign": campaign,
        "view": view,
        "is_raw": is_raw,
        "upcoming": upcoming,
        "is_rated": is_rated,
        "progress": progress,
        "previous": queries.rated_before(participation, current.position if is_rated else None),
        "typed": typed,
        "key": typed.key or uuid.uuid4().hex,
        "scale": scale_of(campaign),
        "questions": questions,
        "form_number": campaign.form.number if campaign.form else None,
        "asks_axes": asks_axes,
        "asks_axes_without_script": asks_axes
        or (typed.score is not None and has_axes(campaign, typed.score)),
        "errors": errors,
        "guidelines": text,
        "guidelines_html": html_of(text),
        "guidelines_changed": text is not None and text.pk != participation.guidelines_read_id,
        "outbox": outbox_name(participation),
        "heartbeat_seconds": max(1, settings.RATING_LEASE_SECONDS / 4),
        "minutes": lease_minutes(),
    }
    return render(request, "campaigns/rating/work.html", context, status=status)


def _reads_raw_text(request: HttpRequest) -> bool:
    """As last chosen by ``raw``, 1 or 0, in this session: the items that follow come likewise."""
    if (chosen := request.GET.get("raw")) in ("0", "1"):
        request.session["raw_text"] = chosen == "1"
    return bool(request.session.get("raw_text", False))


def _questions(
    campaign: Campaign, typed: Typed | None = None, view: queries.ItemView | None = None
) -> list[QuestionView]:
    """Those of the campaign's form as it is now; none where it asks the scale."""
    if campaign.form is None:
        return []
    return question_views(
        campaign.form.parsed(),
        typed.answers if typed else None,
        typed.faults if typed else None,
        None if view is None else material_of(view).utterances,
        0 if view is None else view.listed,
    )


@require_safe
@never_cache
@raters_page
def own_ratings(request: HttpRequest, participation: Participation) -> HttpResponse:
    """What one has rated, newest first, 25 a ``page``; until the campaign closes each leads to its
    item, to change the rating."""
    campaign = participation.campaign
    if campaign.kind == Campaign.Kind.COLLECTION:
        raise Http404("nothing is rated in a campaign that collects dialogues")
    found = Paginator(queries.own_ratings(participation), OWN_RATINGS_A_PAGE).get_page(
        request.GET.get("page")
    )
    rated = list(found)
    labels = dict(scale_of(campaign))
    context = {
        "section": "rate",
        "campaign": campaign,
        "page": found,
        "ratings": [
            {
                "item": view.public_id,
                "text": judged_text(view),
                "score": one.current.score,
                "label": labels.get(one.current.score, ""),
                "answers": answered(one.current),
                "flagged": one.current.flagged,
                "comment": one.current.comment,
                "at": one.current.created_at,
            }
            for one, view in zip(rated, queries.assignment_views(rated), strict=True)
        ],
        "may_change": queries.state_for(participation, timezone.now()) in ("open", "paused"),
    }
    return render(request, "campaigns/rating/own_ratings.html", context)


def judged_text(view: queries.ItemView) -> str:
    """By which a rater knows an item again: the first answer that was judged."""
    judged = (line.text for part in view.parts for line in part.lines if line.judged)
    return next(judged, "").strip()


# --- what the page sends --------------------------------------------------------------------------


def _form_of(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    return never_cache(require_POST(raters_page(view)))


@_form_of
def submit(request: HttpRequest, participation: Participation) -> HttpResponse:
    """A rating, or a revision of one."""
    form = _submitted(request, participation)
    if not form.is_valid():
        return _refused(request, participation, form)
    public_id = form.cleaned_data["item"]
    try:
        if wants_json(request):
            stored, work_queue = desk_actions.rate_and_refill(
                participation, public_id, form.judgement(), _held_at_once(participation.campaign)
            )
            return JsonResponse(
                _taken(participation.campaign, stored)
                | _what_comes(request, participation, work_queue)
            )
        stored = desk_actions.rate(participation, public_id, form.judgement())
    except (NotHanded, ItemTaken, RatingsClosed) as problem:
        return _not_taken(request, participation, _reason(problem))
    if stored.revision.assignment.item.role == Item.Role.TRAINING:
        return redirect(
            f"{reverse('rating-work', args=[participation.campaign.slug])}?feedback={public_id}"
        )
    return redirect("rating-work", participation.campaign.slug)


def _submitted(request: HttpRequest, participation: Participation) -> JudgementForm:
    newest = (participation.newest_guidelines, participation.newest_guidelines_id)
    campaign = participation.campaign
    if campaign.form_id is None:
        return RatingForm(campaign, request.POST, newest_guidelines=newest)

    def material() -> Material:
        """Nothing, where the rater was not given the item: then the rating is refused as it is."""
        one = queries.own_assignment(participation, request.POST.get("item", ""))
        return Material({}) if one is None else material_of(queries.assignment_views([one])[0])

    return AnswersForm(campaign, request.POST, newest_guidelines=newest, material=material)


def _taken(campaign: Campaign, stored: Stored) -> dict[str, Any]:
    assignment, revision = stored.revision.assignment, stored.revision
    item, feedback = assignment.item, None
    if item.role == Item.Role.TRAINING:
        feedback = render_to_string(
            "campaigns/rating/_feedback.html", _feedback_context(campaign, assignment, revision)
        )
    return {
        "stored": True,
        "item": item.public_id,
        "revision": revision.number,
        "feedback": feedback,
    }


def _refused(
    request: HttpRequest, participation: Participation, form: JudgementForm
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"stored": False, "errors": form.errors}, status=422)
    assignment = queries.own_assignment(participation, str(form["item"].value() or ""))
    if assignment is None:
        return _not_taken(request, participation, _reason(NotHanded()))
    errors = [] if form.needs_axes else [text for found in form.errors.values() for text in found]
    return _work_page(
        request,
        participation,
        assignment,
        _fill_queue(participation),
        queries.current_guidelines(participation.campaign),
        Typed.of_refused(form),
        errors,
        asks_axes=form.needs_axes,
        status=422 if errors else 200,
    )


def _reason(problem: Exception) -> str:
    if isinstance(problem, RatingsClosed):
        return str(problem)
    if isinstance(problem, ItemTaken):
        return _(
            "Others have rated this item in the meantime, so this rating was not stored. Your "
            "other ratings are unaffected."
        )
    return _("This item is not in your hands. Your other ratings are unaffected.")


def _not_taken(request: HttpRequest, participation: Participation, reason: str) -> HttpResponse:
    if wants_json(request):
        answer = {
            "stored": False,
            "reason": reason,
            **_what_comes(request, participation, _fill_queue(participation)),
        }
        return JsonResponse(answer, status=409)
    messages.warning(request, reason)
    return redirect("rating-work", participation.campaign.slug)


def _what_comes(
    request: HttpRequest, participation: Participation, work_queue: WorkQueue
) -> dict[str, Any]:
    """The items in hand, with the page of each that the browser has not got; and where to go when
    there are none."""
    ready = [one for one in work_queue.assignments if not queries.chat_is_to_come(one)]
    have = set(request.POST.getlist("have"))
    new = [one for one in ready if one.item.public_id not in have]
    questions = _labels_of_utterances(participation.campaign) if new else []
    is_raw = _reads_raw_text(request)
    pages = {
        view.public_id: render_to_string(
            "campaigns/rating/_item.html",
            {
                "campaign": participation.campaign,
                "view": tagged(view, questions) if questions else view,
                "is_raw": is_raw,
            },
        )
        for view in (queries.assignment_views(new, markdown=not is_raw) if new else ())
    }
    return {
        "progress": queries.progress_of(participation, len(work_queue.assignments)).as_json(),
        "next": [
            {"item": one.item.public_id, "html": pages.get(one.item.public_id)} for one in ready
        ],
        "ended": work_queue.why_empty if not work_queue.assignments else "",
        "guidelines": participation.newest_guidelines,
        **_form_number(participation.campaign),
    }


def _labels_of_utterances(campaign: Campaign) -> list[QuestionView]:
    """The only questions that stand within the item."""
    form = campaign.form
    if form is None or all(one.type != "utterance_labels" for one in form.parsed().questions):
        return []
    return _questions(campaign)


def _form_number(campaign: Campaign) -> dict[str, int]:
    """So that a page that was loaded before the form changed learns of it."""
    return {} if campaign.form is None else {"form": campaign.form.number}


def _feedback_context(
    campaign: Campaign, assignment: Assignment, rating: RatingRevision
) -> dict[str, Any]:
    item, form = assignment.item, form_of_campaign(campaign)
    column, score_of = score_of_checks(campaign)
    score = score_of(getattr(rating, column), assignment.is_swapped, assignment.shown)
    lowest, highest = item.lowest or 0, item.highest or 0
    if (compared := question_of_checks(campaign)) is not None and form is not None:
        answer = answers_in_words(form, rating.answers or {}).get(compared.key)
        return {
            "campaign": campaign,
            "question": compared.name,
            "score": None if score is None else answer,
            "lowest": (expected := expected_order(compared, assignment)),
            "highest": expected,
            "is_right": score == highest,
            "text": item.feedback,
        }
    question = None if form is None else form.question(main_aspect(campaign))
    words = {} if question is None else score_words(question)
    return {
        "campaign": campaign,
        "question": "" if question is None else question.name,
        "score": None if score is None else words.get(score, f"{score:g}"),
        "label": dict(scale_of(campaign)).get(rating.score, ""),
        "lowest": words.get(lowest, str(lowest)),
        "highest": words.get(highest, str(highest)),
        "is_right": score is not None and lowest <= score <= highest,
        "text": item.feedback,
    }


def _feedback_page(
    request: HttpRequest, participation: Participation, public_id: str
) -> HttpResponse:
    assignment = queries.own_assignment(participation, public_id)
    rating = None if assignment is None else assignment.current
    if assignment is None or rating is None or assignment.item.role != Item.Role.TRAINING:
        raise Http404("there is no feedback on this item")
    context = _feedback_context(participation.campaign, assignment, rating)
    return render(request, "campaigns/rating/feedback.html", {"section": "rate", **context})


@_form_of
def skip(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Give an item up, with a reason."""
    form = SkipForm(request.POST)
    if not form.is_valid():
        if wants_json(request):
            return JsonResponse({"stored": False, "errors": form.errors}, status=422)
        messages.error(request, " ".join(text for found in form.errors.values() for text in found))
        return redirect("rating-work", participation.campaign.slug)
    try:
        desk_actions.skip(participation, form.cleaned_data["item"], form.cleaned_data["why"])
    except NotHanded as problem:
        return _not_taken(request, participation, _reason(problem))
    if wants_json(request):
        answer = {"stored": True, "item": form.cleaned_data["item"]}
        return JsonResponse(
            {**answer, **_what_comes(request, participation, _fill_queue(participation))}
        )
    return redirect("rating-work", participation.campaign.slug)


@_form_of
def heartbeat(_request: HttpRequest, participation: Participation) -> HttpResponse:
    """Keep what is in hand."""
    until = desk_actions.renew(participation)
    return JsonResponse({"kept_until": until})


@_form_of
def leave(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Give back what is in hand."""
    desk_actions.give_back(participation)
    if wants_json(request):
        return JsonResponse({"left": True})
    messages.success(
        request, _("You have paused. All your ratings are stored; go on when you like.")
    )
    return redirect("rating-start", participation.campaign.slug)
