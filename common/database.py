"""Queries that every page asks, written as SQL once a process: only the values change.

To put such a query together takes Django one to three milliseconds, ten times what the database
then needs for the answer; a leaderboard asked seven of them. They stay querysets in the code.

``read_snapshot`` reads much from a database that others write to: everything as it was in one
moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection, transaction
from django.db.models import Expression, Model, QuerySet
from django.db.models.query import get_related_populators

Row = TypeVar("Row", bound=Model)


class Given(Expression):
    """The place of a value that comes with each question: ``filter(slug=Given("slug"))``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, _compiler: Any, _connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


@dataclass(frozen=True, slots=True)
class _Written(Generic[Row]):
    """A query as SQL, and how a row of its answer becomes an instance."""

    model: type[Row]
    sql: str
    places: tuple[Any, ...]
    columns: slice
    """Those of the model; ``fields`` names them."""
    fields: tuple[str, ...]
    annotations: dict[str, int]
    converters: dict[int, tuple[list[Any], Any]]
    populators: tuple[Any, ...]
    """Of the rows that ``select_related`` joins."""

    def instance(self, row: tuple[Any, ...]) -> Row:
        values = list(row)
        for place, (converters, expression) in self.converters.items():
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        made = self.model.from_db(connection.alias, self.fields, values[self.columns])
        for populator in self.populators:
            populator.populate(values, made)
        for name, place in self.annotations.items():
            setattr(made, name, values[place])
        return made


class CompiledQuery(Generic[Row]):
    """``make`` gives the queryset with ``Given`` in the places of values. Columns that it defers or
    annotates are deferred and annotated here, too, and ``select_related`` is followed;
    ``prefetch_related`` is not. Values are those of the columns: the key of a row, not the row."""

    def __init__(self, make: Callable[[], QuerySet[Row]]) -> None:
        self._make = make
        self._written: _Written[Row] | None = None

    def rows(self, **values: Any) -> list[Row]:
        written = self._as_sql()
        return [written.instance(row) for row in self._answer(written, values)]

    def tuples(self, **values: Any) -> list[tuple[Any, ...]]:
        """Of a queryset of ``values_list``: what the database says. For numbers and texts: no field
        turns JSON or a date into what Python calls so."""
        return self._answer(self._as_sql(), values)

    def first(self, **values: Any) -> Row | None:
        """The queryset is to ask for one row at most."""
        return next(iter(self.rows(**values)), None)

    def _as_sql(self) -> _Written[Row]:
        if self._written is None:
            queryset = self._make()
            compiler = queryset.query.get_compiler(connection.alias)
            sql, places = compiler.as_sql()
            selected = [column for column, *_ in compiler.select]
            info = compiler.klass_info or {}
            own = info.get("select_fields", [])
            self._written = _Written(
                queryset.model,
                sql,
                places,
                slice(own[0], own[-1] + 1) if own else slice(0),
                tuple(selected[place].target.attname for place in own),
                compiler.annotation_col_map or {},
                compiler.get_converters(selected),
                tuple(get_related_populators(info, compiler.select, connection.alias)),
            )
        return self._written

    def _answer(self, written: _Written[Row], values: dict[str, Any]) -> list[tuple[Any, ...]]:
        adapt = connection.ops.adapt_unknown_value
        given = [
            adapt(values[one.name]) if isinstance(one, Given) else one for one in written.places
        ]
        with connection.cursor() as cursor:
            cursor.execute(written.sql, given)
            return cursor.fetchall()


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
