"""When a worker of each queue was last seen, so that whoever watches over a site learns that one is
missing; and whether people who rate wait for a worker: long work makes way for them.

A worker is seen when it does a sweep, and while it keeps the lease of a run: one that is busy for
an hour with all its processes does no sweep.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotations.campaigns.models import Message
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


LEFT_BEHIND = timedelta(minutes=5)
"""A chat that has waited for longer holds nobody up."""
LEAST_SECONDS, LOOK_SECONDS = 20.0, 2.0
"""Work that has had its 20 s makes way for a rater who has waited for 2 s."""


def raters_wait(seconds: float) -> bool:
    """Whether a chat has waited so long for an answer that no worker has begun."""
    return _waiting(seconds).exists()


def waiting_answers(seconds: float) -> list[int]:
    """The keys of the answers that were waited for so long, the oldest first."""
    return list(_waiting(seconds).order_by("created_at").values_list("pk", flat=True))


def _waiting(seconds: float) -> QuerySet[Message]:
    now = timezone.now()
    waiting = Message.objects.filter(speaker="B", state=Message.State.PENDING)
    return waiting.filter(
        created_at__lt=now - timedelta(seconds=seconds), created_at__gt=now - LEFT_BEHIND
    )
