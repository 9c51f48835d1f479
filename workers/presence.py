"""When a worker of each queue was last seen: so that whoever watches over a site learns that one is
missing.

A worker is seen when it does a sweep, and while it keeps the lease of a run: one that is busy for
an hour with all its processes does no sweep.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Max

from common import clock
from workers.models import MetricRun, QueueSeen

QUEUES = ("cpu", "gpu", "llm")
NOTED_EVERY_SECONDS = 10
_noted_at: float | None = None


def note_own_queues() -> None:
    """Called by a worker's process; at most every ten seconds it writes anything down."""
    global _noted_at
    if _noted_at is not None and time.monotonic() - _noted_at < NOTED_EVERY_SECONDS:
        return
    _noted_at = time.monotonic()
    note(set(current_app.amqp.queues.consume_from))


def note(queues: Iterable[str]) -> None:
    now = clock.now()
    for queue in sorted(set(queues) & set(QUEUES)):
        QueueSeen.objects.update_or_create(queue=queue, defaults={"seen_at": now})


def last_seen() -> dict[str, datetime | None]:
    """By queue; None where no worker ever was."""
    reaped = dict(QueueSeen.objects.values_list("queue", "seen_at"))
    held = (
        MetricRun.objects.filter(state="running")
        .values("queue")
        .annotate(until=Max("lease_expires_at"))
    )
    renewed = {
        one["queue"]: one["until"] - timedelta(seconds=settings.LEASE_SECONDS)
        for one in held.order_by()
    }
    return {
        queue: max(filter(None, (reaped.get(queue), renewed.get(queue))), default=None)
        for queue in QUEUES
    }
