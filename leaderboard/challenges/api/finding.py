"""What an address names, if the caller may know of it."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from common.api.problems import Refused
from leaderboard.challenges import access
from leaderboard.challenges.models import Challenge, Round, Submission, Team
from leaderboard.challenges.queries.challenges import challenges_seen_by


def challenge_at(request: HttpRequest, slug: str) -> Challenge:
    found = challenges_seen_by(request.user).filter(slug=slug).first()
    if found is None:
        raise Refused(404, _("There is no such challenge."), code="challenge")
    return found


def round_at(request: HttpRequest, slug: str, round_slug: str) -> Round:
    try:
        return access.round_or_404(request.user, slug, round_slug)
    except Http404:
        raise Refused(404, _("There is no such round."), code="round") from None


def submission_at(request: HttpRequest, public_id: str) -> Submission:
    try:
        return access.submission_or_404(request.user, public_id)
    except Http404:
        raise Refused(
            404, _("There is no such submission, or it is not yours."), code="submission"
        ) from None


def own_team(request: HttpRequest, challenge: Challenge) -> Team:
    team = access.team_of(request.user, challenge)
    if team is None:
        raise Refused(404, _("You have no team in this challenge."), code="no_team")
    return team
