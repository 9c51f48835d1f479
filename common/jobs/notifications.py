"""Job notifications: telling workers of rows that wait, when the row is committed, and again, ever
more rarely, until one takes it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Q
from kombu.exceptions import ChannelError, KombuError

from common.circuit_breaker import CircuitBreaker

log = logging.getLogger(__name__)

MAX_NOTIFICATIONS = 500
MAX_NOTIFY_PAUSE = timedelta(minutes=10)
MOST_DOUBLINGS = 16


AT_ONCE, WHEN_NOTHING_ELSE_WAITS = 0, 6
"""Two of Redis's four steps. The folder broker of one machine keeps the order in which hints
came."""


_breaker = CircuitBreaker(seconds=10)


def notify_workers(
    task: str, rows: Iterable[tuple[int, str]], priority: int = AT_ONCE
) -> list[int]:
    """Send a hint for each row (pk, queue) and return those told of. A broker that cannot be
    reached is no error, and for some seconds it is not asked again: the sweeper tells the workers
    later."""
    sent: list[int] = []
    waiting = list(rows)
    if not waiting or not _breaker.allows():
        return sent
    try:
        with current_app.producer_pool.acquire(block=True) as producer:
            for pk, queue in waiting:
                current_app.send_task(
                    task, args=[pk], queue=queue, priority=priority, producer=producer, retry=False
                )
                sent.append(pk)
    except (KombuError, ChannelError, OSError) as problem:
        _breaker.failed()
        log.warning("the broker cannot be reached (%s); the sweeper tells workers later", problem)
    else:
        _breaker.succeeded()
    return sent


def send_once(task: str, *args: str) -> bool:
    """Send workers of the queue cpu a task that no row stands for. False where the broker cannot be
    reached: then nobody sends it later."""
    if not _breaker.allows():
        return False
    try:
        current_app.send_task(task, args=list(args), queue="cpu", retry=False)
    except (KombuError, ChannelError, OSError) as problem:
        _breaker.failed()
        log.warning("%s is not sent: the broker cannot be reached (%s)", task, problem)
        return False
    _breaker.succeeded()
    return True


def due(now: datetime) -> Q:
    """Rows whose last hint may be lost. The pause doubles with each hint, so a long queue is not
    flooded. One of the future was noted before a clock was set back."""
    found, notifications = Q(hinted_at=None) | Q(hinted_at__gt=now + MAX_NOTIFY_PAUSE), 0
    while notifications < MOST_DOUBLINGS and _pause_after(notifications) < MAX_NOTIFY_PAUSE:
        found |= Q(hints=notifications, hinted_at__lte=now - _pause_after(notifications))
        notifications += 1
    return found | Q(hints__gte=notifications, hinted_at__lte=now - _pause_after(notifications))


def _pause_after(notifications: int) -> timedelta:
    return min(timedelta(seconds=settings.MAINTENANCE_SECONDS * 2**notifications), MAX_NOTIFY_PAUSE)
