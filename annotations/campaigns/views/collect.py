"""The pages of a collection: meet a partner, write a dialogue in turn, and, for organisers, make a
corpus of it."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from annotations.campaigns.access import campaign_or_404, organisers_page, raters_page
from annotations.campaigns.actions import collection as rooms
from annotations.campaigns.actions import harvest
from annotations.campaigns.actions.collection import ChatClosed, NoFreeChat, NotYourChat, OutOfTurn
from annotations.campaigns.actions.publishing import CannotPublish
from annotations.campaigns.forms.collecting import CorpusForm, UtteranceForm
from annotations.campaigns.models import Campaign, Participation, Room
from annotations.campaigns.queries import collection as queries
from annotations.campaigns.queries.work_queue import current_guidelines
from annotations.corpora.queries import NotFound
from annotations.formats.importers.problems import ImportFailed
from common.web import page, wants_json

# --- raters ---------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@raters_page
def meet(request: HttpRequest, participation: Participation) -> HttpResponse:
    """Find somebody to write a dialogue with: GET says what happens here; POST finds a partner, or
    a room to wait in."""
    campaign = _collection(participation.campaign)
    current = queries.current_chat(participation)
    if current is not None:
        return redirect("room", campaign.slug, current.public_id)
    if participation.guidelines_read_id is None and current_guidelines(campaign) is not None:
        return redirect("rating-start", campaign.slug)
    if request.method == "POST":
        try:
            return redirect("room", campaign.slug, rooms.meet(participation).public_id)
        except NoFreeChat as refusal:
            return _meet_page(request, participation, refusal.why)
    return _meet_page(
        request, participation, rooms.why_no_chat(campaign, participation, timezone.now())
    )


def _meet_page(request: HttpRequest, participation: Participation, why: str) -> HttpResponse:
    context = {
        "section": "rate",
        "campaign": participation.campaign,
        "written": queries.dialogues_by(participation),
        "why": why,
        "has_guidelines": current_guidelines(participation.campaign) is not None,
    }
    return render(request, "campaigns/collecting/meet.html", context)


def _collection(campaign: Campaign) -> Campaign:
    if campaign.kind != Campaign.Kind.COLLECTION:
        raise Http404("this campaign collects no dialogues")
    return campaign


def _chat_or_404(participation: Participation, public_id: str) -> Room:
    try:
        return queries.room_of(participation, public_id)
    except NotFound as missing:
        raise Http404(str(missing)) from None


@require_safe
@never_cache
@raters_page
def room(request: HttpRequest, participation: Participation, public_id: str) -> HttpResponse:
    """One's persona and the dialogue."""
    return _chat_page(request, participation, _chat_or_404(participation, public_id))


def _chat_page(
    request: HttpRequest,
    participation: Participation,
    found: Room,
    form: UtteranceForm | None = None,
    status: int = 200,
) -> HttpResponse:
    if request.method != "HEAD":
        rooms.note_presence(found, participation, timezone.now())
    context = {
        "section": "rate",
        "campaign": participation.campaign,
        "room": queries.chat_view(found, participation),
        "written": queries.dialogues_by(participation),
        "why": rooms.why_no_chat(participation.campaign, participation, timezone.now()),
        "text": form["text"].value() if form else "",
        "errors": [error for found_errors in form.errors.values() for error in found_errors]
        if form
        else [],
        "key": (form["key"].value() if form and "key" not in form.errors else "")
        or uuid.uuid4().hex,
        "has_guidelines": current_guidelines(participation.campaign) is not None,
    }
    return render(request, "campaigns/collecting/room.html", context, status=status)


