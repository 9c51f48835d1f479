"""One submission, followed from the upload to its rank; its file back; and all of a person's
submissions."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common import web
from common.ranges import file_response
from common.roles import is_organiser
from common.storage import StorageAway
from leaderboard.challenges.access import submission_or_404, team_of
from leaderboard.challenges.actions.work import may_cancel
from leaderboard.challenges.forms.challenge import ReasonForm
from leaderboard.challenges.models import Submission
from leaderboard.challenges.queries import submissions as queries
from leaderboard.challenges.queries.attempts import attempts_left
from leaderboard.challenges.queries.challenges import at
from leaderboard.challenges.queries.next_step import standing_in
from leaderboard.challenges.submission_tables import problems_table, score_table, submissions_table
from leaderboard.challenges.uploads import opened

SEEN = "X-Seen"
"""What the page that asks again has: the answer is 204 where nothing has changed since."""


@never_cache
@require_safe
@login_required
def my_submissions(request: HttpRequest) -> HttpResponse:
    """What one, or one's teams, have submitted."""
    found = queries.own_submissions(request.user)
    table = submissions_table(found, _("Submissions"), with_round=True)
    context = {"section": "challenges", "submissions": found, "table": table}
    return web.page(request, "challenges/my_submissions.html", context, [table])


@never_cache
@require_safe
def submission(request: HttpRequest, public_id: str) -> HttpResponse:
    """What became of it: state, log, problems, scores, rank."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    one = submission_or_404(request.user, public_id)
    context = _context(request, one)
    return web.page(request, "challenges/submission.html", context, context["tables"])


@never_cache
@require_safe
def submission_progress(request: HttpRequest, public_id: str) -> HttpResponse:
    """The part of the submission's page which renews itself; 204 where nothing has changed."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    one = submission_or_404(request.user, public_id)
    if request.headers.get(SEEN) == queries.data_version_of(one):
        return HttpResponse(status=204)
    # Where its tables' links lead: to the page it stands on
    request.path = reverse("submission", args=[one.public_id])
    return render(
        request, "challenges/_submission_progress.html", {**_context(request, one), "is_news": True}
    )


@never_cache
@require_safe
def submission_file(request: HttpRequest, public_id: str) -> HttpResponse:
    """The bytes that were submitted, under the submission's own name, as an attachment: no browser
    shows or runs them on this site."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    one = submission_or_404(request.user, public_id)
    try:
        file = opened(one)
    except FileNotFoundError:
        raise Http404("this file is no longer kept") from None
    except StorageAway:
        words = _("The site cannot read its files at the moment. Try again in some minutes.")
        return HttpResponse(words, status=503, content_type="text/plain; charset=utf-8")
    response = file_response(request, file, one.size, one.sha256, "application/octet-stream")
    response["Content-Disposition"] = (
        f'attachment; filename="{one.public_id}.{_ending(one.file_name)}"'
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _ending(file_name: str) -> str:
    """Of a file on the reader's own disk: one of those that are handed in. Its name is not the
    sender's to choose, who could call it ``.html`` or turn its letters round."""
    ending = file_name.rpartition(".")[2].lower()
    return ending if ending in ("json", "jsonl", "csv") else "txt"


def _context(request: HttpRequest, one: Submission) -> dict[str, Any]:
    # Before all that it stands for: of what changes while the page is written, the page must still
    # be told.
    stamp = queries.data_version_of(one)
    scores = [(part, score_table(part)) for part in queries.parts_of(one, request.user)]
    problems = problems_table(one) if one.problems else None
    stages = queries.stages_of(one)
    return {
        "section": "challenges",
        "tab": "submissions",
        "submission": one,
        "challenge": one.round.challenge if one.round else None,
        "round": one.round,
        "stages": stages,
        "stage_now": next(
            (stage for stage in stages if stage.mark in ("now", "stopped")), stages[-1]
        ),
        "is_at_work": queries.is_at_work(one),
        "progress": queries.progress_of(one),
        "metric_states": queries.metric_states(one)
        if one.state == Submission.State.SCORING
        else [],
        "scores": scores,
        "standing": queries.standing_of(one, request.user),
        "problems": problems,
        "tables": [*(table for _, table in scores), *([problems] if problems else [])],
        "log": queries.log_of(one, request.user),
        "may_cancel": may_cancel(one, request.user),
        "may_manage": is_organiser(request.user),
        "reason_form": ReasonForm(),
        "stamp": stamp,
        **_next(request, one),
    }


def _next(request: HttpRequest, one: Submission) -> dict[str, Any]:
    """Whether the reader's team may hand in again, and how often."""
    if one.round is None:
        return {"own_team": None}
    team = team_of(request.user, one.round.challenge)
    if team is None or team.pk != one.team_id:
        return {"own_team": team}
    attempts = attempts_left(one.round, team, timezone.now())
    return {
        "own_team": team,
        "attempts": attempts,
        "attempts_words": ngettext(
            "%(count)d attempt left today", "%(count)d attempts left today", attempts.day_left
        )
        % {"count": attempts.day_left},
        "again": standing_in(request.user, at(one.round), team, attempts),
    }
