"""Submission quotas: a counted submission holds one of its team's places of the day and one of the
round; a file of metric scores holds one of its sender's places of the day.

That no two hold the same place, and none one above its limit, is a rule of the database. Here free
ones are found, under a lock of the team's or the sender's row, so that uploads of one team wait for
each other instead of running into that rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from leaderboard.challenges.models import Round, Submission, Team

GIVEN_BACK: dict[str, Any] = {"day_place": None, "total_place": None}
"""Of a submission that ended without a score: it is not counted."""


@dataclass(frozen=True, slots=True)
class Places:
    day: date
    day_place: int
    day_limit: int
    total_place: int
    total_limit: int

    def as_fields(self) -> dict[str, Any]:
        return {
            "day": self.day,
            "day_place": self.day_place,
            "day_limit": self.day_limit,
            "total_place": self.total_place,
            "total_limit": self.total_limit,
        }


class QuotaExceeded(Exception):
    """``of`` is "day" or "total"."""

    def __init__(self, of: str) -> None:
        self.of = of
        super().__init__(of)


def lock_team(team_id: int) -> Team:
    """Until the transaction ends, nobody else takes a place of this team."""
    return Team.objects.select_for_update(no_key=True).get(pk=team_id)


def free_slots(round: Round, team: Team, day: date) -> Places:
    """Raises ``QuotaExceeded``. The caller has locked the team."""
    of_day, of_round = _taken(round, team, day)
    if len(of_round) >= round.total_limit:
        raise QuotaExceeded("total")
    if len(of_day) >= round.daily_limit:
        raise QuotaExceeded("day")
    return Places(
        day, _lowest_free(of_day), round.daily_limit, _lowest_free(of_round), round.total_limit
    )


def retake_slots(submission: Submission) -> Places:
    """Places for a submission that gave its own back and is taken up again by an organiser. It
    counts for the day on which it came. That the team has used its limit since is no reason to
    refuse: the organiser decides, and the row's own limit is raised to the place it gets, so that
    one sees later which submission was let in above the limit."""
    assert submission.round is not None
    assert submission.team is not None
    assert submission.day is not None
    round = submission.round
    of_day, of_round = _taken(round, submission.team, submission.day)
    day_slot, total_slot = _lowest_free(of_day), _lowest_free(of_round)
    return Places(
        submission.day,
        day_slot,
        max(round.daily_limit, day_slot),
        total_slot,
        max(round.total_limit, total_slot),
    )


def _taken(round: Round, team: Team, day: date) -> tuple[set[int], set[int]]:
    holding: QuerySet[Submission] = Submission.objects.filter(
        round=round, team=team, total_place__isnull=False
    )
    rows = list(holding.values_list("day", "day_place", "total_place"))
    return {day_slot for of, day_slot, _ in rows if of == day}, {
        total_slot for _, _, total_slot in rows
    }


def _lowest_free(taken: Iterable[int]) -> int:
    """The rows' places may have gaps where submissions ended without a score."""
    known = set(taken)
    place = 1
    while place in known:
        place += 1
    return place


@dataclass(frozen=True, slots=True)
class ScoreQuotaSlot:
    day: date
    day_place: int
    day_limit: int

    def as_fields(self) -> dict[str, Any]:
        return {"day": self.day, "day_place": self.day_place, "day_limit": self.day_limit}


def lock_submitter(user_id: int) -> None:
    """Until the transaction ends, nobody else takes a place of this user."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=user_id)


def free_score_slot(user: Any, day: date) -> ScoreQuotaSlot:
    """Raises ``QuotaExceeded``. The caller has locked the sender."""
    taken = _taken_by_user(user.pk, day)
    if len(taken) >= settings.SCORE_FILES_PER_DAY:
        raise QuotaExceeded("day")
    return ScoreQuotaSlot(day, _lowest_free(taken), settings.SCORE_FILES_PER_DAY)


def retake_score_slot(submission: Submission) -> ScoreQuotaSlot:
    """For a file that gave its place back and is taken up again by an organiser, who decides: the
    row's own limit is raised to the place that it gets."""
    assert submission.day is not None
    place = _lowest_free(_taken_by_user(submission.user_id, submission.day))
    return ScoreQuotaSlot(submission.day, place, max(settings.SCORE_FILES_PER_DAY, place))


def _taken_by_user(user_id: int | None, day: date) -> set[int]:
    if user_id is None:  # a deleted account takes none
        return set()
    holding = Submission.objects.filter(
        kind=Submission.Kind.SCORES, user=user_id, day=day, day_place__isnull=False
    )
    return {place for place in holding.values_list("day_place", flat=True) if place is not None}
