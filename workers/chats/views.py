"""Pages of chats: a rater talks with a system that the page does not name; an organiser registers
and tries systems."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.campaigns.access import organisers_page, raters_page
from annotations.campaigns.actions import chat as actions
from annotations.campaigns.actions import work_queue
from annotations.campaigns.actions.chat import (
    ChatOver,
    ChatRefused,
    NotAssigned,
    SystemInUse,
    save_chat_system,
)
from annotations.campaigns.models import (
    Assignment,
    ChatSystem,
    Conversation,
    Message,
    Participation,
)
from annotations.campaigns.queries import chat as queries
from common.text import parse_integer
from workers.chats.forms import HIGHEST_NUMBER, ChatSystemForm, SayForm, TrialForm

HEARTBEATS_A_LEASE = 4
RATING_STARTS = (ChatOver, NotAssigned)
"""After these there is nothing more to do on the chat's page."""


# --- the rater's chat -----------------------------------------------------------------------------


def chat_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets the rater's own conversation; any other does not exist."""

    @never_cache
    @raters_page
    @wraps(view)
    def guarded(request: HttpRequest, participation: Participation, public_id: str) -> HttpResponse:
        conversation = queries.conversation_for(participation, public_id)
        if conversation is None:
            raise Http404("there is no such chat")
        return view(request, participation, conversation)

    return guarded


@require_safe
@chat_page
def chat(
    request: HttpRequest, participation: Participation, conversation: Conversation
) -> HttpResponse:
    """Chat with a system."""
    in_hand = conversation.assignment.state == Assignment.State.LEASED
    if conversation.finished_at is not None or not in_hand:
        return redirect("rating-work", participation.campaign.slug)
    return _whole_page(request, participation, conversation, SayForm())


@require_POST
@chat_page
def say(
    request: HttpRequest, participation: Participation, conversation: Conversation
) -> HttpResponse:
    """Say something: ``text``, ``key``, ``after``."""
    form = SayForm(request.POST)
    if not form.is_valid():
        return _refused(request, participation, conversation, form, form.first_error(), 422)
    try:
        actions.say(conversation, form.cleaned_data["text"], form.cleaned_data["key"])
    except ChatRefused as refusal:
        return _refused(request, participation, conversation, form, refusal, 409)
    work_queue.renew(participation)
    return _went_on(request, participation, conversation, form.cleaned_data["after"])


@require_POST
@chat_page
def ask_again(
    request: HttpRequest, participation: Participation, conversation: Conversation
) -> HttpResponse:
    """The system did not answer: ask it the same once more."""
    form = SayForm(request.POST)
    try:
        actions.ask_again(conversation)
    except ChatRefused as refusal:
        return _refused(request, participation, conversation, SayForm(), refusal, 409)
    work_queue.renew(participation)
    return _went_on(request, participation, conversation, _number(form.data.get("after")))


@require_safe
@chat_page
def item_text(
    request: HttpRequest, participation: Participation, conversation: Conversation
) -> HttpResponse:
    """What was said ``after`` the last utterance on the page (−1: none). 204 while the system
    writes: nothing is to be changed."""
    after = _number(request.GET.get("after"))
    state = queries.chat_of(conversation)
    if state.turn == "theirs" and not state.after(after):
        return HttpResponse(status=204)
    return render(
        request, "workers/_chat_news.html", _context(participation, conversation, after, SayForm())
    )


@require_POST
@chat_page
def end(
    request: HttpRequest, participation: Participation, conversation: Conversation
) -> HttpResponse:
    """End the chat and rate it."""
    try:
        actions.end(conversation)
    except NotAssigned as refusal:
        messages.warning(request, str(refusal))
    except ChatRefused as refusal:
        return _refused(request, participation, conversation, SayForm(), refusal, 409)
    return redirect("rating-work", participation.campaign.slug)


def _went_on(
    request: HttpRequest,
    participation: Participation,
    conversation: Conversation,
    after: int | None,
) -> HttpResponse:
    if not request.htmx:
        return redirect("chat", participation.campaign.slug, conversation.public_id)
    return render(
        request, "workers/_chat_news.html", _context(participation, conversation, after, SayForm())
    )


def _refused(
    request: HttpRequest,
    participation: Participation,
    conversation: Conversation,
    form: SayForm,
    refusal: Exception | str,
    status: int,
) -> HttpResponse:
    """What was typed stays where it is, and the page says why it was not taken."""
    if isinstance(refusal, RATING_STARTS) and not request.htmx:
        messages.warning(request, str(refusal))
        return redirect("rating-work", participation.campaign.slug)
    if not request.htmx:
        return _whole_page(request, participation, conversation, form, str(refusal), status)
    context = _context(
        participation, conversation, _number(form.data.get("after")), form, str(refusal)
    )
    return render(request, "workers/_chat_news.html", context, status=status)


