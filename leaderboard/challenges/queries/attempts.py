"""How many attempts a team has left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Count, Q

from leaderboard.challenges.models import Round, Submission, Team


@dataclass(frozen=True, slots=True)
class Attempts:
    """``day_left`` is never more than ``total_left``; the day's count begins anew at ``resets_at``
    (midnight UTC)."""

    day_left: int
    day_limit: int
    total_left: int
    total_limit: int
    resets_at: datetime


def day_of(now: datetime) -> date:
    """Days are counted in UTC, wherever people are."""
    return now.astimezone(UTC).date()


def attempts_left(round: Round, team: Team, now: datetime) -> Attempts:
    """Counted are submissions that hold a place: all but the invalid, the failed and the
    cancelled."""
    today = day_of(now)
    holding = Q(total_place__isnull=False)
    counts = Submission.objects.filter(round=round, team=team).aggregate(
        total=Count("pk", filter=holding), day=Count("pk", filter=holding & Q(day=today))
    )
    total_left = max(0, round.total_limit - counts["total"])
    day_left = max(0, round.daily_limit - counts["day"])
    return Attempts(
        day_left=min(day_left, total_left),
        day_limit=round.daily_limit,
        total_left=total_left,
        total_limit=round.total_limit,
        resets_at=datetime.combine(today + timedelta(days=1), time(), tzinfo=UTC),
    )
