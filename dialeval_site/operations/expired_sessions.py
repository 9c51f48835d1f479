"""Session expiry: sessions that have run out are removed. They open nothing any more, but each that
nobody ended by logging out is a row.
"""

from __future__ import annotations

from django.contrib.sessions.models import Session

from common import clock

BATCH = 500
"""Rows of one statement: SQLite has one writer, who is not to be waited for."""


def remove() -> int:
    """Takes them away, the oldest first; two workers at it do no harm. How many."""
    expired, removed = Session.objects.filter(expire_date__lt=clock.now()), 0
    while keys := list(expired.order_by("expire_date").values_list("pk", flat=True)[:BATCH]):
        # One that was renewed meanwhile is no longer among them
        removed += expired.filter(pk__in=keys).delete()[0]
    return removed
