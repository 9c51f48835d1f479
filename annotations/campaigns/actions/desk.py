"""What a rater has in hand: claimed, kept, given back, skipped, rated. Every write of the rating page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotations.campaigns.models import Assignment, Participation, RatingRevision

HELD_AT_ONCE = 2
"""The item on the page, and the next one, already loaded."""


class NotHanded(Exception):
    """The rater was never given this item (or it is not of this campaign)."""


class ItemTaken(Exception):
    """The lease ran out and others have filled the item's places: the rating cannot count. Nothing else is lost."""


class RatingsClosed(Exception):
    """The campaign takes no more ratings from this rater; the message says why in the rater's language."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the page sends for an item, checked by its form."""

    key: str
    score: int
    low_axes: Sequence[str] | None = None
    flagged: bool = False
    comment: str = ""
    guidelines_id: int | None = None
    first_key_ms: int | None = None
    submit_ms: int | None = None
    active_ms: int | None = None
    shown_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    revision: RatingRevision
    is_new: bool
    """False where the same key had come before: nothing was written."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The rater's items in hand in the order of work. Where there is none, ``why_empty`` says so in a word."""

    assignments: tuple[Assignment, ...]
    why_empty: str = field(default="")
    """"" | "finished" (nothing left for this rater) | "wait" (others hold what is left) | "paused" | "not_open" | "closed"
    | "excluded" | "failed" (did not pass the training)"""


def join(campaign: Any, user: Any, invitation: Any = None) -> Participation:
    raise NotImplementedError


def fill_desk(participation: Participation, want: int = HELD_AT_ONCE) -> Desk:
    """Renew what is in hand and claim more up to ``want`` items: training first, then regular and attention items."""
    raise NotImplementedError


def renew(participation: Participation) -> datetime | None:
    """The heartbeat: until when the items in hand are now kept; None where there are none."""
    raise NotImplementedError


def give_back(participation: Participation) -> int:
    """Free the slots of what is in hand and not rated; the rater may get the items again."""
    raise NotImplementedError


def skip(participation: Participation, public_id: str, reason: str) -> None:
    """Free the slot; this rater never gets the item again. Raises ``NotHanded``; an item already rated stays rated."""
    raise NotImplementedError


def rate(participation: Participation, public_id: str, judgement: Judgement) -> Stored:
    """Store a rating, or a revision of one. Idempotent by key. Raises ``NotHanded``, ``ItemTaken``, ``RatingsClosed``."""
    raise NotImplementedError
