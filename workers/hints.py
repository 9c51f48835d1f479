"""Telling workers of rows that wait: when the row is committed, and again, ever more rarely, until one takes it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Q
from kombu.exceptions import ChannelError, KombuError

log = logging.getLogger(__name__)

HINTS_A_SWEEP = 500
LONGEST_HINT_PAUSE = timedelta(minutes=10)
MOST_DOUBLINGS = 16


AT_ONCE, WHEN_NOTHING_ELSE_WAITS = 0, 6
"""Two of Redis's four steps. The folder broker of one machine keeps the order in which hints came."""


def tell_workers(task: str, rows: Iterable[tuple[int, str]], priority: int = AT_ONCE) -> list[int]:
    """Send a hint for each row (pk, queue) and return those told of. A broker that cannot be reached is no error."""
    sent: list[int] = []
    try:
        with current_app.producer_pool.acquire(block=True) as producer:
            for pk, queue in rows:
                current_app.send_task(task, args=[pk], queue=queue, priority=priority, producer=producer, retry=False)
                sent.append(pk)
    except (KombuError, ChannelError, OSError) as problem:
        log.warning("the broker cannot be reached (%s); the sweeper will tell the workers later", problem)
    return sent


def due(now: datetime) -> Q:
    """Rows whose last hint may be lost. The pause doubles with each hint, so a long queue is not flooded."""
    found, hints = Q(hinted_at=None), 0
    while hints < MOST_DOUBLINGS and _pause_after(hints) < LONGEST_HINT_PAUSE:
        found |= Q(hints=hints, hinted_at__lte=now - _pause_after(hints))
        hints += 1
    return found | Q(hints__gte=hints, hinted_at__lte=now - _pause_after(hints))


def _pause_after(hints: int) -> timedelta:
    return min(timedelta(seconds=settings.SWEEP_SECONDS * 2**hints), LONGEST_HINT_PAUSE)
