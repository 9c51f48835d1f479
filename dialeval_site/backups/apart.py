"""A backup and a restore keep apart: whoever comes second waits for the first. Backups do not wait for one another.

A lock of the machine is for its folders and for SQLite; a lock of PostgreSQL's tables for what other machines do.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from dialeval_site.backups import portable


@contextmanager
def nobody_restores() -> Iterator[None]:
    """On this machine, for as long as a backup is written."""
    with _locked(fcntl.LOCK_SH):
        yield


@contextmanager
def nobody_backs_up() -> Iterator[None]:
    """On this machine, for as long as a restore takes."""
    with _locked(fcntl.LOCK_EX):
        yield


def wait_for_a_restore() -> None:
    """First in the transaction that reads, and of any machine. Whoever reads a table that is emptied after its moment
    began finds it empty on PostgreSQL (TRUNCATE); this statement is one of those before which no moment begins, and the
    tables stand in the order in which a restore empties them."""
    if connection.vendor != "postgresql":
        return
    names = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in portable.tables())
    with connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {names} IN ACCESS SHARE MODE")


@contextmanager
def _locked(how: int) -> Iterator[None]:
    """By a file that somebody else, such as root, may have made: to lock it one has to read it, no more."""
    lock = os.open(settings.HOME / "backup.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, how)
        yield
    finally:
        os.close(lock)
