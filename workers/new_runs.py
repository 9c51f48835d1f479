"""Rows of runs that wait, one statement for each configuration however many systems there are."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from annotations.models import System
from workers.metrics.configuration import Configuration
from workers.models import MetricRun


def add_missing(configuration: Configuration, systems: Sequence[System]) -> None:
    """A waiting run for each system that has none of this configuration in its metric's present
    version, in the systems' order.

    The runs differ in their system alone, so the database copies one. With a model object for each
    of 500, somebody who asks for a metric waited twice as long.
    """
    if not systems:
        return
    similar = MetricRun(
        metric=configuration.metric.name,
        metric_version=configuration.metric.version,
        configuration=configuration.text,
        queue=configuration.metric.queue,
    )
    fields = [
        field
        for field in MetricRun._meta.concrete_fields
        if not field.primary_key and field.name != "system"
    ]
    values = [field.get_db_prep_save(field.pre_save(similar, True), connection) for field in fields]
    chosen = System.objects.filter(pk__in=[system.pk for system in systems]).values_list(
        "pk", "position"
    )
    which, which_values = chosen.order_by().query.sql_with_params()
    quote = connection.ops.quote_name
    names = ", ".join(quote(field.column) for field in fields)
    statement = (
        # Our own names.
        f"INSERT INTO {quote(MetricRun._meta.db_table)} (system_id, {names}) "  # noqa: S608
        f"SELECT chosen.pk, {', '.join(['%s'] * len(fields))} FROM ({which}) AS chosen "
        # SQLite reads ON as part of a join without a WHERE
        "WHERE TRUE ORDER BY chosen.position, chosen.pk "
        "ON CONFLICT DO NOTHING"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *which_values])
