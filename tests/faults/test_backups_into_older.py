"""Restores into the database of an older dialeval: one that is refused, or fails, leaves its tables
as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ON_SERVICES, made_site
from tests.faults.test_backups import rewritten
from tests.migrated import fresh_database
from tests.site import Site

pytestmark = pytest.mark.slow

NEW_USER = """
from django.contrib.auth.models import Group, User
User.objects.create(username={name!r}).groups.add(Group.objects.get_or_create(name="raters")[0])
"""
OLD_LINE = """
from django.db import connection
from django.db.migrations.loader import MigrationLoader
state = MigrationLoader(connection).project_state(("annotations", "0003_submissions_and_audit"))
state.apps.get_model("annotations", "AuditEntry").objects.create(actor="old", action="x.y", subject="s", details={})
"""
DATABASE = """
import json
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.contrib.auth.models import User
recorder = MigrationRecorder(connection)
tables = {}
with connection.cursor() as cursor:
    for table in connection.introspection.table_names(cursor):
        columns = connection.introspection.get_table_description(cursor, table)
        tables[table] = sorted(column.name for column in columns)
users = sorted(User.objects.values_list("username", flat=True)) if "auth_user" in tables else []
print(json.dumps({"migrations": sorted(recorder.applied_migrations()), "tables": tables, "users": users}))
"""
LINES = (
    "from annotations.models import AuditEntry; print(*AuditEntry.objects.values_list('actor', "
    "'action'))"
)
FORGET = "from annotations.models import AuditEntry; AuditEntry.objects.all().delete()"


def database(site: Site) -> dict[str, Any]:
    return json.loads(site.python(DATABASE))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with made_site(tmp_path_factory.mktemp("filled")) as site:
        site.python(NEW_USER.format(name="ada"))
        yield site


@pytest.fixture(scope="module")
def backed_up(filled: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "site.backup"
    filled.manage("backup", "--to", path)
    return path


@pytest.fixture
def broken(backed_up: Path, tmp_path: Path) -> Path:
    """Somebody is in a group whom the database does not know."""
    return rewritten(
        backed_up, tmp_path / "broken", lambda table, rows: [] if table == "auth_user" else rows
    )


def unmigrated(home: Path) -> Site:
    home.mkdir()
    url = fresh_database("template1") if ON_SERVICES else ""
    return Site(home, {"DATABASE_URL": url, "CELERY_BROKER_URL": ""})


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As before the audit log had its triggers; with a user and a line of that log. One for the
    tests that find it as it was, and the last one, which replaces it."""
    site = unmigrated(tmp_path_factory.mktemp("older") / "site")
    site.manage("migrate", "annotations", "0003")
    site.python(NEW_USER.format(name="mine") + OLD_LINE)
    yield site
    site.stop()


def test_an_older_database_that_is_in_use_is_refused_as_it_was(
    older: Site, backed_up: Path
) -> None:
    before = database(older)
    refused = older.manage("restore", backed_up, check=False)
    assert refused.returncode == 1
    assert (
        "the database is not empty (annotations_auditentry, auth_user, auth_user_" in refused.stderr
    )
    assert database(older) == before


def test_an_older_database_whose_rows_are_not_replaced_after_all_has_its_tables_as_they_were(
    older: Site, broken: Path
) -> None:
    before = database(older)
    refused = older.manage("restore", broken, "--replace", check=False)
    assert refused.returncode == 1
    assert "the database does not take these rows" in refused.stderr
    assert database(older) == before


def test_an_older_database_is_migrated_and_replaced(
    filled: Site, older: Site, backed_up: Path
) -> None:
    older.manage("restore", backed_up, "--replace")
    assert database(older) == database(filled)
    assert older.python(LINES) == "('', 'site.restored')"
    assert (
        "append-only" in older.manage("shell", "--verbosity", "0", "-c", FORGET, check=False).stderr
    )


@pytest.mark.long
def test_an_empty_database_that_takes_no_rows_stays_empty(broken: Path, tmp_path: Path) -> None:
    site = unmigrated(tmp_path / "site")
    refused = site.manage("restore", broken, check=False)
    assert refused.returncode == 1
    assert database(site) == {"migrations": [], "tables": {}, "users": []}
