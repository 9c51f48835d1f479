"""Lease expiry: how long a worker may be silent about a row that it has claimed, and how it is kept
from being silent.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from celery import current_task
from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models import Q

from workers import presence

log = logging.getLogger(__name__)


def lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


LONGEST_LEASE = timedelta(hours=1)


def has_ended(now: datetime) -> Q:
    """Of rows that a worker has. A lease longer than any that is given was written before a clock
    was set back: it would keep the row of a dead worker for as long."""
    longest = max(LONGEST_LEASE, timedelta(seconds=2 * settings.LEASE_SECONDS))
    return Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=now + longest)


@contextmanager
def renewing_lease(renew_once: Callable[[], bool], what: str) -> Iterator[None]:
    """Renew the lease from a thread, so that work that is silent for long (a model loading) keeps
    its row.

    ``renew_once`` says whether the row is still ours; ``what`` names it in logs.
    """
    stop = threading.Event()
    is_worker = bool(current_task)  # and no command that computes in its own process

    def renew() -> None:
        while not stop.wait(settings.LEASE_SECONDS / 3):
            try:
                close_old_connections()
                if not renew_once():
                    return
                if is_worker:
                    # with all its processes at work for hours it does no sweep
                    presence.note_own_queues()
            except Exception:
                log.exception("the lease of %s could not be renewed, or its worker not noted", what)
        connection.close()

    # A caller's own transaction (tests, --inline): there is nobody to race with
    if connection.in_atomic_block:
        yield
        return
    thread = threading.Thread(target=renew, daemon=True, name=f"lease of {what}")
    thread.start()
    try:
        yield
    finally:
        stop.set()
