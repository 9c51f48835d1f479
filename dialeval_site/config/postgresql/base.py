"""Django's PostgreSQL, whose pool hands out living connections alone.

After PostgreSQL was started again every connection of the pool is dead. Django's own check
(``CONN_HEALTH_CHECKS``) finds them one at a time, and the pool waits one, two, four seconds
between: with four of them, or more, a request gave up after ten seconds. Where one is dead the
others are about to be found so: all are made anew, without a wait.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if self.pool and _is_dead(connection):
            self.pool.drain()
            self.pool.putconn(connection)
            # A second dead one would say that PostgreSQL goes down just now: the first query says
            # so best.
            connection = super().get_new_connection(conn_params)
        return connection


def _is_dead(connection: Any) -> bool:
    try:
        ConnectionPool.check_connection(connection)
    except OperationalError:
        return True
    return False
