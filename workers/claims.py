"""Rows that one worker at a time works on: a metric run, a chat's answer, a submission, a notice.

Such a row has ``state``, ``attempts``, ``lease_token``, ``lease_expires_at``, ``hinted_at`` and
``hints``. However many workers hear of it, one conditional update gives it to one of them, who
keeps it by renewing the lease. Whoever lost the lease can no longer write to the row, because every
write asks for the token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotations import clock
from annotations.jobs.leases import has_ended, lease_end
from annotations.jobs.notifications import NOTIFICATIONS_PER_SWEEP, due

NO_OWNER: dict[str, Any] = {"lease_token": "", "lease_expires_at": None}
WAITS_ANEW: dict[str, Any] = {**NO_OWNER, "hinted_at": None, "hints": 0}
"""Of a row that waits for a worker again: nobody has it, and workers were not told."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a row, until the lease ends. ``attempt`` counts from 1. Rows that were
    claimed to be worked on together have one token."""

    row_id: int
    token: str
    attempt: int


def take(
    rows: QuerySet, row_id: int, waiting: Q, at_work: Sequence[str], **changes: Any
) -> Claim | None:
    """Claim a row of ``rows`` that is ``waiting``, or is in a state ``at_work`` and its worker fell
    silent. ``changes`` are written with it. None where somebody else has it, or there is nothing to
    do."""
    now, token = clock.now(), token_hex(16)
    taken = (
        rows.filter(pk=row_id)
        .filter(waiting | (Q(state__in=at_work) & has_ended(now)))
        .update(
            lease_token=token,
            lease_expires_at=lease_end(now),
            attempts=F("attempts") + 1,
            **changes,
        )
    )
    if not taken:
        return None
    found = rows.model._default_manager.filter(pk=row_id, lease_token=token)
    attempt = found.values_list("attempts", flat=True).first()
    return None if attempt is None else Claim(row_id, token, attempt)


def take_beside(first: Claim, rows: QuerySet, most: int, **changes: Any) -> list[Claim]:
    """Claim up to ``most`` of these waiting ``rows``, lowest keys first, with the token of the
    ``first``, so that one update keeps them all. ``rows`` may not be chosen through a join: the
    update asks again what it locks."""
    with transaction.atomic():
        # What another worker is just claiming is passed over, not waited for: nobody waits in a
        # circle.
        waiting = rows.select_for_update(skip_locked=True).order_by("pk")
        free = list(waiting.values_list("pk", flat=True)[:most])
        rows.filter(pk__in=free).update(
            lease_token=first.token,
            lease_expires_at=lease_end(clock.now()),
            attempts=F("attempts") + 1,
            **changes,
        )
    taken = rows.model._default_manager.filter(pk__in=free, lease_token=first.token).order_by("pk")
    return [Claim(pk, first.token, attempt) for pk, attempt in taken.values_list("pk", "attempts")]


def keep(owned: QuerySet, **changes: Any) -> bool:
    """Renew the lease. False where the row is no longer ours."""
    return bool(owned.update(lease_expires_at=lease_end(clock.now()), **changes))


def give_back(owned: QuerySet, state: str, **changes: Any) -> bool:
    """Leave the row to whoever takes it next, as if it had not been begun."""
    return bool(owned.update(state=state, attempts=F("attempts") - 1, **WAITS_ANEW, **changes))


def fail(owned: QuerySet, state: str, error: str) -> bool:
    """The end of the work on the row, with what went wrong. False where the row is no longer
    ours."""
    return bool(owned.update(state=state, error=error, finished_at=clock.now(), **NO_OWNER))


@dataclass(frozen=True, slots=True)
class Swept:
    given_back: int
    given_up: int
    hinted: int


def sweep(
    rows: QuerySet,
    pending: str,
    running: str,
    failed: str,
    error: str,
    enqueue_pending: Callable[[list[int]], int],
    **anew: Any,
) -> Swept:
    """Give back the rows of silent workers, give up those that were tried too often, with the
    ``error``, and tell workers of those that wait. ``anew``: what else a row that is given back
    has."""
    now = clock.now()
    silent = rows.filter(has_ended(now), state=running)
    tried_out = silent.filter(attempts__gte=settings.MAX_ATTEMPTS)
    given_up = tried_out.update(state=failed, finished_at=now, **NO_OWNER, error=error)
    given_back = silent.update(state=pending, **WAITS_ANEW, **anew)
    waiting = to_enqueue(rows.filter(state=pending), now, "pk")
    return Swept(given_back, given_up, enqueue_pending([pk for (pk,) in waiting]))


def to_enqueue(waiting: QuerySet, now: datetime, *columns: str) -> list[tuple[Any, ...]]:
    """These columns of the waiting rows whose last hint may be lost, first those that were never
    hinted at."""
    rows = waiting.filter(due(now)).order_by(F("hinted_at").asc(nulls_first=True), "pk")
    return list(rows.values_list(*columns)[:NOTIFICATIONS_PER_SWEEP])
