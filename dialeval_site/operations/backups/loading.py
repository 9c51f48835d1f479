"""What differs between SQLite and PostgreSQL where a backup's rows go into a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from dialeval_site.operations.backups import portable

Rows = Iterable[Sequence[Any]]


@contextmanager
def one_transaction() -> Iterator[None]:
    """All of it or nothing, migrations too. Keys to other rows are looked at in the end."""
    if connection.vendor == "postgresql":
        with transaction.atomic():
            yield
        return
    with connection.constraint_checks_disabled(), transaction.atomic():
        yield


@contextmanager
def without_triggers() -> Iterator[None]:
    """On SQLite, where every row that goes is asked about; TRUNCATE asks for none."""
    if connection.vendor == "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = dict(cursor.fetchall())
        for name in triggers:
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}")
        yield
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        there = {name for (name,) in cursor.fetchall()}  # those that a migration has just made
        for name, statement in triggers.items():
            if name not in there:
                cursor.execute(statement)
        # The rows that they make are made now
        cursor.execute("UPDATE workers_metricrun SET turn_scores = turn_scores")


def empty(tables: Iterable[str]) -> None:
    settle_keys()
    names = [connection.ops.quote_name(table) for table in tables]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {', '.join(names)}")
            return
        for name in names:
            cursor.execute(f"DELETE FROM {name}")  # noqa: S608  names of models


def rows_in(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608
        return cursor.fetchone() is not None


def insert(model: type[Model], rows: Rows) -> None:
    """Many at once, past the ORM: values are as ``portable`` describes them."""
    quote = connection.ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(map(quote, portable.columns(model)))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with (
                connection.wrap_database_errors,
                cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row(row)
            return
        places = ", ".join(["?"] * len(portable.columns(model)))
        # The driver's own cursor: Django's would read every value for its log of queries.
        own = cursor.connection.cursor()
        with connection.wrap_database_errors:
            own.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)  # noqa: S608


def check_keys() -> None:
    """Raises ``IntegrityError`` where a row names another that is not there."""
    if connection.vendor == "postgresql":
        settle_keys()
    else:
        connection.check_constraints()


def settle_keys(*_: object) -> None:
    """PostgreSQL changes no table on which keys are still to be looked at: they are looked at now.
    Also for what happens between two migrations of one transaction."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def give_next_id_after(model: type[Model], last: int) -> None:
    """The next key that the database gives is greater than every one that it ever gave."""
    field = model._meta.auto_field
    if field is None or last < 1:
        return
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # What ``setval`` does stays when the transaction fails: it must never lower a sequence
            # of rows that stay.
            cursor.execute(
                "SELECT setval(key, GREATEST(%s, COALESCE(pg_sequence_last_value(key), 1))) "
                "FROM CAST(pg_get_serial_sequence(%s, %s) AS regclass) AS key",
                [last, connection.ops.quote_name(table), field.column],
            )
            return
        cursor.execute(
            "UPDATE sqlite_sequence SET seq = %s WHERE name = %s AND seq < %s", [last, table, last]
        )
        cursor.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT %s, %s "
            "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = %s)",
            [table, last, table],
        )
