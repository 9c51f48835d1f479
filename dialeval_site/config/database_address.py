"""Django's settings of the database, read from one address:
``postgres://user:password@host:port/name``."""

from __future__ import annotations

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

NAME = "DATABASE_URL"
ENGINES = {
    "django.db.backends.sqlite3": "django.db.backends.sqlite3",
    # whose pool hands out no dead connection
    "django.db.backends.postgresql": "dialeval_site.config.postgresql",
}


def database_at(address: str) -> dict[str, Any]:
    """The entry of ``DATABASES``. Errors never repeat the address: it holds a password, and where
    that has a ``#`` or a ``/`` in it, part of the password is read as a port, which is what is
    mostly wrong."""
    scheme, is_address, _rest = address.partition("://")
    try:
        database = dict(dj_database_url.parse(address)) if is_address else {}
    except ValueError:
        database = {}
    if not database:
        raise ImproperlyConfigured(
            f"{NAME} must be an address such as postgres://user:password@host/name or "
            "sqlite:///path; in a password # is written as %23, and the like"
        )
    if database["ENGINE"] not in ENGINES:
        raise ImproperlyConfigured(
            f"{NAME} must begin with postgres:// or sqlite:///, not {scheme}://"
        )
    return {**database, "ENGINE": ENGINES[database["ENGINE"]]}
