"""One clock for all machines of a site: the database's.

Leases, hints and sweeps compare times that different processes wrote. A machine whose clock is a
day ahead would take every row from its worker; on PostgreSQL its clock counts for nothing here. A
site on SQLite is one machine, which has one clock.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.utils import timezone

_READ_EVERY_SECONDS = 30.0
_last_reading: tuple[datetime, float] | None = None
"""What the database's clock said, and this process's monotonic one at that moment."""


def now() -> datetime:
    global _last_reading
    if connection.vendor != "postgresql":
        return timezone.now()
    known = _last_reading
    if known is None or time.monotonic() - known[1] > _READ_EVERY_SECONDS:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT clock_timestamp()")
                known = _last_reading = (cursor.fetchone()[0], time.monotonic())
        except DatabaseError:  # whoever wants to read or write there hears it soon enough
            if known is None:
                return timezone.now()
    return known[0] + timedelta(seconds=time.monotonic() - known[1])


def seconds() -> float:
    """Since 1970."""
    return now().timestamp()
