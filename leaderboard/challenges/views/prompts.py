"""Writing a prompt: the form, what a model would be asked, and handing it in."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from common.file_bodies import takes_file
from leaderboard.challenges.access import round_or_404, submission_or_404, team_of
from leaderboard.challenges.actions.receiving import NotTaken, Received, receive
from leaderboard.challenges.forms.prompt import (
    NameFields,
    PromptFileForm,
    PromptForm,
    initial_of,
    starting_values,
)
from leaderboard.challenges.models import Round, Submission, Team, Track
from leaderboard.challenges.prompts.budget import format_cost
from leaderboard.challenges.prompts.render import EXAMPLE, messages_for
from leaderboard.challenges.prompts.spec import Prompt, canonical
from leaderboard.challenges.queries import downloads, prompting
from leaderboard.challenges.queries.attempts import attempts_left
from leaderboard.challenges.queries.challenges import at
from leaderboard.challenges.queries.next_step import standing_in
from leaderboard.challenges.upload_answers import field_of, status_of, taken
from leaderboard.challenges.uploads import upload_from_bytes

CHARACTERS_A_TOKEN = 4
"""In English, roughly. The endpoint's own count decides."""


def _place(request: HttpRequest, slug: str, round_slug: str) -> tuple[Round, Team] | HttpResponse:
    """Where the sender may hand in, or what refuses it."""
    round = _prompt_round_or_404(request, slug, round_slug)
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("prompt-new", args=[slug, round_slug]))
    team = team_of(request.user, round.challenge)
    if team is None:
        raise PermissionDenied(
            _("only members of a team submit prompts: create a team or join one first")
        )
    return round, team


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes_file(_place)
def prompt_new(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """Write a prompt, begun with that of a submission of one's own team (``from``). POST, for
    members of a team: submit it, as fields or (``from_file``) as a file, or (``download``) get
    it back."""
    round = _prompt_round_or_404(request, slug, round_slug)
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("prompt-new", args=[slug, round_slug]))
    if request.method != "POST":
        form = PromptForm(initial=_initial(request), most_calls=round.calls_per_utterance)
        return _page(request, round, form)
    if "download" in request.POST:
        return _download(request, round)
    place = _place(request, slug, round_slug)
    return place if isinstance(place, HttpResponse) else _hand_in(request, *place)


@require_POST
def prompt_try(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """What the model would be asked at the first turn. Nothing is stored and no model is called."""
    round = _prompt_round_or_404(request, slug, round_slug)
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("prompt-new", args=[slug, round_slug]))
    form = PromptForm(request.POST, most_calls=round.calls_per_utterance, is_named=False)
    form.is_valid()
    if request.htmx:
        context = {**_preview(request, round, form.prompt), "form": form}
        return render(request, "challenges/_prompt_preview.html", context)
    return _page(request, round, form, status=200)


def _prompt_round_or_404(request: HttpRequest, slug: str, round_slug: str) -> Round:
    round = round_or_404(request.user, slug, round_slug)
    if Track.PROMPT not in round.tracks:
        raise Http404(f"{round_slug} takes no prompts")
    return round


# --- handing in -----------------------------------------------------------------------------------


def _hand_in(request: HttpRequest, round: Round, team: Team) -> HttpResponse:
    from_file = "from_file" in request.POST
    calls = round.calls_per_utterance
    form = PromptForm(
        None if from_file else request.POST, initial=starting_values(), most_calls=calls
    )
    file_form = PromptFileForm(request.POST, request.FILES, most_calls=calls) if from_file else None
    used: PromptForm | PromptFileForm = file_form or form
    status = 422
    if used.is_valid() and used.prompt is not None:
        try:
            return _taken(request, _receive(request, round, team, used, used.prompt))
        except NotTaken as refusal:
            field = field_of(refusal)
            used.add_error(field if field in used.fields else None, refusal.message)
            status = status_of(refusal)
    return _page(request, round, form, file_form, status)


def _receive(
    request: HttpRequest, round: Round, team: Team, form: NameFields, prompt: Prompt
) -> Received:
    return receive(
        round,
        team,
        request.user,
        track=Track.PROMPT,
        name=form.cleaned_data["name"],
        description=form.cleaned_data["description"],
        upload=upload_from_bytes(canonical(prompt), "prompt.json"),
    )


def _taken(request: HttpRequest, received: Received) -> HttpResponse:
    known = _(
        "Your team has submitted the same prompt before, as %(name)s. It does not count again."
    )
    return taken(request, received, known)


def _download(request: HttpRequest, round: Round) -> HttpResponse:
    form = PromptForm(request.POST, most_calls=round.calls_per_utterance, is_named=False)
    if not form.is_valid() or form.prompt is None:
        return _page(request, round, form, status=422)
    response = HttpResponse(canonical(form.prompt), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="prompt.json"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


# --- the page -------------------------------------------------------------------------------------


def _initial(request: HttpRequest) -> dict[str, Any]:
    """A text to start from, or the prompt of a submission that the reader may see and ``?from=``
    names."""
    known = request.GET.get("from", "").replace("\0", "")
    if not known:
        return starting_values()
    submission = submission_or_404(request.user, known)
    if submission.kind != Submission.Kind.PROMPT:
        raise Http404(f"{known} is no prompt")
    named = {"name": submission.name, "description": submission.description}
    prompt = prompting.prompt_of(submission)
    if prompt is None:
        messages.warning(request, _("That prompt cannot be read; this is the text to start from."))
        return {**starting_values(), **named}
    return {**initial_of(prompt), **named}


def _page(
    request: HttpRequest,
    round: Round,
    form: PromptForm,
    file_form: PromptFileForm | None = None,
    status: int = 200,
) -> HttpResponse:
    now, team = timezone.now(), team_of(request.user, round.challenge)
    at_now = at(round, now)
    attempts = attempts_left(round, team, now) if team else None
    used = prompting.used_so_far(round, team) if team else None
    context = {
        "section": "challenges",
        "round_tab": "prompt",
        "challenge": round.challenge,
        "round": round,
        "own_team": team,
        "at": at_now,
        "attempts": attempts,
        "standing": standing_in(request.user, at_now, team, attempts),
        "used": used,
        "used_cost": "" if used is None or used.cost is None else format_cost(used.cost),
        "form": form,
        "file_form": file_form or PromptFileForm(most_calls=round.calls_per_utterance),
        **_preview(request, round, _prompt_in(form)),
    }
    return render(request, "challenges/prompt.html", context, status=status)


def _prompt_in(form: PromptForm) -> Prompt | None:
    """The form's prompt; of one that was not sent yet, that of the values it starts with."""
    if form.is_bound:
        return form.prompt
    started = PromptForm(data=form.initial, most_calls=form.most_calls, is_named=False)
    started.is_valid()
    return started.prompt


def _preview(request: HttpRequest, round: Round, prompt: Prompt | None) -> dict[str, Any]:
    if prompt is None:
        return {"calls": []}
    team = team_of(request.user, round.challenge)
    may_read = downloads.why_no_download(round, at(round).phase, request.user, team) == ""
    place, is_made_up = prompting.example_turn(round) if may_read else (EXAMPLE, True)
    calls = [messages_for(prompt.first, place)]
    if prompt.second is not None:
        calls.append(messages_for(prompt.second, place, _("[the first answer]")))
    characters = sum(len(message.text) for call in calls for message in call)
    return {
        "calls": calls,
        "is_made_up": is_made_up,
        "characters": characters,
        "about_tokens": ceil(characters / CHARACTERS_A_TOKEN),
    }
