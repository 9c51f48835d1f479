"""Which tables a backup holds, and how values are written in it so that SQLite and PostgreSQL read
the same.

A value is what JSON has: a number, a text, null. Points in time are ``2026-11-21 20:00:00.000001``
as in SQLite, in UTC; truth is 0 or 1; amounts of money and JSON are texts. Both databases load
these as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Field, Model

LEFT_OUT = (
    "django_session",
    "annotations_siteidentity",
    "annotations_attemptcount",
    "workers_scorechunk",
)
"""Log-ins: whoever is logged in logs in again. They are worth nothing under another SECRET_KEY, and
much to a thief. A site's identity: what is restored elsewhere is another site. Counts of attempts:
they are of the last hour. Chunks of scores: triggers make them of the runs that are restored."""
MADE_BY_MIGRATIONS = (
    "annotations_siteidentity",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
)
"""Tables in which a database that nobody has used yet has rows."""
_AS_IT_IS = {
    "AutoField", "BigAutoField", "SmallAutoField", "BigIntegerField", "IntegerField",
    "SmallIntegerField", "PositiveBigIntegerField", "PositiveIntegerField",
    "PositiveSmallIntegerField", "FloatField", "CharField", "TextField", "SlugField", "URLField",
    "EmailField", "FileField", "FilePathField",
}  # fmt: skip


class Unportable(Exception):
    """A column of a kind that no backup can hold yet: whoever adds such a field adds it here."""


def tables(registry: Any = apps) -> list[type[Model]]:
    """The models whose rows a backup holds, by table. ``registry``: of the models as they are, or
    were."""
    return sorted(
        (model for model in _all(registry) if model._meta.db_table not in LEFT_OUT),
        key=lambda model: model._meta.db_table,
    )


def all_tables(registry: Any = apps) -> list[str]:
    """Those that a backup leaves out, too."""
    return sorted(model._meta.db_table for model in _all(registry))


def _all(registry: Any) -> Iterable[type[Model]]:
    models = registry.get_models(include_auto_created=True)
    return (model for model in models if model._meta.managed and not model._meta.proxy)


def columns(model: type[Model]) -> list[str]:
    return [field.column for field in model._meta.local_concrete_fields]


def selection(model: type[Model]) -> str:
    """The statement that reads a table's rows in the order of their keys, as a backup writes
    them."""
    quote = connection.ops.quote_name
    chosen = ", ".join(_read(field) for field in model._meta.local_concrete_fields)
    key = quote(model._meta.pk.column)
    # Names of models.
    return f"SELECT {chosen} FROM {quote(model._meta.db_table)} ORDER BY {key}"  # noqa: S608


def _read(field: Field[Any, Any]) -> str:
    name, kind = connection.ops.quote_name(field.column), kind_of(field)
    on_sqlite = connection.vendor == "sqlite"
    if kind in _AS_IT_IS:
        return name
    if kind in ("BooleanField", "NullBooleanField"):
        # A plus keeps the driver from making objects of it
        return f"+{name}" if on_sqlite else f"{name}::int"
    if kind in ("DateTimeField", "DateField", "TimeField"):
        if on_sqlite:
            return f"+{name}"
        if kind == "DateTimeField":
            return (
                f"replace(to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), "
                "'.000000', '')"
            )
        return f"{name}::text"
    if kind == "DecimalField":
        if on_sqlite:
            return (
                f"CASE WHEN {name} IS NULL THEN NULL ELSE printf('%.{field.decimal_places}f', "
                f"{name}) END"
            )  # type: ignore[attr-defined]
        return f"{name}::text"
    if kind == "JSONField":
        return name if on_sqlite else f"{name}::text"
    if kind == "GenericIPAddressField":
        return name if on_sqlite else f"host({name})"
    raise Unportable(
        f"{field.model._meta.label}.{field.name} is a {kind}: no backup can hold it yet"
    )


def kind_of(field: Field[Any, Any]) -> str:
    """Of a key to another row, that row's key's."""
    if field.is_relation:
        return kind_of(field.target_field)  # type: ignore[attr-defined]
    return field.get_internal_type()
