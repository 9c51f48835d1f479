"""When a round takes submissions and when its private leaderboard is everybody's. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

Phase = Literal["upcoming", "open", "closed"]


def phase_of(
    opens_at: datetime | None, closes_at: datetime | None, challenge_state: str, now: datetime
) -> Phase:
    """A round without dates is open while its challenge is."""
    if challenge_state == "draft" or (opens_at is not None and now < opens_at):
        return "upcoming"
    if challenge_state == "closed" or (closes_at is not None and now >= closes_at):
        return "closed"
    return "open"


def is_released(release_at: datetime | None, now: datetime) -> bool:
    return release_at is not None and now >= release_at
