"""Lease expiry: how long a worker may be silent about a row that it has claimed."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

LONGEST_LEASE = timedelta(hours=1)


def lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def has_ended(now: datetime) -> Q:
    """Of rows that a worker has. A lease longer than any that is given was written before a clock
    was set back: it would keep the row of a dead worker for as long."""
    longest = max(LONGEST_LEASE, timedelta(seconds=2 * settings.LEASE_SECONDS))
    return Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=now + longest)
