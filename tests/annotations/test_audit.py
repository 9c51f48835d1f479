"""The audit log: entries are added with the deed and never changed; organisers read and export them."""

from __future__ import annotations

import importlib

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction

from annotations import audit
from annotations.models import AuditEntry

migration = importlib.import_module("annotations.migrations.0004_audit_is_append_only")
pytestmark = pytest.mark.django_db


@pytest.fixture
def entry() -> AuditEntry:
    user = get_user_model().objects.create_user("ann")
    audit.record(user, "round.changed", "round 1", challenge="cpdc", limit=5)
    return AuditEntry.objects.get()


def test_an_entry_says_who_did_what_to_what(entry):
    assert (entry.actor, entry.action, entry.subject, entry.challenge) == ("ann", "round.changed", "round 1", "cpdc")
    assert entry.details == {"limit": 5}


def test_the_name_outlives_the_user(entry):
    get_user_model().objects.all().delete()
    assert AuditEntry.objects.get().actor == "ann"


def test_an_entry_of_a_worker_names_nobody():
    audit.record(None, "submission.swept", "s1")
    assert (AuditEntry.objects.get().actor_id, AuditEntry.objects.get().actor) == (None, "")


def test_a_deed_that_is_rolled_back_leaves_no_entry():
    with pytest.raises(ZeroDivisionError):
        _recorded_and_undone()
    assert not AuditEntry.objects.exists()


def _recorded_and_undone():
    with transaction.atomic():
        audit.record(None, "round.changed", "round 1")
        raise ZeroDivisionError


def test_the_database_refuses_a_change(entry):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.filter(pk=entry.pk).update(actor="bob")
    entry.subject = "round 2"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.save()
    entry.refresh_from_db()
    assert (entry.actor, entry.subject) == ("ann", "round 1")


def test_the_database_refuses_to_delete(entry):
    if connection.vendor == "sqlite":  # tests/conftest.py dropped it, so that tables can be emptied
        put_back("audit_entry_is_kept")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.all().delete()
    assert AuditEntry.objects.count() == 1


def test_sqlite_refuses_to_replace(entry):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no INSERT OR REPLACE")
    columns = "id, at, actor, action, subject, challenge, campaign, details"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT OR REPLACE INTO annotations_auditentry ({columns}) "
            "VALUES (%s, '2026-01-01', 'bob', 'round.changed', 'round 1', '', '', '{}')",
            [entry.pk],
        )


def put_back(trigger: str) -> None:
    statement = next(one for one in migration.SQLITE if trigger in one)
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("%s", migration.REFUSAL))