def _whole_page(
    request: HttpRequest,
    participation: Participation,
    conversation: Conversation,
    form: SayForm,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    context = _context(participation, conversation, None, form, problem)
    context["persona"] = conversation.assignment.item.dialogue.partner_persona
    context["heartbeat_seconds"] = max(1, int(settings.RATING_LEASE_SECONDS / HEARTBEATS_A_LEASE))
    return render(request, "workers/chat.html", context, status=status)


def _context(
    participation: Participation,
    conversation: Conversation,
    after: int | None,
    form: SayForm,
    problem: str = "",
) -> dict[str, Any]:
    """``news`` are the utterances that the page does not show yet; a new page shows none."""
    state = queries.chat_of(conversation)
    news = state.after(-1 if after is None else after)
    return {
        "section": "rate",
        "campaign": participation.campaign,
        "conversation": conversation,
        "chat": state,
        "news": news,
        "last": state.messages[-1].number if state.messages else -1,
        "form": form,
        "key": secrets.token_urlsafe(16),
        "problem": problem,
    }


def _number(text: str | None) -> int:
    """The utterance after which the page wants news; nonsense means from the beginning."""
    number = parse_integer(text or "")
    return -1 if number is None or number > HIGHEST_NUMBER else number


# --- the organiser's systems ----------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def chat_systems(request: HttpRequest) -> HttpResponse:
    """Systems that one can chat with; POST registers one."""
    form = ChatSystemForm(request.POST or None)
    if request.method == "POST" and (saved := _save(form)):
        messages.success(
            request,
            _("%(name)s is registered. Try it before raters meet it.") % {"name": saved.name},
        )
        return redirect("chat-system", saved.pk)
    context = {"section": "campaigns", "systems": queries.chat_systems(), "form": form}
    return render(
        request, "workers/chat_systems.html", context, status=422 if form.is_bound else 200
    )


@require_http_methods(["GET", "HEAD", "POST"])
@organisers_page
def chat_system(request: HttpRequest, pk: int) -> HttpResponse:
    """One chat system; POST changes it; ``trial=`` shows what it answered."""
    system = _system_or_404(pk)
    trial = queries.trial_for(system, request.GET.get("trial", "").replace("\0", ""))
    if request.htmx and request.method != "POST":
        return render(request, "workers/_chat_trial.html", _trial_context(system, trial))
    form = ChatSystemForm(request.POST if request.method == "POST" else None, instance=system)
    if request.method == "POST" and _save(form):
        messages.success(request, _("Stored."))
        return redirect("chat-system", pk)
    return _system_page(request, pk, form, TrialForm(), trial)


@require_POST
@organisers_page
def try_chat_system(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask it something: ``question``."""
    system = _system_or_404(pk)
    form = TrialForm(request.POST)
    if not form.is_valid():
        return _system_page(request, pk, ChatSystemForm(instance=system), form, None, 422)
    trial = actions.begin_trial(system, form.cleaned_data["question"]).conversation
    response = redirect("chat-system", pk)
    response["Location"] += f"?trial={trial.public_id}#trial"
    return response


def _save(form: ChatSystemForm) -> ChatSystem | None:
    """The stored system; None, with the form saying why, where it cannot be stored."""
    if not form.is_valid():
        return None
    try:
        with transaction.atomic():
            return save_chat_system(form.instance)
    except IntegrityError:  # the same name, registered by somebody else in this moment
        form.add_error("name", _("There is a chat system of this name already."))
    except SystemInUse as refusal:
        for field in refusal.fields:
            form.add_error(
                field,
                _(
                    "People rate this system as it is, in %(campaigns)s. Register another one "
                    "instead."
                )
                % {"campaigns": ", ".join(refusal.campaigns)},
            )
    return None


def _system_page(
    request: HttpRequest,
    pk: int,
    form: ChatSystemForm,
    trial_form: TrialForm,
    trial: Message | None,
    status: int | None = None,
) -> HttpResponse:
    system = _system_or_404(pk)  # as stored: a refused form has changed the one it was given
    context = {
        "section": "campaigns",
        "form": form,
        "trial_form": trial_form,
        "campaigns": queries.campaigns_with(system),
        "charges": queries.charges_of(system),
        "persona": queries.TRIAL_PERSONA,
        **_trial_context(system, trial),
    }
    found = status or (422 if form.is_bound else 200)
    return render(request, "workers/chat_system.html", context, status=found)


def _trial_context(system: ChatSystem, trial: Message | None) -> dict[str, Any]:
    context: dict[str, Any] = {"system": system, "trial": trial}
    if trial is not None:
        context["question"] = queries.question_of(trial)
        context["under_way"] = trial.state in (Message.State.PENDING, Message.State.RUNNING)
        if trial.finished_at is not None:
            context["seconds"] = (trial.finished_at - trial.created_at).total_seconds()
    return context


def _system_or_404(pk: int) -> ChatSystem:
    system = queries.chat_systems().filter(pk=pk).first() if pk < 2**63 else None
    if system is None:
        raise Http404("there is no such chat system")
    return system
