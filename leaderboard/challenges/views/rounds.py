"""A round as a team sees it: the task, the files to start from, the attempts left, and handing
in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotations.corpora.queries import counts_of, visible_corpora
from common import web
from common.file_bodies import takes_file
from common.web import login_needed, wants_json
from leaderboard.challenges.access import round_or_404, team_of
from leaderboard.challenges.actions.receiving import NotTaken, Received, receive
from leaderboard.challenges.files.formats import FORMATS
from leaderboard.challenges.forms.taking_part import SubmissionForm
from leaderboard.challenges.models import Round, Team, Track
from leaderboard.challenges.queries import downloads
from leaderboard.challenges.queries.attempts import attempts_left
from leaderboard.challenges.queries.challenges import at
from leaderboard.challenges.queries.next_step import standing_in
from leaderboard.challenges.queries.submissions import submissions_of
from leaderboard.challenges.submission_tables import submissions_table
from leaderboard.challenges.upload_answers import field_of, status_of, taken
from leaderboard.challenges.uploads import uploaded

CONTENT_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
}


@never_cache
@require_safe
def round(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """The task, files, attempts left, the form to submit, one's team's submissions."""
    one = round_or_404(request.user, slug, round_slug)
    context = round_context(request, one)
    return web.page(request, "challenges/round.html", context, [context["table"]])


def round_context(
    request: HttpRequest, one: Round, form: SubmissionForm | None = None
) -> dict[str, Any]:
    now = timezone.now()
    at_now, team = at(one, now), team_of(request.user, one.challenge)
    attempts = attempts_left(one, team, now) if team else None
    own = submissions_of(team, one) if team else []
    hides = downloads.hides_references(one)
    return {
        "section": "challenges",
        "tab": "",
        "round_tab": "task",
        "challenge": one.challenge,
        "round": one,
        "at": at_now,
        "own_team": team,
        "attempts": attempts,
        "standing": standing_in(request.user, at_now, team, attempts),
        "why_no_download": downloads.why_no_download(one, at_now.phase, request.user, team),
        "hides_references": hides,
        "corpus_is_visible": visible_corpora(request.user)
        .filter(pk=one.version.corpus_id)
        .exists(),
        "counts": counts_of(one.version),
        "tracks": [label for track, label in Track.choices if track in one.tracks],
        "formats": FORMATS,
        "form": form or SubmissionForm(),
        "largest_bytes": settings.MAX_UPLOAD_BYTES,
        "largest_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "submissions": own,
        "table": submissions_table(own, _("Submissions of your team")),
    }


def _place(request: HttpRequest, slug: str, round_slug: str) -> tuple[Round, Team] | HttpResponse:
    """Where the sender may hand in, or what refuses it."""
    one = round_or_404(request.user, slug, round_slug)
    if not request.user.is_authenticated:
        back = reverse("round", args=[slug, round_slug])
        return login_needed() if wants_json(request) else redirect_to_login(back)
    team = team_of(request.user, one.challenge)
    if team is None:
        return _refused(request, one, SubmissionForm(), 403, _("Make or join a team first."))
    return one, team


@require_POST
@takes_file(_place)
def round_submit(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """Submit responses: ``file``, ``name``, ``description``.

    Takes a file in. A page that sent it by itself, to show how far it is, asks for JSON and goes
    where it says.
    """
    place = _place(request, slug, round_slug)
    if isinstance(place, HttpResponse):
        return place
    one, team = place
    form = SubmissionForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refused(request, one, form, 422)
    try:
        received = _take(request, one, team, form)
    except NotTaken as refusal:
        form.add_error(field_of(refusal), refusal.message)
        return _refused(request, one, form, status_of(refusal))
    return _taken(request, received)


def _take(request: HttpRequest, one: Round, team: Team, form: SubmissionForm) -> Received:
    return receive(
        one,
        team,
        request.user,
        track=Track.GPU,
        name=form.cleaned_data["name"],
        description=form.cleaned_data["description"],
        upload=uploaded(form.cleaned_data["file"]),
    )


def _taken(request: HttpRequest, received: Received) -> HttpResponse:
    known = _("Your team has submitted the same file before, as %(name)s. It does not count again.")
    return taken(request, received, known)


def _refused(
    request: HttpRequest, one: Round, form: SubmissionForm, status: int, message: str = ""
) -> HttpResponse:
    if wants_json(request):
        errors = [
            {"field": field, "message": text}
            for field, texts in form.errors.items()
            for text in texts
        ]
        return JsonResponse(
            {"errors": [{"field": "", "message": message}, *errors] if message else errors},
            status=status,
        )
    if message:
        messages.error(request, message)
    return render(
        request, "challenges/round.html", round_context(request, one, form), status=status
    )


@require_safe
def round_dialogues(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """The dialogues that are to be answered, JSON."""
    one = round_or_404(request.user, slug, round_slug)
    return _download_refused(request, one) or _file(
        downloads.dialogues_file(one), f"{slug}-{round_slug}-dialogues.json", CONTENT_TYPES["json"]
    )


@require_safe
def round_template(request: HttpRequest, slug: str, round_slug: str) -> HttpResponse:
    """A file of responses to fill in: ``format`` is ``json`` (without it), ``jsonl`` or ``csv``."""
    one = round_or_404(request.user, slug, round_slug)
    format = request.GET.get("format", FORMATS[0])
    if format not in FORMATS:
        raise Http404("there is no such format")
    return _download_refused(request, one) or _file(
        downloads.template_file(one, format),
        f"{slug}-{round_slug}-template.{format}",
        CONTENT_TYPES[format],
    )


def _download_refused(request: HttpRequest, one: Round) -> HttpResponse | None:
    team = team_of(request.user, one.challenge)
    why = downloads.why_no_download(one, at(one).phase, request.user, team)
    if why == "log_in":
        return redirect_to_login(reverse("round", args=[one.challenge.slug, one.slug]))
    if why == "upcoming":
        raise PermissionDenied(_("the files of this round are there from its opening on"))
    if why == "no_team":
        raise PermissionDenied(
            _("the files of this round are for its teams: make or join one first")
        )
    return None


def _file(pieces: Any, name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
