"""How many attempts a team has left."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

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


HOLDS_A_SLOT = Q(total_place__isnull=False)
"""Counted are submissions that hold a slot: all but the invalid, the failed and the cancelled."""


def attempts_left(round: Round, team: Team, now: datetime) -> Attempts:
    today = Q(day=day_of(now))
    counts = Submission.objects.filter(round=round, team=team).aggregate(
        total=Count("pk", filter=HOLDS_A_SLOT), day=Count("pk", filter=HOLDS_A_SLOT & today)
    )
    return _attempts(round, counts["total"], counts["day"], now)


def attempts_left_of(user: Any, rounds: Collection[Round], now: datetime) -> dict[int, Attempts]:
    """By round, those of the user's team in its challenge: one query however many rounds."""
    rows = (
        Submission.objects.filter(HOLDS_A_SLOT, round__in=rounds, team__members__user=user)
        .order_by()
        .values("round")
        .annotate(total=Count("pk"), today=Count("pk", filter=Q(day=day_of(now))))
    )
    counts = {one["round"]: (one["total"], one["today"]) for one in rows}
    return {one.pk: _attempts(one, *counts.get(one.pk, (0, 0)), now) for one in rounds}


def _attempts(round: Round, total: int, day: int, now: datetime) -> Attempts:
    total_left = max(0, round.total_limit - total)
    return Attempts(
        day_left=min(max(0, round.daily_limit - day), total_left),
        day_limit=round.daily_limit,
        total_left=total_left,
        total_limit=round.total_limit,
        resets_at=datetime.combine(day_of(now) + timedelta(days=1), time(), tzinfo=UTC),
    )
