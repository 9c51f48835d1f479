"""Rows of challenges and submissions as lists that are read in pages."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet

from annotations.models import Turn
from common.roles import is_organiser
from leaderboard.challenges.models import Challenge, Round, Submission


def challenges_seen_by(user: Any) -> QuerySet[Challenge]:
    """Each with ``team_count``. Drafts are organisers'."""
    found = Challenge.objects.annotate(team_count=Count("teams", distinct=True))
    return found if is_organiser(user) else found.exclude(state=Challenge.State.DRAFT)


def submissions_seen_by(user: Any) -> QuerySet[Submission]:
    """All for organisers; else one's own."""
    found = Submission.objects.select_related(
        "round__challenge", "team", "version__corpus", "user", "system"
    )
    if is_organiser(user):
        return found
    if not user.is_authenticated:
        return found.none()
    return found.filter(is_own(user))


def is_own(user: Any) -> Q:
    """Of submissions: what one's teams handed in, and what one sent oneself that is no team's."""
    return Q(team__members__user=user) | Q(team__isnull=True, user=user)


def size_of(round: Round) -> tuple[int, int]:
    """(dialogues, turns) that are to be answered."""
    return round.version.dialogues.count(), Turn.objects.filter(
        dialogue__version=round.version_id
    ).count()
