"""Who may open which page of a challenge. What one may not see does not exist."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.utils.translation import gettext_lazy as _

from common import web
from common.roles import is_organiser
from leaderboard.challenges.models import Challenge, Round, Submission, Team

organisers_page = web.organisers_page("challenges", _("only organisers run challenges"))


def challenge_or_404(user: Any, slug: str) -> Challenge:
    """Drafts exist for organisers only."""
    challenge = Challenge.objects.filter(slug=slug).first()
    if challenge is None or (challenge.state == Challenge.State.DRAFT and not is_organiser(user)):
        raise Http404(f"there is no challenge {slug}")
    return challenge


def round_or_404(user: Any, slug: str, round_slug: str) -> Round:
    challenge = challenge_or_404(user, slug)
    round = (
        challenge.rounds.select_related("version__corpus", "challenge")
        .filter(slug=round_slug)
        .first()
    )
    if round is None:
        raise Http404(f"{slug} has no round {round_slug}")
    return round


def team_of(user: Any, challenge: Challenge) -> Team | None:
    if not user.is_authenticated:
        return None
    return Team.objects.filter(challenge=challenge, members__user=user).first()


def submission_or_404(user: Any, public_id: str) -> Submission:
    """A submission exists for its team, its sender and organisers."""
    if "\0" in public_id:  # PostgreSQL would refuse the question
        raise Http404("there is no such submission")
    submission = (
        Submission.objects.select_related(
            "round__challenge", "team", "version__corpus", "system", "metric", "user"
        )
        .filter(public_id=public_id)
        .first()
    )
    if submission is None or not may_see(user, submission):
        raise Http404(f"there is no submission {public_id}")
    return submission


def may_see(user: Any, submission: Submission) -> bool:
    if not user.is_authenticated:
        return False
    if is_organiser(user):
        return True
    if submission.team_id is None:
        return submission.user_id == user.pk
    return submission.team.members.filter(user=user).exists()