@require_safe
@never_cache
@raters_page
def room_lines(request: HttpRequest, participation: Participation, public_id: str) -> HttpResponse:
    """What the page asks for every two seconds: 204 while nothing has changed since ``seen``,
    ``state`` and ``why``."""
    found = _chat_or_404(participation, public_id)
    rooms.note_presence(found, participation, timezone.now())
    view = queries.chat_view(found, participation)
    # Two who have met finish their dialogue, whatever becomes of the campaign
    why = ""
    if found.state == Room.State.WAITING:
        why = rooms.why_no_chat(participation.campaign, participation, timezone.now())
    state = request.GET.get("state")  # a page that does not say is taken to show the room as it is
    is_old = state is not None and (state, request.GET.get("why", "")) != (view.state, why)
    if request.htmx and is_old:  # type: ignore[attr-defined]
        return HttpResponseClientRefresh()
    if request.GET.get("seen") == view.signature:
        return HttpResponse(status=204)
    context = {"room": view, "campaign": participation.campaign, "why": why}
    return render(request, "campaigns/collecting/_lines.html", context)


@require_POST
@never_cache
@raters_page
def room_say(request: HttpRequest, participation: Participation, public_id: str) -> HttpResponse:
    """The next line: ``text``, ``key``."""
    found = _chat_or_404(participation, public_id)
    form = UtteranceForm(request.POST)
    if not form.is_valid():
        return _unsaid(request, participation, found, form, 422)
    try:
        message = rooms.say(
            participation, public_id, form.cleaned_data["text"], form.cleaned_data["key"]
        )
    except OutOfTurn:
        form.add_error(
            None, _("Your partner writes now. Your text is kept; send it when it is your turn.")
        )
        return _unsaid(request, participation, found, form, 409)
    except ChatClosed:
        form.add_error(None, _("This dialogue has ended. Your last text was not stored."))
        return _unsaid(request, participation, found, form, 409)
    if wants_json(request):
        return JsonResponse({"stored": True, "open": message.room.state == Room.State.TALKING})
    return redirect("room", participation.campaign.slug, public_id)


def _unsaid(
    request: HttpRequest,
    participation: Participation,
    found: Room,
    form: UtteranceForm,
    status: int,
) -> HttpResponse:
    if wants_json(request):
        error = " ".join(error for errors in form.errors.values() for error in errors)
        return JsonResponse({"stored": False, "error": error}, status=status)
    return _chat_page(request, participation, found, form, status)


@require_POST
@never_cache
@raters_page
def room_leave(request: HttpRequest, participation: Participation, public_id: str) -> HttpResponse:
    """End the meeting."""
    try:
        left = rooms.leave(participation, public_id)
    except NotYourChat:
        raise Http404("there is no such room") from None
    if left.state == Room.State.FINISHED:
        return redirect("room", participation.campaign.slug, public_id)
    if left.rater_b_id is None:
        messages.info(request, _("You wait no longer. Come back when you like."))
    else:
        messages.info(request, _("The dialogue was ended. You can meet someone else."))
    return redirect("meet", participation.campaign.slug)


# --- organisers -----------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@organisers_page
def campaign_dialogues(request: HttpRequest, slug: str) -> HttpResponse:
    """The rooms of a collection; ``room`` reads one. POST: ``action`` ``leave-out``, ``take-back``,
    ``leave-out-objected`` (by the campaign ``check``) or ``make`` (the corpus)."""
    campaign = _collection(campaign_or_404(slug))
    if request.method != "POST":
        requested = request.GET.get("room")
        if not requested:
            return _dialogues_page(request, campaign)
        try:
            found = queries.finished_chat(campaign, requested)
        except NotFound as missing:
            raise Http404(str(missing)) from None
        context = {"section": "campaigns", "tab": "dialogues", "campaign": campaign, "room": found}
        return render(request, "campaigns/collecting/dialogue.html", context)
    action = request.POST.get("action", "")
    if action in ("leave-out", "take-back"):
        left_out = action == "leave-out"
        public_id = request.POST.get("room", "")
        if "\0" in public_id or not harvest.leave_out(
            campaign, public_id, left_out, by=request.user
        ):
            raise Http404("there is no such finished dialogue")
        messages.success(
            request,
            _("The dialogue is left out of the next version of the corpus.")
            if left_out
            else _("The dialogue is taken into the next version of the corpus."),
        )
        return redirect(f"{reverse('campaign-dialogues', args=[slug])}?room={public_id}")
    if action == "leave-out-objected":
        return _leave_out_objected(request, campaign)
    if action == "make":
        return _make_corpus(request, campaign)
    messages.error(
        request, _("Nothing was changed: this form asks for nothing that can be done here.")
    )
    return redirect("campaign-dialogues", slug)


