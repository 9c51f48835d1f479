"""Reading much from a database that others write to: everything as it was in one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def read_snapshot() -> Iterator[None]:
    """Everything that is read is of one moment; nobody who writes waits. Nothing can be written
    inside.

    In a caller's own transaction (a test's) it is that transaction's moment.
    """
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    connection.ensure_connection()
    if connection.connection.in_transaction:  # another's moment
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
        cursor.execute("BEGIN DEFERRED")  # Django's own BEGIN would take the lock that writers need
        try:
            yield
        finally:
            if connection.connection.in_transaction:
                cursor.execute("ROLLBACK")
            cursor.execute("PRAGMA query_only = OFF")
