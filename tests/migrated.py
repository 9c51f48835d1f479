"""An empty database as ``migrate`` makes it, made once and copied for each test process and each
test's own site: to run all migrations takes ten seconds of a processor.

Migrations run whenever a line of the site has changed: the copy is known by what the site's files
hold. On SQLite it is kept from one run to the next, on PostgreSQL as long as the server, which is a
test run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from sysconfig import get_path
from tempfile import TemporaryDirectory
from typing import Any

from tests.own_home import HOME

PROJECT = Path(__file__).resolve().parent.parent
PRESERVED_PARAMS = PROJECT / ".pytest_cache" / "migrated"
FILE, NAME = "dialeval.sqlite3", "migrated"


@cache
def migrated_file() -> Path:
    """Of SQLite: this process's own copy, for another run may replace the one that is kept."""
    own = HOME / "migrated.sqlite3"
    with _alone():
        kept = PRESERVED_PARAMS / f"{_what_the_site_holds()}.sqlite3"
        if not kept.exists():
            for older in PRESERVED_PARAMS.glob("*.sqlite3"):
                older.unlink()
            with TemporaryDirectory(dir=PRESERVED_PARAMS) as folder:
                made = Path(folder) / FILE
                _migrate(made.parent, "")
                with closing(sqlite3.connect(made)) as connection:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it in one file
                made.rename(kept)
        shutil.copy(kept, own)
    return own


def migrated_database() -> str:
    """Of PostgreSQL: the name of the database. Who comes second waits until the first has made
    it."""
    with _connection() as connection:
        connection.execute("SELECT pg_advisory_lock(1)")  # until this connection ends
        if not connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [NAME]
        ).fetchone():
            begun = f"begun_{uuid.uuid4().hex[:12]}"
            with TemporaryDirectory() as folder:
                _migrate(Path(folder), fresh_database("template1", begun))
            connection.execute(f"ALTER DATABASE {begun} RENAME TO {NAME}")
    return NAME


def fresh_database(template: str, name: str = "") -> str:
    """The address of a new database on the server of the tests."""
    name = name or f"site_{uuid.uuid4().hex[:12]}"
    with _connection() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return os.environ["DATABASE_URL"].replace("/postgres?", f"/{name}?")


def _connection() -> Any:
    import psycopg

    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


def _migrate(folder: Path, url: str) -> None:
    from tests.site import Site

    Site(folder, {"DATABASE_URL": url, "CELERY_BROKER_URL": ""}).manage(
        "migrate", "--verbosity", "0"
    )


@contextmanager
def _alone() -> Iterator[None]:
    """Processes of a run ask at once; one makes it."""
    PRESERVED_PARAMS.mkdir(parents=True, exist_ok=True)
    with (PRESERVED_PARAMS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _what_the_site_holds() -> str:
    """Of every file of ours that ``migrate`` could read, and every package's version: rather once
    too often."""
    found = hashlib.sha256(sys.version.encode())
    found.update(
        " ".join(sorted(one.name for one in Path(get_path("purelib")).glob("*.dist-info"))).encode()
    )
    for package in ("annotations", "common", "dialeval_site", "leaderboard", "workers"):
        for file in sorted((PROJECT / package).rglob("*.py")):
            found.update(f"{file.relative_to(PROJECT)} {file.stat().st_size}\n".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:32]
