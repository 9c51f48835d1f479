"""What the rating page and the desk say to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from annotations.campaigns.models import Assignment, FormVersion, RatingRevision

WhyEmpty = Literal["", "finished", "wait", "paused", "not_open", "closed", "excluded", "failed"]


class NotHanded(Exception):
    """The rater was never given this item (or it is not of this campaign)."""


class ItemTaken(Exception):
    """The lease ran out and others have filled the item's places: the rating cannot count. Nothing
    else is lost."""


class RatingsClosed(Exception):
    """The campaign takes no more ratings from this rater; the message says why in the rater's
    language."""


class NothingToDo(Exception):
    """The step would change nothing; the message says why in the organiser's language."""


class CannotJoin(Exception):
    """The campaign or the invitation does not let this person in; the message says why in the
    person's language."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the page sends for an item, checked by its form: a score, or where the campaign has a
    form the ``answers`` to one of its versions, ``form``."""

    key: str
    score: int | None
    low_axes: Sequence[str] | None = None
    flagged: bool = False
    comment: str = ""
    guidelines_id: int | None = None
    first_key_ms: int | None = None
    submit_ms: int | None = None
    active_ms: int | None = None
    shown_at: datetime | None = None
    form: FormVersion | None = None
    answers: Mapping[str, Any] | None = None
    question_ms: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    revision: RatingRevision
    is_new: bool
    """False where the same key had come before: nothing was written."""


@dataclass(frozen=True, slots=True)
class WorkQueue:
    """The rater's items in hand in the order of work. Where there is none, ``why_empty`` says so in
    a word."""

    assignments: tuple[Assignment, ...]
    why_empty: WhyEmpty = field(default="")
    """Nothing left for this rater: "finished"; others hold what is left: "wait"; the training was
    not passed: "failed". The others say what is the matter with the campaign or with the rater."""
