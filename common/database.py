"""Queries that every page asks, written as SQL once a process: only the values change.

To put such a query together takes Django one to three milliseconds, ten times what the database
then needs for the answer; a leaderboard asked seven of them. They stay querysets in the code, and
go through ``Manager.raw``.

``read_snapshot`` reads much from a database that others write to: everything as it was in one
moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from django.db import connection, transaction
from django.db.models import Expression, Model, QuerySet

Row = TypeVar("Row", bound=Model)


class Given(Expression):
    """The place of a value that comes with each question: ``filter(slug=Given("slug"))``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, _compiler: Any, _connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


class CompiledQuery(Generic[Row]):
    """``make`` gives the queryset with ``Given`` in the places of values. Columns that it defers or
    annotates are deferred and annotated here, too; ``select_related`` and ``prefetch_related`` are
    not followed. Values are those of the columns: the key of a row, not the row."""

    def __init__(self, make: Callable[[], QuerySet[Row]]) -> None:
        self._make = make
        self._written: tuple[type[Row], str, tuple[Any, ...]] | None = None

    def rows(self, **values: Any) -> list[Row]:
        model, sql, places = self._as_sql()
        return list(model._base_manager.raw(sql, _filled(places, values)))

    def tuples(self, **values: Any) -> list[tuple[Any, ...]]:
        """Of a queryset of ``values_list``: what the database says, a tenth of the time of rows.
        For numbers and texts: no field turns JSON or a date into what Python calls so."""
        _, sql, places = self._as_sql()
        with connection.cursor() as cursor:
            cursor.execute(sql, _filled(places, values))
            return cursor.fetchall()

    def first(self, **values: Any) -> Row | None:
        """The queryset is to ask for one row at most."""
        return next(iter(self.rows(**values)), None)

    def _as_sql(self) -> tuple[type[Row], str, tuple[Any, ...]]:
        if self._written is None:
            queryset = self._make()
            self._written = (queryset.model, *queryset.query.sql_with_params())
        return self._written


def _filled(places: tuple[Any, ...], values: dict[str, Any]) -> list[Any]:
    return [values[one.name] if isinstance(one, Given) else one for one in places]


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