def _leave_out_objected(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    checks = {check.slug: check for check in queries.checks_of(campaign)}
    check = checks.get(request.POST.get("check", ""))
    if check is None:
        raise Http404("there is no such check of these dialogues")
    count = harvest.leave_out_objected(campaign, check, by=request.user)
    messages.success(
        request,
        ngettext(
            "%(count)d dialogue to which a rater objected is left out of the next version.",
            "%(count)d dialogues to which a rater objected are left out of the next version.",
            count,
        )
        % {"count": count},
    )
    return redirect("campaign-dialogues", campaign.slug)


def _dialogues_page(
    request: HttpRequest, campaign: Campaign, form: CorpusForm | None = None, status: int = 200
) -> HttpResponse:
    state = queries.collected(campaign)
    table = queries.chats_table(campaign, reverse("campaign-dialogues", args=[campaign.slug]))
    known = queries.corpus_of(campaign)
    context = {
        "section": "campaigns",
        "tab": "dialogues",
        "campaign": campaign,
        "state": state,
        "figures": _figures(state),
        "table": table,
        "corpus": known.corpus if known else None,
        "checks": queries.checks_of(campaign) if known else [],
        "form": form or CorpusForm(campaign),
        "loses_last_line": campaign.utterances % 2 == 1,
    }
    answer = page(request, "campaigns/collecting/dialogues.html", context, [table])
    answer.status_code = status
    return answer


def _figures(state: queries.Collected) -> list[tuple[str, Any, str]]:
    wanted = "" if state.wanted is None else _("of %(wanted)d wanted") % {"wanted": state.wanted}
    out = _("and %(count)d left out") % {"count": state.left_out} if state.left_out else ""
    return [
        (_("Finished"), state.included, " ".join(part for part in (wanted, out) if part)),
        (_("Being written"), state.talking, ""),
        (_("Waiting for a partner"), state.waiting, ""),
        (_("Abandoned"), state.abandoned, _("they stay here and do not count")),
    ]


def _make_corpus(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = CorpusForm(campaign, request.POST)
    try:
        if not is_stored_as_corpus(request, campaign, form):
            return _dialogues_page(request, campaign, form, 422)
    except harvest.NothingToCollect:
        messages.error(request, _("No dialogue is finished yet. Nothing was stored."))
    return redirect("campaign-dialogues", campaign.slug)


def is_stored_as_corpus(request: HttpRequest, campaign: Campaign, form: CorpusForm) -> bool:
    """Make the corpus, or its next version, and say so. False where that cannot be: the form says
    why. Raises ``NothingToCollect``."""
    if not form.is_valid():
        return False
    try:
        outcome = harvest.make_corpus(campaign, **form.cleaned_data, by=request.user)
    except harvest.SlugTaken:
        form.add_error("slug", _("There is a corpus with this short name. Choose another."))
        return False
    except ImportFailed as failure:
        form.add_error(None, str(failure.problems[0].message))
        return False
    except CannotPublish as refusal:
        form.add_error(None, str(refusal))
        return False
    count = outcome.survey.counts.dialogues
    text = (
        ngettext(
            "%(corpus)s version %(version)d holds %(count)d dialogue.",
            "%(corpus)s version %(version)d holds %(count)d dialogues.",
            count,
        )
        if outcome.created
        else _("Nothing new: %(corpus)s version %(version)d holds these dialogues already.")
    )
    corpus, version = outcome.version.corpus.slug, outcome.version.number
    messages.success(request, text % {"corpus": corpus, "version": version, "count": count})
    return True
