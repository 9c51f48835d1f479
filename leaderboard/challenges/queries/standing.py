"""Where somebody stands in all challenges together: rounds that their teams may hand in to, and
what waits for an organiser."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from leaderboard.challenges.models import Challenge, Member, Round, Submission
from leaderboard.challenges.queries.attempts import Attempts, attempts_left

LATELY = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class OwnRound:
    """``round`` carries its challenge; ``latest`` is the team's latest submission to it."""

    round: Round
    attempts: Attempts
    latest: Submission | None


@dataclass(frozen=True, slots=True)
class Waiting:
    drafts: list[Challenge]
    in_trouble: list[tuple[Challenge, int]]
    """Open challenges with submissions that failed lately, and how many."""


def own_open_rounds(user: Any, now: datetime, most: int) -> list[OwnRound]:
    """Open rounds of challenges in which the user's team competes, those that close first before
    the others."""
    teams = {
        one.challenge_id: one.team
        for one in Member.objects.filter(
            user=user, challenge__state=Challenge.State.OPEN, team__disqualified_at__isnull=True
        ).select_related("team")
    }
    if not teams:
        return []
    is_open = (Q(opens_at__isnull=True) | Q(opens_at__lte=now)) & (
        Q(closes_at__isnull=True) | Q(closes_at__gt=now)
    )
    rounds = Round.objects.filter(is_open, challenge__in=teams).select_related("challenge")
    # PostgreSQL puts what has no date last, SQLite first: said here, so that both do alike.
    by_end = sorted(rounds, key=lambda one: (one.closes_at is None, one.closes_at or now, one.pk))
    return [_own(one, teams[one.challenge_id], now) for one in by_end[:most]]


def _own(round: Round, team: Any, now: datetime) -> OwnRound:
    latest = (
        Submission.objects.filter(round=round, team=team).order_by("-received_at", "-pk").first()
    )
    return OwnRound(round, attempts_left(round, team, now), latest)


def an_open_challenge() -> Challenge | None:
    """The newest that is open."""
    return (
        Challenge.objects.filter(state=Challenge.State.OPEN).order_by("-created_at", "-pk").first()
    )


def organisers_challenges(now: datetime, most: int) -> Waiting:
    drafts = Challenge.objects.filter(state=Challenge.State.DRAFT).order_by("-created_at", "-pk")
    failed = Q(
        rounds__submissions__state=Submission.State.FAILED,
        rounds__submissions__ended_at__gte=now - LATELY,
    )
    troubled = (
        Challenge.objects.filter(state=Challenge.State.OPEN)
        .annotate(failed=Count("rounds__submissions", filter=failed))
        .filter(failed__gt=0)
        .order_by("-failed", "pk")
    )
    return Waiting(list(drafts[:most]), [(one, one.failed) for one in troubled[:most]])
