"""A database that takes no writes just now: a standby, a read-only transaction or file, a full
disk; or that is away.

Pages show what is stored. What they only note by the way (``optional_write``) is left out; a form
is answered by 503 (``dialeval_site.operations.error_pages``).
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

log = logging.getLogger(__name__)

_SQLSTATES = {"25006", "53100"}
"""PostgreSQL: read_only_sql_transaction, disk_full."""
_SQLITE_CODES = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL}
_REMEMBERED_SECONDS = 30
_refused_at: float | None = None


def refuses_writes(problem: BaseException | None) -> bool:
    """Whether this error says that the database takes no writes; then that is remembered."""
    global _refused_at
    cause = getattr(problem, "__cause__", None)
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
    is_refusal = isinstance(problem, DatabaseError) and (
        getattr(cause, "sqlstate", None) in _SQLSTATES or code in _SQLITE_CODES
    )
    if is_refusal:
        _refused_at = time.monotonic()
    return is_refusal


def is_away(problem: BaseException | None) -> bool:
    """Whether this error says that PostgreSQL cannot be reached: it is shut down, starts, or ended
    the connection."""
    cause = getattr(problem, "__cause__", None)
    if (
        not isinstance(problem, (OperationalError, InterfaceError))
        or connection.vendor != "postgresql"
    ):
        return False
    sqlstate = getattr(cause, "sqlstate", None) or ""  # none where there was no server to give one
    return not sqlstate or sqlstate.startswith(("08", "57P"))


def is_busy(problem: BaseException) -> bool:
    """Whether SQLite's one writer was at work for too long."""
    return getattr(problem.__cause__, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def was_refused_lately() -> bool:
    """Whether this process was refused a write a moment ago, and none was taken since."""
    return _refused_at is not None and time.monotonic() - _refused_at < _REMEMBERED_SECONDS


def takes_writes() -> None:
    """To be called after a write that was taken."""
    global _refused_at
    _refused_at = None


@contextmanager
def optional_write(what: str) -> Iterator[None]:
    """Around a write that a page can do without. Where the database takes no writes, or has another
    error that may be gone in a moment, what stands inside is undone, and the caller goes on.

    In a caller's own transaction it is a savepoint: PostgreSQL ends a transaction in which a
    statement failed.
    """
    is_own = not connection.in_atomic_block
    try:
        with transaction.atomic():
            yield
    except DatabaseError as problem:
        is_passing = is_own and isinstance(problem, OperationalError)
        if not (refuses_writes(problem) or is_passing):
            raise
        log.warning("%s is left out (%s)", what, problem)
    else:
        takes_writes()
