"""Files of metric scores that a user may hand in on a day, as places: counted ones hold one each,
no two the same, and none above the limit. The database refuses what is not so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model

from leaderboard.challenges.actions.slots import QuotaExceeded
from leaderboard.challenges.models import Submission


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
    taken = _taken(user.pk, day)
    if len(taken) >= settings.SCORE_FILES_PER_DAY:
        raise QuotaExceeded("day")
    return ScoreQuotaSlot(day, _lowest_free(taken), settings.SCORE_FILES_PER_DAY)


def retake_score_slot(submission: Submission) -> ScoreQuotaSlot:
    """For a file that gave its place back and is taken up again by an organiser, who decides: the
    row's own limit is raised to the place that it gets."""
    assert submission.day is not None
    place = _lowest_free(_taken(submission.user_id, submission.day))
    return ScoreQuotaSlot(submission.day, place, max(settings.SCORE_FILES_PER_DAY, place))


def _taken(user_id: int | None, day: date) -> set[int]:
    if user_id is None:  # a deleted account takes none
        return set()
    holding = Submission.objects.filter(
        kind=Submission.Kind.SCORES, user=user_id, day=day, day_place__isnull=False
    )
    return {place for place in holding.values_list("day_place", flat=True) if place is not None}


def _lowest_free(taken: set[int]) -> int:
    return next(place for place in range(1, len(taken) + 2) if place not in taken)
