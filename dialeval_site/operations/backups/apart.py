"""A backup and a restore keep apart: whoever comes second waits for the first, and says so when
that takes longer than a moment. Backups do not wait for one another.

A lock of the machine is for its folders and for SQLite; a lock of PostgreSQL's tables for what
other machines do.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer

from django.conf import settings
from django.db import connection

from dialeval_site.operations.backups import portable

PATIENCE_SECONDS = 1.0
Say = Callable[[str], None]
"""Hears, once for each that is waited for, whom that is. Called by another thread than the one that
waits."""


@contextmanager
def nobody_restores(say: Say) -> Iterator[None]:
    """On this machine, for as long as a backup is written."""
    with _locked(fcntl.LOCK_SH, say, "Waiting for a restore on this machine to end."):
        yield


@contextmanager
def nobody_backs_up(say: Say) -> Iterator[None]:
    """On this machine, for as long as a restore takes."""
    with _locked(
        fcntl.LOCK_EX, say, "Waiting for a backup, or another restore, on this machine to end."
    ):
        yield


def wait_for_a_restore(say: Say) -> None:
    """First in the transaction that reads, and of any machine. Whoever reads a table that is
    emptied after its moment began finds it empty on PostgreSQL (TRUNCATE); this statement is one of
    those before which no moment begins, and the tables stand in the order in which a restore
    empties them."""
    names = (model._meta.db_table for model in portable.tables())
    _lock_tables(
        names,
        "ACCESS SHARE",
        say,
        "Waiting for a restore or a migration by another machine to end.",
    )


def wait_for_everybody(say: Say) -> None:
    """Before tables are emptied, which waits for the same, and in the same order."""
    words = (
        "Waiting for who is reading or writing this database: a backup by another machine, or a "
        "process of the site that was not stopped."
    )
    _lock_tables(portable.all_tables(), "ACCESS EXCLUSIVE", say, words)


def _lock_tables(tables: Iterable[str], mode: str, say: Say, words: str) -> None:
    if connection.vendor != "postgresql":
        return
    names = ", ".join(map(connection.ops.quote_name, tables))
    with connection.cursor() as cursor, _timeout_message(say, words):
        cursor.execute(f"LOCK TABLE {names} IN {mode} MODE")


@contextmanager
def _locked(how: int, say: Say, words: str) -> Iterator[None]:
    """By a file that somebody else, such as root, may have made: to lock it one has to read it, no
    more."""
    lock = os.open(settings.HOME / "backup.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    try:
        with _timeout_message(say, words):
            fcntl.flock(lock, how)
        yield
    finally:
        os.close(lock)


@contextmanager
def _timeout_message(say: Say, words: str) -> Iterator[None]:
    """The words are said where what is done inside lasts longer than that."""
    timer = Timer(PATIENCE_SECONDS, say, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
